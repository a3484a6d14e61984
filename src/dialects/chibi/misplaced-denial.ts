import { type Answer, answers } from '../../contract/hook.ts';
import type { Body } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isAmbiguous } from '../unknown-keys.ts';
import { type Family, requirePoint } from './points.ts';

/** A denial by a verdict key that the point does not have. */
export interface MisplacedDenial {
  readonly answer: Answer;
  readonly notes: readonly Note[];
}

/** The value by which each verdict key denies. `approved` is how plugins answered before February 2026. */
const denyingValues = { block: true, denied: true, approved: false } as const;

const verdictKeys = ['block', 'denied', 'approved'] as const;

/** The families of points that can deny. */
const familiesThatDeny: readonly Family[] = ['gate', 'permission', 'spawn'];

/**
 * A denial by the verdict key of another point, or by one that is repeated or in another letter case;
 * undefined where there is none, or where the point cannot deny.
 */
export function findMisplacedDenial(point: string, body: Body): MisplacedDenial | undefined {
  const { family, refusal } = requirePoint(point);
  if (!familiesThatDeny.includes(family)) return undefined;
  const what = findDenyingKey(point, body);
  if (what === undefined) return undefined;
  const reason = textAt(body, 'message') ?? textAt(body, 'reason') ?? refusal;
  return { answer: answers.deny(reason), notes: [{ level: 'warn', message: `${what}, which denies` }] };
}

/** Whether it is a verdict key, in whatever letter case. */
export function isVerdictKey(key: string): boolean {
  return verdictKeys.some((word) => word === key.toLowerCase());
}

function findDenyingKey(point: string, body: Body): string | undefined {
  const repeated = verdictKeys.find((word) => isAmbiguous(body, word));
  if (repeated !== undefined) return `it gave \`${repeated}\` twice`;
  const miscased = body.members.find(({ key }) => isVerdictKey(key) && key !== key.toLowerCase());
  if (miscased !== undefined)
    return `it gave \`${miscased.key}\` in the place of \`${miscased.key.toLowerCase()}\``;
  const { results } = requirePoint(point);
  const foreign = verdictKeys.find(
    (word) => !(word in results) && body.get(word)?.value === denyingValues[word],
  );
  return foreign && `it gave \`${foreign}: ${denyingValues[foreign]}\`, a word of other points than ${point}`;
}

function textAt(body: Body, key: string): string | undefined {
  const value = body.get(key)?.value;
  return typeof value === 'string' ? value : undefined;
}
