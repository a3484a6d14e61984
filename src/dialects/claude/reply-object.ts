import { isObject, Json } from '../../json/json.ts';
import { type Body, malformed, toBody } from '../body.ts';
import { decodePrinted } from '../printed.ts';
import { isAmbiguous } from '../unknown-keys.ts';

/** The JSON object in a handler's reply. */
export interface ReplyObject {
  readonly body: Body;
  /** `hookSpecificOutput`, when it is an object. */
  readonly specific: Body | undefined;
  /** Whether characters were lost in reading it. */
  readonly isGarbled: boolean;
}

/** The classified text of stdout or of the body of an HTTP response. */
export type PrintedReply =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** It begins as a JSON object and is none: cut off, followed by something else, or wrong within. */
  | { readonly kind: 'bad_json'; readonly text: string }
  | { readonly kind: 'object'; readonly output: ReplyObject };

/** Classifies the bytes. Throws REPLY_MALFORMED when `hookSpecificOutput` occurs twice. */
export function parsePrinted(bytes: Uint8Array): PrintedReply {
  const { text: printed, isGarbled } = decodePrinted(bytes);
  const text = printed.trim();
  if (text === '') return { kind: 'nothing' };
  // UTF-16 without a byte order mark is not decoded, but a leading brace is recognised.
  const beginsAsObject = text.startsWith('{') || text.startsWith('\0{');
  if (!beginsAsObject) return { kind: 'text', text };
  const json = new Json(text);
  try {
    void json.value;
  } catch {
    return { kind: 'bad_json', text };
  }
  return { kind: 'object', output: toReplyObject(json, isGarbled) };
}

function toReplyObject(json: Json, isGarbled: boolean): ReplyObject {
  const body = toBody(json);
  const given = uniqueMember(body, 'hookSpecificOutput');
  return {
    body,
    specific: given !== undefined && isObject(given.value) ? toBody(given) : undefined,
    isGarbled,
  };
}

/**
 * The member of that key. Throws REPLY_MALFORMED when the key occurs twice, ignoring letter case.
 */
export function uniqueMember(body: Body, key: string): Json | undefined {
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
