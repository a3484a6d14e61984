import { eachOf, object } from '../../base/json/record.ts';
import { flag, number, optional, text } from '../../base/json/shape.ts';
import type { StepRecord } from '../../store/store.ts';
import { plainRecord, readRecord } from './record.ts';

/** A part of the journal that a retry does again: one entry, or (`isDeep`) with all below it. */
export interface Redo {
  readonly path: string;
  readonly isDeep: boolean;
}

/** What a retry does again of what was kept before it. */
export const redoRecord = plainRecord<RetryRecord>(
  'retry',
  object({
    redo: eachOf(object({ path: text, isDeep: flag })),
    /** Which retry of the outermost run it belongs to, of a run below it. */
    of: optional(number),
    /** The step from which on everything is done again. */
    from: optional(text),
  }),
);

interface RetryRecord {
  readonly redo: readonly Redo[];
  readonly of?: number;
  readonly from?: string;
}

/** The journal of a run as it counts: nothing is ever removed from it, and what a retry does again is kept beside what was. */
export interface CurrentSteps {
  /** By their paths, without what a later retry does again; in the order in which they began. */
  readonly current: ReadonlyMap<string, StepRecord>;
  /** What does not count any more, the latest last. */
  readonly redone: readonly StepRecord[];
  readonly retries: number;
  readonly last: Pick<RetryRecord, 'of' | 'from'> | undefined;
  /** The name under which the store has a path, or will have it. */
  storedName(path: string): string;
  /** The retry in which it is done; 0: before any. */
  editionOf(path: string): number;
}

/** Sorts the records of a run, in the order of the store. Throws STORE_FAILED. */
export function toCurrentSteps(runId: string, records: readonly StepRecord[]): CurrentSteps {
  const current = new Map<string, StepRecord>();
  const stored = new Map<string, string>();
  const redone: StepRecord[] = [];
  const wasRedone = new Set<string>();
  let retries = 0;
  let last: CurrentSteps['last'];
  for (const record of records) {
    if (isRetry(record.step)) {
      if (record.outcome === null) continue;
      const { redo, ...about } = readRecord(redoRecord, record.outcome, { run: runId, step: record.step });
      last = about;
      const isRedone = matcherOf(redo);
      retries += 1;
      for (const [path, each] of current) {
        if (!isRedone(path)) continue;
        current.delete(path);
        wasRedone.add(path);
        redone.push(each);
      }
      continue;
    }
    const { path } = splitName(record.step);
    stored.set(path, record.step);
    current.set(path, path === record.step ? record : { ...record, step: path });
  }
  const storedName = (path: string) => {
    if (current.has(path)) return stored.get(path) ?? path;
    return wasRedone.has(path) ? `${path}~${retries}` : path;
  };
  return {
    ...{ current, redone, retries, last, storedName },
    editionOf: (path) => splitName(storedName(path)).retry,
  };
}

/** The name of the record of a retry, which no step has. */
export function retryName(retry: number): string {
  return `@retry/${retry}`;
}

function isRetry(name: string): boolean {
  return /^@retry\/\d+$/.test(name);
}

/** The path of a name of the store, and the retry in which it was done: no path has a tilde. */
export function splitName(name: string): { readonly path: string; readonly retry: number } {
  const [, path, retry] = /^(.*)~(\d+)$/s.exec(name) ?? [];
  return path === undefined ? { path: name, retry: 0 } : { path, retry: Number(retry) };
}

/** Whether a path is one of these, or below a deep one. */
function matcherOf(redo: readonly Redo[]): (path: string) => boolean {
  const exact = new Set(redo.map(({ path }) => path));
  const deep = new Set(redo.filter(({ isDeep }) => isDeep).map(({ path }) => path));
  return (path) => {
    if (exact.has(path)) return true;
    for (const { index } of path.matchAll(/[/[]/g)) if (deep.has(path.slice(0, index))) return true;
    return false;
  };
}
