import { findCheck } from '../../builtins/checks/registry.ts';
import { checksOf, type Suite, subjectsOf } from '../file/model.ts';

export interface WindowOptions {
  /** Processes at once. */
  readonly concurrency: number;
  /** How many cases an eval takes in one request at most. */
  readonly batchSizeOf: (type: string) => number;
}

/** How many cases of a run are in flight. */
export interface Window {
  readonly cases: number;
  /** Epochs at once where `timeout_ms` is set, so that none waits while its time runs. */
  readonly epochs: number;
}

/**
 * Enough cases to keep every process busy, to keep many results in one transaction, and where evals take batches, to fill
 * these. A suite that calls models keeps to the first: they are called as the cases come, and no slot holds them back.
 */
export function windowOf(suite: Suite, { concurrency, batchSizeOf }: WindowOptions): Window {
  const types = checksOf(suite).map(({ type }) => type);
  if (callsModels(suite)) return { cases: 4 * concurrency, epochs: concurrency };
  const epochs = concurrency * Math.max(1, ...types.map(batchSizeOf));
  return { cases: Math.max(32, 4 * concurrency, Math.min(4 * epochs, mostCases)), epochs };
}

/** How many rows a worker judges at a time, of each of which every variant is a case: what it takes is long against what it costs to hand them out, and lost when a worker is. */
export function chunkSizeOf(suite: Suite, { concurrency }: Pick<WindowOptions, 'concurrency'>): number {
  const cases = callsModels(suite) ? Math.max(16, 4 * concurrency) : 2_000;
  return Math.ceil(cases / (suite.variants?.length ?? 1));
}

function callsModels(suite: Suite): boolean {
  return (
    subjectsOf(suite).length > 0 || checksOf(suite).some(({ type }) => findCheck(type)?.family === 'judge')
  );
}

/** Holds the memory of a run down where batches are large. */
const mostCases = 10_000;
