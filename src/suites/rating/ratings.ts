import { RuntimeError } from '../../base/errors.ts';
import { tryParse } from '../../base/json/parse.ts';
import { members, nullOr, number, optional, readShape, text } from '../../base/json/shape.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import type { KeptRating, ResultStore } from '../../store/result-store.ts';
import type { RunHeader } from '../record.ts';
import { isOfVariant, requireVariant } from './rated-variant.ts';
import { checkRating, type Rating, type RatingInput, type RatingPlace } from './rating.ts';

export interface RatedRun {
  readonly store: ResultStore;
  readonly header: Pick<RunHeader, 'run_id' | 'evals' | 'variants'>;
}

/**
 * Resolves when the rating is stored. Throws USAGE, STORE_FAILED, and NAME_UNKNOWN for an unknown case, variant or
 * eval.
 */
export async function keepRating(
  { store, header }: RatedRun,
  input: RatingInput,
  scrubber: Scrubber,
): Promise<Rating> {
  checkRating(input);
  requireVariant(header, input.variant);
  requireEval(header, input.eval);
  await requireCase({ store, header }, input);
  const { variant, score = null, label = null, comment = null } = input;
  const kept: KeptRating = {
    ...placeOf(input),
    at: Date.now(),
    text: JSON.stringify({
      variant,
      score,
      label: scrub(label, scrubber),
      comment: scrub(comment, scrubber),
    }),
  };
  await store.keepRating(header.run_id, kept);
  return toRating(kept);
}

/** Throws NAME_UNKNOWN if there is no such rating, and the variant errors of `keepRating`. */
export async function removeRating({ store, header }: RatedRun, input: RatingPlace): Promise<void> {
  requireVariant(header, input.variant);
  if (await store.removeRating(header.run_id, placeOf(input))) return;
  const of = input.eval === undefined ? '' : `, eval "${input.eval}"`;
  const message = `run ${header.run_id} has no rating of ${caseText(input)}${of} by ${input.by}`;
  throw new RuntimeError('NAME_UNKNOWN', message, {
    hint: '`signalbox eval rate RUN --list` lists the ratings.',
  });
}

export async function* listRatings(
  store: ResultStore,
  runId: string,
  caseId: string | undefined,
): AsyncGenerator<Rating> {
  for await (const kept of store.ratings(runId, { caseId })) yield toRating(kept);
}

function placeOf({ case: caseId, variant, eval: id, by }: RatingPlace) {
  return { caseId, variant, eval: id ?? '', by };
}

function caseText({ case: id, variant }: RatingPlace): string {
  return variant === undefined ? `case "${id}"` : `case "${id}" (${variant})`;
}

function scrub(text: string | null, scrubber: Scrubber): string | null {
  return text === null ? null : scrubber.values(text);
}

function requireEval({ run_id: id, evals }: RatedRun['header'], wanted: string | undefined): void {
  if (wanted === undefined || evals.some((each) => each.id === wanted)) return;
  const known = evals.map((each) => each.id);
  throw new RuntimeError(
    'NAME_UNKNOWN',
    `run ${id} has no eval "${wanted}"`,
    suggest(wanted, known, 'evals'),
  );
}

async function requireCase({ store, header }: RatedRun, place: RatingPlace): Promise<void> {
  const { run_id: runId } = header;
  for await (const record of store.records(runId, { caseId: place.case })) {
    if (isOfVariant(record, header, place.variant)) return;
  }
  throw new RuntimeError('NAME_UNKNOWN', `run ${runId} has no ${caseText(place)}`, {
    hint: 'A case is named by its id or, if the dataset gives none, by the number of its row, from 1.',
  });
}

function toRating({ caseId, eval: id, by, at, text: kept }: KeptRating): Rating {
  const said = readShape(saidShape, tryParse(kept), (path) => {
    return new RuntimeError('STORE_FAILED', `the stored rating of case "${caseId}" is damaged (at ${path})`);
  });
  const { variant, ...judged } = said;
  return {
    case: caseId,
    ...(variant !== undefined && { variant }),
    eval: id === '' ? null : id,
    ...{ by, at: new Date(at).toISOString() },
    ...judged,
  };
}

type Said = Pick<Rating, 'variant' | 'score' | 'label' | 'comment'>;

const saidShape = members<Said>({
  variant: optional(text),
  score: nullOr(number),
  label: nullOr(text),
  comment: nullOr(text),
});

export const ratingShape = members<Rating>({
  case: text,
  variant: optional(text),
  eval: nullOr(text),
  by: text,
  at: text,
  score: nullOr(number),
  label: nullOr(text),
  comment: nullOr(text),
});
