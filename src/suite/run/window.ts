import { findCheck } from '../../checks/registry.ts';
import type { CheckTree, Suite } from '../file/model.ts';

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
  const types = suite.evals.flatMap(({ check }) => (check.kind === 'guard' ? [] : typesOf(check)));
  const callsModels =
    suite.subject !== undefined || types.some((type) => findCheck(type)?.family === 'judge');
  if (callsModels) return { cases: 4 * concurrency, epochs: concurrency };
  const epochs = concurrency * Math.max(1, ...types.map(batchSizeOf));
  return { cases: Math.max(32, 4 * concurrency, Math.min(4 * epochs, mostCases)), epochs };
}

/** Holds the memory of a run down where batches are large. */
const mostCases = 10_000;

function typesOf(tree: CheckTree): readonly string[] {
  if (tree.kind === 'check') return [tree.type];
  return tree.kind === 'not' || tree.kind === 'bounded' ? typesOf(tree.part) : tree.parts.flatMap(typesOf);
}
