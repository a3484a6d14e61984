import { toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { ProcessReply } from '../../contract/exchange.ts';
import { type Answer, type AnswerDetails, answers } from '../../contract/hook.ts';
import { type Body, decodePrinted, excerpt, isAmbiguous, malformed, objectAt, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isOfKind } from '../payload-table.ts';
import type { HookQuestion } from './hook-question.ts';
import type { EventRule, MemberKind, MemberKinds } from './points.ts';

export interface ReplyObject {
  readonly body: Body;
  readonly specific: Body | undefined;
  readonly isGarbled: boolean;
}

type PrintedReply =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** Begins as a JSON object but is invalid: truncated, followed by something else, or wrong inside. */
  | { readonly kind: 'bad_json'; readonly text: string }
  | { readonly kind: 'object'; readonly output: ReplyObject };

/** Throws REPLY_MALFORMED if `hookSpecificOutput` occurs twice. */
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

export function uniqueMember(body: Body, key: string): Json | undefined {
  if (isAmbiguous(body, key)) {
    throw malformed(`the answer says \`${key}\` more than once`);
  }
  return body.get(key);
}

export function textAt(body: Body | undefined, key: string): string {
  const value = body?.get(key)?.value;
  return typeof value === 'string' ? value : '';
}

export interface ParsedReply {
  readonly output: ReplyObject;
  /** The block by exit code 2, if any. No JSON member overrides it. */
  readonly blocked: Blocked | undefined;
  /** The schema violation of the reply, if any. Then only a denial or an abort in it counts. */
  readonly fault: string | undefined;
  readonly beside: Pick<AnswerDetails, 'metadata' | 'context'>;
}

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

export interface Blocked {
  readonly message: string;
  readonly mentionsUnopenedFile: boolean;
}

export function readExit2({ stderr }: ProcessReply): Blocked {
  const text = stderr.trim();
  const mentionsUnopenedFile = /can(?:'t|not) open/i.test(text);
  return { message: mentionsUnopenedFile ? `${text} (a file cannot be opened)` : text, mentionsUnopenedFile };
}

export function noteExit2({ block }: EventRule, blocked: Blocked | undefined): readonly Note[] {
  if (blocked === undefined) return [];
  if (block === 'none') return blocked.message === '' ? [] : [{ level: 'warn', message: blocked.message }];
  return blocked.mentionsUnopenedFile ? [{ level: 'warn', message: missingScriptWarning }] : [];
}

const missingScriptWarning =
  'it exited with code 2, which blocks, and its stderr says that a file cannot be opened: an interpreter whose script is missing ends in the same way';

export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}

/** The schema violation, as the end of a sentence. Undefined if the reply conforms. */
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

function findUnknownDecision({ block, takesDecision }: EventRule, body: Body): string | undefined {
  const given = block === 'beside' && takesDecision ? body.get('decision') : undefined;
  const isKnown = given === undefined || ['block', 'deny', 'approve'].some((word) => given.value === word);
  return isKnown ? undefined : 'answered with a `decision` that is not a known verdict';
}

function findWrongSpecific(point: string, rule: EventRule, specific: Body | undefined): string | undefined {
  if (specific === undefined) return 'answered with a `hookSpecificOutput` that is not an object';
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

export function findWrongType(body: Body, kinds: MemberKinds): string | undefined {
  const wrong = Object.entries(kinds).find(([key, kind]) => {
    const member = body.get(key);
    return member !== undefined && !isOfKind(member, kind);
  });
  return wrong && `answered with a \`${wrong[0]}\` that is not ${kindWords[wrong[1]]}`;
}

const kindWords: Readonly<Record<MemberKind, string>> = {
  text: 'a string',
  flag: 'a boolean',
  object: 'an object',
  names: 'a list of strings',
  list: 'a list',
  any: 'a value',
};

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
      return block === 'none' ? `${point} blocks nothing` : `only exit code 2 blocks ${point}`;
  }
}

export interface ReplyVerdict {
  readonly verdict: 'deny' | 'defer' | 'ask' | 'allow' | 'none';
  readonly reason: string;
  readonly isUnknown?: true;
}

const noVerdict: ReplyVerdict = { verdict: 'none', reason: '' };

/** Top-level `decision` with `reason`, where it counts. `deny` is read as block; an unknown word denies. */
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

/** `permissionDecision` with its reason. A word that is not among `words` denies. */
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

export function unknownVerdict(key: string, word: string): ReplyVerdict {
  return {
    verdict: 'deny',
    reason: `its \`${key}\` is not a known verdict: ${excerpt(word)}`,
    isUnknown: true,
  };
}

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
