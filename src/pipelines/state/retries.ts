import { eachOf, object } from '../../base/json/record.ts';
import { flag, number, optional, text } from '../../base/json/shape.ts';
import type { StepRecord } from '../../store/store.ts';
import { plainRecord, readRecord } from './record.ts';

/** A journal entry to repeat; `isDeep` includes everything below it. */
export interface Redo {
  readonly path: string;
  readonly isDeep: boolean;
}

export const redoRecord = plainRecord<RetryRecord>(
  'retry',
  object({
    redo: eachOf(object({ path: text, isDeep: flag })),
    /** For a nested run: the outermost run's retry. */
    of: optional(number),
    from: optional(text),
  }),
);

interface RetryRecord {
  readonly redo: readonly Redo[];
  readonly of?: number;
  readonly from?: string;
}

/** The valid part of a run's journal. Nothing is removed; repeated records are kept next to the old ones. */
export interface CurrentSteps {
  /** By path, in the order in which they began, without records that a retry repeats. */
  readonly current: ReadonlyMap<string, StepRecord>;
  /** Records that no longer count, the latest last. */
  readonly redone: readonly StepRecord[];
  readonly retries: number;
  readonly last: Pick<RetryRecord, 'of' | 'from'> | undefined;
  storedName(path: string): string;
  /** The retry in which the path runs; 0: none. */
  editionOf(path: string): number;
}

/** `records` are in the order of the store. Throws STORE_FAILED. */
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

/** No step can have this name. */
export function retryName(retry: number): string {
  return `@retry/${retry}`;
}

function isRetry(name: string): boolean {
  return /^@retry\/\d+$/.test(name);
}

export function splitName(name: string): { readonly path: string; readonly retry: number } {
  const [, path, retry] = (name.includes('~') && /^(.*)~(\d+)$/s.exec(name)) || [];
  return path === undefined ? { path: name, retry: 0 } : { path, retry: Number(retry) };
}

function matcherOf(redo: readonly Redo[]): (path: string) => boolean {
  const exact = new Set(redo.map(({ path }) => path));
  const deep = new Set(redo.filter(({ isDeep }) => isDeep).map(({ path }) => path));
  return (path) => {
    if (exact.has(path)) return true;
    for (const { index } of path.matchAll(/[/[]/g)) if (deep.has(path.slice(0, index))) return true;
    return false;
  };
}
