import { type Body, excerpt } from '../body.ts';
import { type Output, only, textAt } from './output.ts';
import type { EventRule } from './points.ts';

/** What a handler decided. */
export interface Ruling {
  readonly verdict: 'deny' | 'defer' | 'ask' | 'allow' | 'none';
  readonly reason: string;
  /** The reason is ours: the handler said something that the event does not know. */
  readonly isUnknown?: true;
}

const none: Ruling = { verdict: 'none', reason: '' };

/** Top-level `decision` with `reason`, where it counts. `deny` is read as block; what is unknown denies. */
export function ruleByDecision({ takesDecision }: EventRule, { body }: Output): Ruling {
  const given = takesDecision ? only(body, 'decision') : undefined;
  if (given === undefined) return none;
  const reason = textAt(body, 'reason');
  switch (given.value) {
    case 'block':
    case 'deny':
      return { verdict: 'deny', reason };
    case 'approve':
      return { verdict: 'allow', reason };
    default:
      return unknown('decision', given.text);
  }
}

/** `permissionDecision` with its reason; what is not among `words` denies. */
export function ruleByPermission(specific: Body | undefined, words: readonly string[]): Ruling {
  const given = specific && only(specific, 'permissionDecision');
  if (given === undefined) return none;
  const { value } = given;
  const reason = textAt(specific, 'permissionDecisionReason');
  if (value === 'allow' || value === 'deny' || value === 'ask' || value === 'defer') {
    if (words.includes(value)) return { verdict: value, reason };
  }
  return unknown('permissionDecision', given.text);
}

/** A denial that names the word that nobody knows. */
export function unknown(key: string, word: string): Ruling {
  return { verdict: 'deny', reason: `its \`${key}\` is no known verdict: ${excerpt(word)}`, isUnknown: true };
}

/** The newer form wins over the older one, unless the older one denies. */
export function join(newer: Ruling, older: Ruling): Ruling {
  if (newer.verdict === 'deny') return newer;
  if (older.verdict === 'deny') return older;
  return newer.verdict === 'none' ? older : newer;
}
