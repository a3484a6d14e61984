import { findCheck } from '../../builtins/checks/registry.ts';
import { checksOf, type Suite, subjectsOf } from '../file/model.ts';

export interface WindowOptions {
  readonly concurrency: number;
  readonly batchSizeOf: (type: string) => number;
}

export interface Window {
  readonly cases: number;
  /** With `timeout_ms`, limits concurrent epochs so that none waits while its time runs. */
  readonly epochs: number;
}

/**
 * Enough cases to keep every process busy, fill transactions, and fill the batches of evals. Suites that call models
 * need only the first, because no slot limits model calls.
 */
export function windowOf(suite: Suite, { concurrency, batchSizeOf }: WindowOptions): Window {
  const types = checksOf(suite).map(({ type }) => type);
  if (callsModels(suite)) return { cases: 4 * concurrency, epochs: concurrency };
  const epochs = concurrency * Math.max(1, ...types.map(batchSizeOf));
  return { cases: Math.max(32, 4 * concurrency, Math.min(4 * epochs, mostCases)), epochs };
}

/**
 * Rows per worker; every variant of a row is a case. A chunk must cost more to judge than to hand out, yet little when
 * a worker is lost.
 */
export function chunkSizeOf(suite: Suite, { concurrency }: Pick<WindowOptions, 'concurrency'>): number {
  const cases = callsModels(suite) ? Math.max(16, 4 * concurrency) : 2_000;
  return Math.ceil(cases / (suite.variants?.length ?? 1));
}

function callsModels(suite: Suite): boolean {
  return (
    subjectsOf(suite).length > 0 || checksOf(suite).some(({ type }) => findCheck(type)?.family === 'judge')
  );
}

const mostCases = 10_000;
