import { RuntimeError } from '../base/errors.ts';
import { readReduction, type Suite, withDataset } from '../suites/file/model.ts';
import { findReductionProblem } from '../suites/stats/epoch-reduction.ts';
import { withProviders } from '../suites/variants.ts';
import type { SuiteRunOptions } from './api.ts';

export function namedOptions(options: SuiteRunOptions, replay: string | undefined) {
  const { select: { filter, tags, sample, shard, maxCases, rows } = {}, dataset, bail, keepGoing } = options;
  return {
    '--dataset': dataset,
    '--provider': options.providers,
    '--filter': filter,
    '--tag': tags,
    '--sample': sample?.size,
    '--seed': sample?.seed,
    '--shard': shard && [shard.index, shard.count],
    '--max-cases': maxCases,
    'the selection of rows': rows,
    '--bail': bail,
    '--keep-going': keepGoing,
    '--replay': replay,
  };
}

export function usage(message: string): RuntimeError {
  return new RuntimeError('USAGE', message);
}

export function applyOptions(suite: Suite, options: SuiteRunOptions): Suite {
  const { dataset, epochs = suite.epochs, reducer, retries = suite.retries, timeoutMs, bail } = options;
  requireWhole('the number of epochs', epochs, 1);
  requireWhole('the number of retries', retries, 0);
  if (bail !== undefined) requireWhole('the number of failures after which to stop', bail, 1);
  if (timeoutMs !== undefined) requireWhole('the timeout in milliseconds', timeoutMs, 1);
  const reduction = reducer === undefined ? undefined : readReduction(reducer);
  if (reducer !== undefined && reduction === undefined) {
    throw usage(`a reducer must be mean, median, mode, max, pass@K or at_least_K, not ${reducer}`);
  }
  const evals = suite.evals.map((each) => (reduction === undefined ? each : { ...each, reducer: reduction }));
  for (const { id, reducer: own } of evals) {
    const problem = findReductionProblem(own, epochs);
    if (problem !== undefined) {
      const hint = 'Repeat each case more often: --repeat N, or repeat.epochs of the suite.';
      throw new RuntimeError('USAGE', `eval "${id}": ${problem}`, { hint });
    }
  }
  return {
    ...withProviders(withDataset(suite, dataset), options.providers),
    evals,
    epochs,
    retries,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function requireWhole(what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw usage(`${what} must be a whole number from ${least}, not ${value}`);
}
