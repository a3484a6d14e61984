import { isUtf8 } from 'node:buffer';
import { isObject, Json } from '../../json.ts';
import { type Body, malformed, toBody } from '../body.ts';

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
  /** From `{` to `}`, and yet no JSON. */
  | { readonly kind: 'bad_json' }
  | { readonly kind: 'object'; readonly output: Output };

/** Throws REPLY_MALFORMED when a member that may hold a verdict stands twice. */
export function parsePrinted(bytes: Uint8Array): Printed {
  const text = new TextDecoder().decode(bytes).trim();
  if (text === '') return { kind: 'nothing' };
  if (!text.startsWith('{')) return { kind: 'text', text };
  const json = new Json(text);
  try {
    void json.value;
  } catch {
    return text.endsWith('}') ? { kind: 'bad_json' } : { kind: 'text', text };
  }
  return { kind: 'object', output: toOutput(json, !isUtf8(bytes)) };
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

/** A member that two readers must not read differently. Throws REPLY_MALFORMED when it stands twice. */
export function only(body: Body, key: string): Json | undefined {
  if (body.members.filter((member) => member.key === key).length > 1) {
    throw malformed(`the answer says \`${key}\` more than once`);
  }
  return body.get(key);
}

/** The text of a member; '' when it is none. */
export function textAt(body: Body | undefined, key: string): string {
  const value = body?.get(key)?.value;
  return typeof value === 'string' ? value : '';
}
