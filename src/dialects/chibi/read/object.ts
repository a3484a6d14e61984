import type { ChibiSettings } from '../../../config/foreign.ts';
import type { Answer } from '../../../contract/hook.ts';
import type { Json } from '../../../json/json.ts';
import type { Body } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import { failOpen } from '../../failed-open.ts';
import type { Question, Seat } from '../../foreign.ts';
import { noteUnknownKeys } from '../../keys.ts';
import { findStrayDenial, isVerdictKey } from '../denial.ts';
import { type ResultKind, requirePoint } from '../points.ts';
import { toAnswer } from '../to-answer.ts';

/**
 * What an object says at its point. A member of the wrong type counts as absent, the others count; a refusal stands
 * whatever is wrong beside it, and in whichever of chibi's words. Source: the typed readers of tools/hooks.rs.
 */
export function readObject(seat: Seat<ChibiSettings>, { point }: Question, body: Body): Decoded<Answer> {
  const { results } = requirePoint(point);
  const given = Object.entries(results).flatMap(([key, kind]) => {
    const json = body.get(key);
    return json === undefined ? [] : [{ key, json, isFit: kinds[kind](json) }];
  });
  const fit = new Map(given.filter(({ isFit }) => isFit).map(({ key, json }) => [key, json]));
  const wrong = given.filter(({ isFit }) => !isFit).map(({ key }) => `\`${key}\``);
  const own = toAnswer(seat, point, fit);
  const stray = own.verdict === 'deny' ? undefined : findStrayDenial(point, body);
  const answer = stray?.answer ?? own;
  const verdictKeys = stray === undefined ? [] : body.members.map(({ key }) => key).filter(isVerdictKey);
  const notes = [
    ...noteUnknownKeys(body, [...Object.keys(results), ...verdictKeys]),
    ...(stray?.notes ?? []),
  ];
  return wrong.length === 0 ? decoded(answer, notes) : pass(seat, answer, { wrong, notes });
}

function pass(
  seat: Seat<ChibiSettings>,
  answer: Answer,
  { wrong, notes }: { readonly wrong: readonly string[]; readonly notes: readonly Note[] },
): Decoded<Answer> {
  const what = `gave ${wrong.join(' and ')} of the wrong type`;
  if (answer.verdict === 'deny') return decoded(answer, [...notes, { level: 'warn', message: `it ${what}` }]);
  return failOpen(seat, { cause: 'chibi.wrong_type', what }, { notes, answer });
}

const kinds: Readonly<Record<ResultKind, (json: Json) => boolean>> = {
  text: ({ value }) => typeof value === 'string',
  flag: ({ value }) => typeof value === 'boolean',
  names: ({ value }) => Array.isArray(value),
  fuel: ({ text }) => /^\d+$/.test(text) && BigInt(text) < 2n ** 64n,
  delta: ({ text }) => /^(-[1-9]\d*|\d+)$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
  any: () => true,
};
