import type { Answer } from '../../../contract/hook.ts';
import type { Json } from '../../../json/json.ts';
import type { Body } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import { failOpen } from '../../failed-open.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import { noteUnknownKeys } from '../../unknown-keys.ts';
import type { ChibiSettings } from '../config/settings.ts';
import { findMisplacedDenial, isVerdictKey } from '../misplaced-denial.ts';
import { type ResultKind, requirePoint } from '../points.ts';
import { toAnswer } from '../to-answer.ts';

/**
 * Decodes a JSON object at its point. A member of the wrong type counts as absent; a denial counts whatever
 * else is wrong, and under any of chibi's verdict keys. Source: the typed readers of tools/hooks.rs.
 */
export function readObject(
  entry: HookEntry<ChibiSettings>,
  { point }: Question,
  body: Body,
): Decoded<Answer> {
  const { results } = requirePoint(point);
  const given = Object.entries(results).flatMap(([key, kind]) => {
    const json = body.get(key);
    return json === undefined ? [] : [{ key, json, isFit: kindTests[kind](json) }];
  });
  const fit = new Map(given.filter(({ isFit }) => isFit).map(({ key, json }) => [key, json]));
  const wrong = given.filter(({ isFit }) => !isFit).map(({ key }) => `\`${key}\``);
  const pointAnswer = toAnswer(entry, point, fit);
  const misplaced = pointAnswer.verdict === 'deny' ? undefined : findMisplacedDenial(point, body);
  const answer = misplaced?.answer ?? pointAnswer;
  const verdictKeys = misplaced === undefined ? [] : body.members.map(({ key }) => key).filter(isVerdictKey);
  const notes = [
    ...noteUnknownKeys(body, [...Object.keys(results), ...verdictKeys]),
    ...(misplaced?.notes ?? []),
  ];
  return wrong.length === 0 ? decoded(answer, notes) : readWrongTypes(entry, answer, { wrong, notes });
}

function readWrongTypes(
  entry: HookEntry<ChibiSettings>,
  answer: Answer,
  { wrong, notes }: { readonly wrong: readonly string[]; readonly notes: readonly Note[] },
): Decoded<Answer> {
  const what = `gave ${wrong.join(' and ')} of the wrong type`;
  if (answer.verdict === 'deny') return decoded(answer, [...notes, { level: 'warn', message: `it ${what}` }]);
  return failOpen(entry, { cause: 'chibi.wrong_type', what }, { notes, answer });
}

const kindTests: Readonly<Record<ResultKind, (json: Json) => boolean>> = {
  text: ({ value }) => typeof value === 'string',
  flag: ({ value }) => typeof value === 'boolean',
  names: ({ value }) => Array.isArray(value),
  fuel: ({ text }) => /^\d+$/.test(text) && BigInt(text) < 2n ** 64n,
  delta: ({ text }) => /^(-[1-9]\d*|\d+)$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
  any: () => true,
};
