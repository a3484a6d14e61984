import type { StoredResult } from '../new-result.ts';
import { resultFromRow } from '../sqlite/result-table.ts';
import { numberOf, type Row, textOf, textOrNull } from '../sqlite/row.ts';

/** Why a run goes on after its end, and which of its records were replaced then. */
interface NewReopening {
  /** From 1, in the order in which a run was reopened. */
  readonly number: number;
  /** Which cases were judged again, in the caller's words. */
  readonly scope: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Reopening extends NewReopening {
  /** How the run stood until then. */
  readonly status: string;
  readonly report: string | null;
}

/** A record that another has replaced, after the reopening of that number; 0: before any. */
export interface ReplacedResult extends StoredResult {
  readonly reopening: number;
}

/** What a store of results keeps of runs that are judged again. All reject with STORE_FAILED. */
export interface ReopeningStore {
  /**
   * Keeps how the run stands, moves the records of these numbers to the replaced ones, and marks the run as running: all of it or
   * nothing. Does nothing when the run has this reopening already. Rejects when there is no such run.
   */
  reopenRun(runId: string, reopening: NewReopening, numbers: readonly number[]): Promise<void>;
  /** In their order. */
  reopenings(runId: string): Promise<Reopening[]>;
  /** All records that were replaced, by reopening, number and epoch, the older first; read lazily. */
  replaced(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<ReplacedResult>;
}

/** A replaced record, and where it stands among those of its run. */
export interface PlacedResult extends ReplacedResult {
  readonly seq: number;
}

/** Comes before all others. */
const firstPlace = { reopening: -1, number: 0, epoch: 0, seq: 0 };
export type ReplacedPlace = typeof firstPlace;

/** Reads replaced records page by page, so that a slow reader holds up nobody. */
export async function* replacedInPages(
  page: (after: ReplacedPlace) => Promise<readonly PlacedResult[]>,
): AsyncGenerator<ReplacedResult> {
  for (let after: ReplacedPlace = firstPlace; ; ) {
    const next = await page(after);
    for (const { seq: _, ...record } of next) yield record;
    const last = next.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** Throws Damaged. */
export function reopeningFromRow(row: Row): Reopening {
  return {
    number: numberOf(row, 'number'),
    scope: textOf(row, 'scope'),
    at: numberOf(row, 'at'),
    status: textOf(row, 'status'),
    report: textOrNull(row, 'report'),
  };
}

/** Throws Damaged. */
export function replacedFromRow(row: Row): PlacedResult {
  return { ...resultFromRow(row), reopening: numberOf(row, 'reopening'), seq: numberOf(row, 'seq') };
}
