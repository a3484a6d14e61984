import type { Cut } from '../../../../base/json/cut-value.ts';
import type { Rating } from '../../../rating/rating.ts';
import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../../../record.ts';
import type { Row, Served } from '../row.ts';

/** What the page was given. */
export interface Data {
  header: RunHeader;
  /** Null in a file. */
  served: Served | null;
  entries: readonly Entry[];
  problems: readonly RowProblem[];
  ratings: GivenRatings;
  /** How many details of passed cases were left out to keep the page small. */
  dropped: number;
  /** Null when the run did not come to its end. */
  report: SuiteReport | null;
}

/** One case; of a matrix the cases of one row. */
export interface Entry {
  number: number;
  id: string;
  tags: readonly string[];
  score: number | null;
  passed: boolean;
  flaky: boolean;
  /** By the place of the eval in the header. */
  results: ReadonlyMap<number, Outcome>;
  text: string;
  why: string;
  /** The position of its variant in the header; -1 where there is none. */
  variant: number;
  /** Of the cases of one row: each of them, by the order of the variants; one that is missing has none. */
  variants: readonly Entry[];
  /** The whole record as JSON, not read before somebody looks; null when left out. */
  detail: string | null;
}

export type Outcome = { readonly score: number | null; readonly passed: boolean; readonly flaky: boolean };

/**
 * Takes the data out of the blocks that stand behind the script.
 * @returns null when not even the header was written
 */
export function readData(): Data | null {
  const data: {
    header: RunHeader | null;
    served: Served | null;
    entries: Entry[];
    problems: RowProblem[];
    ratings: GivenRatings;
    dropped: number;
    report: SuiteReport | null;
  } = { header: null, served: null, entries: [], problems: [], ratings: new Map(), dropped: 0, report: null };
  for (const line of dataLines()) {
    const space = line.indexOf(' ');
    const kind = line.slice(0, space);
    const json = line.slice(space + 1);
    const last = data.entries.at(-1);
    if (kind === 'detail' && last !== undefined) last.detail = json;
    else if (kind === 'row') data.entries.push(...parseAll(json, toEntry));
    else if (kind === 'problem') data.problems.push(...parseAll(json, (problem: RowProblem) => problem));
    else if (kind === 'rating')
      for (const rating of parseAll(json, (given: Rating) => given)) addRating(data.ratings, rating);
    else if (kind === 'header') data.header = JSON.parse(json);
    else if (kind === 'served') data.served = JSON.parse(json);
    else if (kind === 'report') data.report = JSON.parse(json);
    else if (kind === 'notice') data.dropped = JSON.parse(json).dropped;
  }
  const { header, ...rest } = data;
  return header === null ? null : { header, ...rest };
}

/** Lines one by one; the blocks are removed, so that the text is held once. */
function* dataLines() {
  for (const block of document.querySelectorAll('script[data-block]')) {
    const lines = (block.textContent ?? '').split('\n');
    block.remove();
    for (const line of lines) if (line !== '') yield line;
  }
}

/** The last line of a run that was cut off may be half a line: it is left out. */
function parseAll<Raw, Value>(json: string, convert: (value: Raw) => Value): Value[] {
  try {
    return [convert(JSON.parse(json))];
  } catch {
    return [];
  }
}

function toEntry([number, id, tags, score, passed, flaky, results, text, why, variant = -1]: Row): Entry {
  const outcomes = new Map(
    results.map(([place, resultScore, hasPassed, isFlaky]) => [
      place,
      { score: resultScore, passed: hasPassed, flaky: isFlaky },
    ]),
  );
  return {
    ...{ number, id, tags, score, passed, flaky, results: outcomes, text, why, variant },
    ...{ variants: [], detail: null },
  };
}

/** A record of a case as the page has it. */
export interface Detail extends CaseRecord {
  /** What was cut to keep the page small; absent where nothing was. */
  readonly page_cuts?: readonly Cut[];
}

/** The record of a case, its numbers with the digits that they were written with. */
export function readDetail({ detail }: Entry): Detail | null {
  if (detail === null) return null;
  try {
    return JSON.parse(detail, keepDigits);
  } catch {
    return null;
  }
}

/** @param context Older browsers do not give it; they show a long number as they round it. */
function keepDigits(_key: string, value: unknown, context?: { source?: string }) {
  if (typeof value !== 'number' || context?.source === undefined || !('rawJSON' in JSON)) return value;
  return String(value) === context.source ? value : JSON.rawJSON(context.source);
}

/** What people said of cases, by the ids of these. */
type GivenRatings = Map<string, readonly Rating[]>;

/** A case that is rated; of a matrix it is one of a variant. */
export interface Rated {
  readonly case: string;
  readonly variant?: string | undefined;
}

/** Which rating. */
export type Place = Rated & Pick<Rating, 'eval' | 'by'>;

/** Those of one case. */
export function ratingsOf(given: GivenRatings, { case: id, variant }: Rated): readonly Rating[] {
  return (given.get(id) ?? []).filter((each) => each.variant === variant);
}

/** Puts a rating in the place of the one that the same person gave before. */
export function addRating(given: GivenRatings, rating: Rating) {
  removeRating(given, rating);
  given.set(rating.case, [...(given.get(rating.case) ?? []), rating]);
}

export function removeRating(given: GivenRatings, place: Place) {
  given.set(
    place.case,
    (given.get(place.case) ?? []).filter((each) => !isAt(each, place)),
  );
}

export function isAt(rating: Rating, place: Place) {
  return rating.variant === place.variant && rating.eval === place.eval && rating.by === place.by;
}
