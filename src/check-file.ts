import { hostEnv } from './binding/env.ts';
import type { Problem } from './config/config.ts';
import { readDocument } from './config/document.ts';
import { loadConfig } from './config/load.ts';
import { isObject } from './json.ts';
import { loadSuite, requireSuite } from './suite/load.ts';

/** Every problem of a RuntimeConfig or EvalSuite file, as its `kind` says. Throws FILE_UNREADABLE. */
export function validateFile(file: string): readonly Problem[] {
  const { value } = readDocument(file);
  const searchPath = hostEnv()['PATH'] ?? '';
  if (!isObject(value) || value['kind'] !== 'EvalSuite') return loadConfig(file, searchPath).problems;
  const { suite, problems } = loadSuite(file, undefined);
  if (suite?.runtime === undefined) return problems;
  const { config } = loadConfig(suite.runtime, searchPath);
  return config === undefined
    ? problems
    : loadSuite(
        file,
        config.evals.map(({ name }) => name),
      ).problems;
}

/** The RuntimeConfig that a suite names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfSuite(file: string, fallback: string): string {
  return requireSuite(file, undefined).runtime ?? fallback;
}
