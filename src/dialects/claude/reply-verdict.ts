import { type Answer, type AnswerDetails, answers } from '../../contract/hook.ts';
import { toFault } from '../../errors.ts';
import { type Body, excerpt, malformed } from '../body.ts';
import type { EventRule } from './points.ts';
import { type ReplyObject, textAt, uniqueMember } from './reply-object.ts';

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
