import { RuntimeError } from '../../base/errors.ts';
import { requireLoaded } from '../../base/yaml/problem.ts';
import { requirePipeline } from '../../pipelines/file/load.ts';
import { loadSuite } from '../../suites/load.ts';

export { areSeveral, type FoundSuite, findSuites } from './find-suites.ts';
export { findSuiteInputs } from './suite-inputs.ts';

/**
 * The RuntimeConfig that a suite names, or else `fallback`. Throws CONFIG_INVALID, and FILE_UNREADABLE for the suite or a file that it
 * names; `dataset` is read instead of its own.
 */
export function runtimeOfSuite(file: string, fallback: string, dataset?: string): string {
  const { suite, problems } = loadSuite(file, undefined);
  const { runtime = fallback } = requireLoaded(file, suite, problems);
  const missing = problems.find(
    ({ about, message }) => about === 'file' && (dataset === undefined || message.startsWith('runtime')),
  );
  if (missing === undefined) return runtime;
  const { line, column, message, hint } = missing;
  throw new RuntimeError('FILE_UNREADABLE', `${file}:${line}:${column} ${message}`, { hint });
}

/** The RuntimeConfig that a pipeline names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfPipeline(file: string, fallback: string): string {
  return requirePipeline(file, undefined).runtime ?? fallback;
}
