import { hostEnv } from './binding/env.ts';
import type { Problem } from './config/config.ts';
import { readDocument, type YamlDocument } from './config/document.ts';
import { type LoadedConfig, loadConfig } from './config/load.ts';
import { sortProblems } from './config/problem.ts';
import { textAt, valueAt } from './config/read.ts';
import { findNearest } from './config/suggest.ts';
import { toRuntimeError } from './errors.ts';
import { foreignChecks } from './foreign-checks.ts';
import { isObject } from './json.ts';
import { loadPipeline, requirePipeline } from './pipeline/load.ts';
import { loadSuite, requireSuite } from './suite/load.ts';
import { besideFile } from './suite/paths.ts';

export { findSuiteInputs } from './suite-inputs.ts';

/**
 * Every problem of a RuntimeConfig, EvalSuite or Pipeline file, as its `kind` says; that it cannot be read is
 * one. `fallback` is the RuntimeConfig of a suite or pipeline that names none.
 */
export function validateFile(file: string, fallback: string): readonly Problem[] {
  try {
    const document = readDocument(file);
    switch (kindOf(document)) {
      case 'EvalSuite':
        return checkWithRuntime(document, fallback, { unchecked: 'types of the evals', check: checkSuite });
      case 'Pipeline':
        return checkWithRuntime(document, fallback, {
          unchecked: 'names in its steps',
          check: checkPipeline,
        });
      case 'RuntimeConfig':
        return load(file).problems;
      case undefined:
        return refuseKind(document);
    }
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

/** The RuntimeConfig that a pipeline names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfPipeline(file: string, fallback: string): string {
  return requirePipeline(file, undefined).runtime ?? fallback;
}

const kinds = ['RuntimeConfig', 'EvalSuite', 'Pipeline'] as const;
type Kind = (typeof kinds)[number];

/** A file is checked as the kind that it probably means; one that has no mapping at all as any. */
function kindOf(document: YamlDocument): Kind | undefined {
  if (!isObject(document.value)) return 'RuntimeConfig';
  const nearest = findNearest(textAt(document, ['kind']) ?? '', kinds);
  return kinds.find((kind) => kind === nearest);
}

/** Without a kind nothing else about the file can be said. */
function refuseKind(document: YamlDocument): readonly Problem[] {
  const kind = textAt(document, ['kind']);
  const got = kind === undefined ? '' : ` (got: ${kind})`;
  const message = `kind: must be one of: ${kinds.join(', ')}${got}`;
  return sortProblems([
    ...document.problems,
    { ...document.positionOf(['kind']), severity: 'error', message },
  ]);
}

type Config = LoadedConfig['config'];

function checkSuite(file: string, config: Config): readonly Problem[] {
  return loadSuite(file, config).problems;
}

function checkPipeline(file: string, config: Config): readonly Problem[] {
  return loadPipeline(file, config).problems;
}

interface CheckedWithRuntime {
  readonly check: (file: string, config: Config) => readonly Problem[];
  /** What nobody can tell where the runtime is broken. */
  readonly unchecked: string;
}

function checkWithRuntime(
  document: YamlDocument,
  fallback: string,
  { check, unchecked }: CheckedWithRuntime,
): readonly Problem[] {
  const { file } = document;
  const path = ['spec', 'runtime'];
  const named = valueAt(document, path);
  const runtime = typeof named === 'string' && named !== '' ? besideFile(file, named) : fallback;
  const loaded = loadIfReadable(runtime);
  const problems = check(file, loaded?.config);
  const warning = warnOfRuntime(runtime, loaded, unchecked);
  if (warning === undefined) return problems;
  return sortProblems([...problems, { ...document.positionOf(path), ...warning }]);
}

function load(file: string): LoadedConfig {
  return loadConfig(file, hostEnv()['PATH'] ?? '', foreignChecks, { refusesUnrunnable: true });
}

/** Undefined when there is no such file, of which a file that names it warns by itself. */
function loadIfReadable(file: string): LoadedConfig | undefined {
  try {
    return load(file);
  } catch (error) {
    if (toRuntimeError(error).code === 'FILE_UNREADABLE') return undefined;
    throw error;
  }
}

/** No error of the file: it may yet be run on another runtime. */
function warnOfRuntime(file: string, loaded: LoadedConfig | undefined, unchecked: string) {
  const errors = loaded?.problems.filter(({ severity }) => severity === 'error').length ?? 0;
  if (errors === 0) return undefined;
  return {
    severity: 'warning' as const,
    message: `runtime: ${file} has ${errors === 1 ? 'an error' : `${errors} errors`}, so the ${unchecked} are unchecked`,
    hint: `Run \`signalbox validate ${file}\`.`,
  };
}
