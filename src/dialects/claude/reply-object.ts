import { toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { ProcessReply } from '../../contract/exchange.ts';
import { type Answer, type AnswerDetails, answers } from '../../contract/hook.ts';
import { type Body, decodePrinted, excerpt, isAmbiguous, malformed, objectAt, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isOfKind } from '../payload-table.ts';
import type { HookQuestion } from './hook-question.ts';
import type { EventRule, MemberKind, MemberKinds } from './points.ts';

/** The JSON object in a handler's reply. */
export interface ReplyObject {
  readonly body: Body;
  readonly specific: Body | undefined;
  readonly isGarbled: boolean;
}

type PrintedReply =
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

/** What violates the schema of a reply, as the end of a sentence; undefined when it conforms. */
export function findReplyFault(point: string, rule: EventRule, output: ReplyObject): string | undefined {
  const { body, specific, isGarbled } = output;
  if (isGarbled) return 'answered with bytes that are not UTF-8';
  return (
    findWrongType(body, universal) ??
    findUnknownDecision(rule, body) ??
    (body.get('hookSpecificOutput') === undefined ? undefined : findWrongSpecific(point, rule, specific))
  );
}

const universal: MemberKinds = {
  continue: 'flag',
  suppressOutput: 'flag',
  stopReason: 'text',
  reason: 'text',
  systemMessage: 'text',
  terminalSequence: 'text',
};

/** The fault of an unknown `decision` at an event where nothing can be denied any more. */
function findUnknownDecision({ block, takesDecision }: EventRule, body: Body): string | undefined {
  const given = block === 'beside' && takesDecision ? body.get('decision') : undefined;
  const isKnown = given === undefined || ['block', 'deny', 'approve'].some((word) => given.value === word);
  return isKnown ? undefined : 'answered with a `decision` that is no known verdict';
}

function findWrongSpecific(point: string, rule: EventRule, specific: Body | undefined): string | undefined {
  if (specific === undefined) return 'answered with a `hookSpecificOutput` that is no object';
  const name = specific.get('hookEventName')?.value;
  if (name !== point) return `answered with a \`hookSpecificOutput\` whose \`hookEventName\` is not ${point}`;
  return findWrongType(specific, {
    ...(rule.takesContext && ({ additionalContext: 'text' } as const)),
    ...(rule.verdict === 'permissionDecision' && ({ permissionDecisionReason: 'text' } as const)),
    ...(rule.verdict === 'action' && ({ content: 'object' } as const)),
    ...rule.replaces,
    ...rule.records,
  });
}

/** The first member whose value has another type. */
export function findWrongType(body: Body, kinds: MemberKinds): string | undefined {
  const wrong = Object.entries(kinds).find(([key, kind]) => {
    const member = body.get(key);
    return member !== undefined && !isOfKind(member, kind);
  });
  return wrong && `answered with a \`${wrong[0]}\` that is no ${kindWords[wrong[1]]}`;
}

const kindWords: Readonly<Record<MemberKind, string>> = {
  text: 'string',
  flag: 'boolean',
  object: 'object',
  names: 'list of strings',
  list: 'list',
  any: 'value',
};

/** A warning about a `permissionDecision` under a key or at an event where it has no effect. */
export function noteMisplacedDecision(
  { rule, question: { point } }: HookQuestion,
  { body, specific }: ReplyObject,
  { verdict }: Answer,
): readonly Note[] {
  if (rule.isObserveOnly || verdict === 'deny' || verdict === 'abort') return [];
  const isRead = rule.verdict === 'permissionDecision';
  const places: readonly (readonly [prefix: string, body: Body | undefined])[] = [
    ['', body],
    ['hook_specific_output.', objectAt(body, 'hook_specific_output')],
    ['hookSpecificOutput.', isRead ? undefined : specific],
  ];
  const misplaced = places.find(([, members]) => members?.get('permissionDecision') !== undefined);
  if (misplaced === undefined) return [];
  const message = `its \`${misplaced[0]}permissionDecision\` has no effect: ${rightKey(point, rule)}`;
  return [{ level: 'warn', message }];
}

function rightKey(point: string, { block, takesDecision, verdict }: EventRule): string {
  switch (verdict) {
    case 'permissionDecision':
      return `write \`{"hookSpecificOutput": {"hookEventName": "${point}", "permissionDecision": …}}\``;
    case 'decision':
      return `${point} reads \`hookSpecificOutput.decision.behavior\``;
    case 'action':
      return `${point} reads \`hookSpecificOutput.action\``;
    default:
      if (takesDecision) return `${point} reads \`{"decision": "block", "reason": …}\``;
      return block === 'none' ? `${point} blocks nothing` : `what blocks ${point} is exit code 2`;
  }
}

/** What a handler decided. */
export interface ReplyVerdict {
  readonly verdict: 'deny' | 'defer' | 'ask' | 'allow' | 'none';
  readonly reason: string;
  /** The reply has a word that the event does not know, and `reason` says so. */
  readonly isUnknown?: true;
}

const noVerdict: ReplyVerdict = { verdict: 'none', reason: '' };

/** Top-level `decision` with `reason`, where it counts. `deny` is read as block; what is unknown denies. */
export function verdictOfDecision({ takesDecision }: EventRule, { body }: ReplyObject): ReplyVerdict {
  const given = takesDecision ? uniqueMember(body, 'decision') : undefined;
  if (given === undefined) return noVerdict;
  const reason = textAt(body, 'reason');
  switch (given.value) {
    case 'block':
    case 'deny':
      return { verdict: 'deny', reason };
    case 'approve':
      return { verdict: 'allow', reason };
    case 'allow': {
      const { reason: unknown } = unknownVerdict('decision', given.text);
      return { verdict: 'deny', reason: `${unknown}; Claude Code would let it pass`, isUnknown: true };
    }
    default:
      return unknownVerdict('decision', given.text);
  }
}

/** `permissionDecision` with its reason; what is not among `words` denies. */
export function verdictOfPermission(specific: Body | undefined, words: readonly string[]): ReplyVerdict {
  const given = specific && uniqueMember(specific, 'permissionDecision');
  if (given === undefined) return noVerdict;
  const { value } = given;
  const reason = textAt(specific, 'permissionDecisionReason');
  if (value === 'allow' || value === 'deny' || value === 'ask' || value === 'defer') {
    if (words.includes(value)) return { verdict: value, reason };
  }
  return unknownVerdict('permissionDecision', given.text);
}

/** A denial whose reason names the unknown word. */
export function unknownVerdict(key: string, word: string): ReplyVerdict {
  return { verdict: 'deny', reason: `its \`${key}\` is no known verdict: ${excerpt(word)}`, isUnknown: true };
}

/** A denial; of a reply that has an unknown word, as the fault that it is. */
export function denyAs(
  { reason, isUnknown }: Pick<ReplyVerdict, 'reason' | 'isUnknown'>,
  beside: AnswerDetails,
): Answer {
  return answers.deny(reason, { ...beside, ...(isUnknown && { error: toFault(malformed(reason)) }) });
}

/** The newer form wins over the older one, unless the older one denies. */
export function joinVerdicts(newer: ReplyVerdict, older: ReplyVerdict): ReplyVerdict {
  if (newer.verdict === 'deny') return newer;
  if (older.verdict === 'deny') return older;
  return newer.verdict === 'none' ? older : newer;
}
