import type { Cut } from '../../../../base/json/cut-value.ts';
import type { Rating } from '../../../rating/rating.ts';
import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../../../record.ts';
import type { Row, Served } from '../row.ts';

export interface Data {
  header: RunHeader;
  /** Null if the page is a file. */
  served: Served | null;
  /** Grows while a served page loads. */
  entries: readonly Entry[];
  problems: readonly RowProblem[];
  ratings: GivenRatings;
  /** The number of passed cases whose details were omitted. */
  dropped: number;
  /** Null if the run did not finish. */
  report: SuiteReport | null;
  isLoading: boolean;
}

export interface Entry {
  number: number;
  id: string;
  tags: readonly string[];
  score: number | null;
  passed: boolean;
  flaky: boolean;
  /** By the index of the eval in the header. */
  results: ReadonlyMap<number, Outcome>;
  text: string;
  why: string;
  /** The index of its variant in the header; -1 without variants. */
  variant: number;
  variants: readonly Entry[];
  /** The record as JSON, parsed on demand; null if omitted. */
  detail: string | null;
}

export type Outcome = { readonly score: number | null; readonly passed: boolean; readonly flaky: boolean };

interface Reader {
  take: (line: string) => void;
  /** What was read so far, the same object each time. Null until the header is read. */
  data: () => Data | null;
}

export function makeReader(isLoading: boolean): Reader {
  const entries: Entry[] = [];
  const problems: RowProblem[] = [];
  const read = {
    ...{
      header: null as RunHeader | null,
      served: null as Served | null,
      report: null as SuiteReport | null,
    },
    ...{ entries, problems, ratings: new Map() as GivenRatings, dropped: 0, isLoading },
  };
  const isComplete = (data: typeof read): data is typeof read & Data => data.header !== null;
  return {
    take(line) {
      const space = line.indexOf(' ');
      const kind = line.slice(0, space);
      const json = line.slice(space + 1);
      const last = entries.at(-1);
      if (kind === 'detail' && last !== undefined) last.detail = json;
      else if (kind === 'row') entries.push(...parseAll(json, toEntry));
      else if (kind === 'problem') problems.push(...parseAll(json, (problem: RowProblem) => problem));
      else if (kind === 'rating')
        for (const rating of parseAll(json, (given: Rating) => given)) addRating(read.ratings, rating);
      else if (kind === 'header') read.header = JSON.parse(json);
      else if (kind === 'served') read.served = JSON.parse(json);
      else if (kind === 'report') read.report = JSON.parse(json);
      else if (kind === 'notice')
        Object.assign(read, { dropped: JSON.parse(json).dropped, isLoading: false });
    },
    data: () => (isComplete(read) ? read : null),
  };
}

/** The lines in the document. Removes each block after reading, so that the text is in memory once. */
export function* linesOf(blocks: Iterable<Element>) {
  for (const block of blocks) {
    const lines = (block.textContent ?? '').split('\n');
    block.remove();
    for (const line of lines) if (line !== '') yield line;
  }
}

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

export interface Detail extends CaseRecord {
  readonly page_cuts?: readonly Cut[];
}

/** Numbers keep their original digits. */
export function readDetail({ detail }: Entry): Detail | null {
  if (detail === null) return null;
  try {
    return JSON.parse(detail, keepDigits);
  } catch {
    return null;
  }
}

/** Older browsers do not pass `context`; they show long numbers rounded. */
function keepDigits(_key: string, value: unknown, context?: { source?: string }) {
  if (typeof value !== 'number' || context?.source === undefined || !('rawJSON' in JSON)) return value;
  return String(value) === context.source ? value : JSON.rawJSON(context.source);
}

type GivenRatings = Map<string, readonly Rating[]>;

export interface Rated {
  readonly case: string;
  readonly variant?: string | undefined;
}

export type Place = Rated & Pick<Rating, 'eval' | 'by'>;

export function ratingsOf(given: GivenRatings, { case: id, variant }: Rated): readonly Rating[] {
  return (given.get(id) ?? []).filter((each) => each.variant === variant);
}

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
