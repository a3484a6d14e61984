import { hostEnv } from './binding/env.ts';
import type { Problem } from './config/config.ts';
import { readDocument } from './config/document.ts';
import { type LoadedConfig, loadConfig } from './config/load.ts';
import { sortProblems } from './config/problem.ts';
import { valueAt } from './config/read.ts';
import { toRuntimeError } from './errors.ts';
import { loadSuite, requireSuite } from './suite/load.ts';
import { besideFile } from './suite/paths.ts';

/**
 * Every problem of a RuntimeConfig or EvalSuite file, as its `kind` says; that it cannot be read is one.
 * `fallback` is the RuntimeConfig of a suite that names none.
 */
export function validateFile(file: string, fallback: string): readonly Problem[] {
  try {
    const document = readDocument(file);
    if (valueAt(document, ['kind']) !== 'EvalSuite') return load(file).problems;
    const named = valueAt(document, ['spec', 'runtime']);
    const runtime = typeof named === 'string' && named !== '' ? besideFile(file, named) : fallback;
    const loaded = loadIfReadable(runtime);
    const { problems } = loadSuite(
      file,
      loaded?.config?.evals.map(({ name }) => name),
    );
    const warning = warnOfRuntime(runtime, loaded);
    const at = document.positionOf(['spec', 'runtime']);
    return warning === undefined ? problems : sortProblems([...problems, { ...at, ...warning }]);
  } catch (error) {
    const { code, message, hint } = toRuntimeError(error);
    if (code !== 'FILE_UNREADABLE') throw error;
    return [{ file, line: 1, column: 1, severity: 'error', message, hint }];
  }
}

/** The RuntimeConfig that a suite names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfSuite(file: string, fallback: string): string {
  return requireSuite(file, undefined).runtime ?? fallback;
}

function load(file: string): LoadedConfig {
  return loadConfig(file, hostEnv()['PATH'] ?? '');
}

/** Undefined when there is no such file, of which a suite that names it warns by itself. */
function loadIfReadable(file: string): LoadedConfig | undefined {
  try {
    return load(file);
  } catch (error) {
    if (toRuntimeError(error).code === 'FILE_UNREADABLE') return undefined;
    throw error;
  }
}

/** No error of the suite: it may yet be run on another runtime. */
function warnOfRuntime(file: string, loaded: LoadedConfig | undefined) {
  const errors = loaded?.problems.filter(({ severity }) => severity === 'error').length ?? 0;
  if (errors === 0) return undefined;
  return {
    severity: 'warning' as const,
    message: `runtime: ${file} has ${errors === 1 ? 'an error' : `${errors} errors`}, so the types of the evals are unchecked`,
    hint: `Run \`signalbox validate ${file}\`.`,
  };
}
