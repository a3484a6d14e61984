import { requirePipeline } from '../pipeline/file/load.ts';
import { requireSuite } from '../suite/file/load.ts';

export { areSeveral, type FoundSuite, findSuites } from './find-suites.ts';
export { findSuiteInputs } from './suite-inputs.ts';

/** The RuntimeConfig that a suite names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfSuite(file: string, fallback: string): string {
  return requireSuite(file, undefined).runtime ?? fallback;
}

/** The RuntimeConfig that a pipeline names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfPipeline(file: string, fallback: string): string {
  return requirePipeline(file, undefined).runtime ?? fallback;
}
