import type { ProcessReply } from '../../contract/exchange.ts';
import type { AnswerDetails } from '../../contract/hook.ts';
import { isObject, Json } from '../../json/json.ts';
import { type Body, malformed, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import { decodePrinted } from '../printed.ts';
import { isAmbiguous } from '../unknown-keys.ts';
import type { HookQuestion } from './hook-question.ts';
import type { EventRule } from './points.ts';

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

/** A JSON reply with what is needed to read its verdict. */
export interface ParsedReply {
  readonly output: ReplyObject;
  /** The block by exit code 2, if any; no JSON member overrides it. */
  readonly blocked: Blocked | undefined;
  /** How the reply violates its schema, if it does; then only a denial or an abort in it counts. */
  readonly fault: string | undefined;
  readonly beside: Pick<AnswerDetails, 'metadata' | 'context'>;
}

/** The context texts and metadata of a reply, and the notes on its system message. */
export function extrasOf(
  { rule }: HookQuestion,
  { body, specific }: ReplyObject,
): { readonly beside: Pick<AnswerDetails, 'metadata' | 'context'>; readonly notes: readonly Note[] } {
  const message = textAt(body, 'systemMessage');
  const terminalSequence = body.get('terminalSequence');
  const records = Object.keys(rule.records ?? {}).flatMap((key): [string, Json][] => {
    const value = specific?.get(key);
    return value === undefined ? [] : [[key, value]];
  });
  const recorded = {
    ...(message !== '' && { system_message: message }),
    ...(terminalSequence && { terminalSequence: terminalSequence }),
    ...Object.fromEntries(records),
  };
  const context = [
    rule.takesContext === true ? textAt(specific, 'additionalContext') : '',
    rule.takesSystemMessageAsContext === true ? message : '',
  ].filter((text) => text.trim() !== '');
  return {
    beside: { metadata: Json.from(recorded), context },
    notes: message === '' ? [] : [{ level: 'warn', message }],
  };
}

/** A block by exit code 2. */
export interface Blocked {
  readonly message: string;
  /** Whether stderr says that a file cannot be opened: the script may be missing. */
  readonly mentionsUnopenedFile: boolean;
}

/** The block of a process that exited with code 2: its message is stderr. */
export function readExit2({ stderr }: ProcessReply): Blocked {
  const text = stderr.trim();
  const mentionsUnopenedFile = /can(?:'t|not) open/i.test(text);
  return { message: mentionsUnopenedFile ? `${text} (a file cannot be opened)` : text, mentionsUnopenedFile };
}

/**
 * The warnings for exit code 2: stderr where it blocks nothing, and a hint where the script may be missing.
 */
export function noteExit2({ block }: EventRule, blocked: Blocked | undefined): readonly Note[] {
  if (blocked === undefined) return [];
  if (block === 'none') return blocked.message === '' ? [] : [{ level: 'warn', message: blocked.message }];
  return blocked.mentionsUnopenedFile ? [{ level: 'warn', message: missingScriptWarning }] : [];
}

const missingScriptWarning =
  'it exited with code 2, which blocks, and its stderr says that a file cannot be opened: an interpreter whose script is missing ends in the same way';

/** Whether an HTTP handler's answer counts. */
export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}
