import { type Answer, answers } from '../../contract/hook.ts';
import type { Body } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isAmbiguous } from '../keys.ts';
import { type Family, requirePoint } from './points.ts';

/** A refusal that its point has no word for. */
export interface StrayDenial {
  readonly answer: Answer;
  readonly notes: readonly Note[];
}

/** What each verdict key says where it refuses. `approved` is how plugins answered before February 2026. */
const refusing = { block: true, denied: true, approved: false } as const;

const words = ['block', 'denied', 'approved'] as const;

/** Families whose points can refuse. */
const refusers: readonly Family[] = ['gate', 'permission', 'spawn'];

/**
 * A denial in the word of another point, or by a verdict key that stands twice or in another letter case; undefined
 * where there is none, or nothing to deny.
 */
export function findStrayDenial(point: string, body: Body): StrayDenial | undefined {
  const { family, refusal } = requirePoint(point);
  if (!refusers.includes(family)) return undefined;
  const what = findWord(point, body);
  if (what === undefined) return undefined;
  const reason = textAt(body, 'message') ?? textAt(body, 'reason') ?? refusal;
  return { answer: answers.deny(reason), notes: [{ level: 'warn', message: `${what}, which denies` }] };
}

/** Whether it is a verdict key, in whatever letter case. */
export function isVerdictKey(key: string): boolean {
  return words.some((word) => word === key.toLowerCase());
}

function findWord(point: string, body: Body): string | undefined {
  const twice = words.find((word) => isAmbiguous(body, word));
  if (twice !== undefined) return `it gave \`${twice}\` twice`;
  const cased = body.members.find(({ key }) => isVerdictKey(key) && key !== key.toLowerCase());
  if (cased !== undefined) return `it gave \`${cased.key}\` in the place of \`${cased.key.toLowerCase()}\``;
  const { results } = requirePoint(point);
  const foreign = words.find((word) => !(word in results) && body.get(word)?.value === refusing[word]);
  return foreign && `it gave \`${foreign}: ${refusing[foreign]}\`, a word of other points than ${point}`;
}

function textAt(body: Body, key: string): string | undefined {
  const value = body.get(key)?.value;
  return typeof value === 'string' ? value : undefined;
}
