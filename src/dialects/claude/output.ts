import { isObject, Json } from '../../json/json.ts';
import { type Body, malformed, toBody } from '../body.ts';
import { isAmbiguous } from '../keys.ts';
import { decodePrinted } from '../printed.ts';

/** A JSON object that a handler answered. */
export interface Output {
  readonly body: Body;
  /** `hookSpecificOutput`, when it is an object. */
  readonly specific: Body | undefined;
  /** Whether characters were lost in reading it. */
  readonly isGarbled: boolean;
}

/** What stands on stdout, or in the body of an HTTP answer. */
export type Printed =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** It begins as a JSON object and is none: cut off, followed by something else, or wrong within. */
  | { readonly kind: 'bad_json'; readonly text: string }
  | { readonly kind: 'object'; readonly output: Output };

/** Throws REPLY_MALFORMED when a member that may hold a verdict stands twice. */
export function parsePrinted(bytes: Uint8Array): Printed {
  const { text: printed, isGarbled } = decodePrinted(bytes);
  const text = printed.trim();
  if (text === '') return { kind: 'nothing' };
  // UTF-16 without a mark is not read, but its first letter can be told.
  const beginsAsObject = text.startsWith('{') || text.startsWith('\0{');
  if (!beginsAsObject) return { kind: 'text', text };
  const json = new Json(text);
  try {
    void json.value;
  } catch {
    return { kind: 'bad_json', text };
  }
  return { kind: 'object', output: toOutput(json, isGarbled) };
}

function toOutput(json: Json, isGarbled: boolean): Output {
  const body = toBody(json);
  const given = only(body, 'hookSpecificOutput');
  return {
    body,
    specific: given !== undefined && isObject(given.value) ? toBody(given) : undefined,
    isGarbled,
  };
}

/**
 * A member that two readers must not read differently. Throws REPLY_MALFORMED when it stands twice, or beside one that
 * differs from it in letter case only.
 */
export function only(body: Body, key: string): Json | undefined {
  if (isAmbiguous(body, key)) {
    throw malformed(`the answer says \`${key}\` more than once`);
  }
  return body.get(key);
}

/** The text of a member; '' when it is none. */
export function textAt(body: Body | undefined, key: string): string {
  const value = body?.get(key)?.value;
  return typeof value === 'string' ? value : '';
}
