import { dirname } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import { type Problem, sortProblems } from '../../base/yaml/problem.ts';
import { valueAt } from '../../base/yaml/read.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { type ReadOptions, readConfig } from '../../config/load.ts';
import { loadPipeline } from '../../pipelines/file/load.ts';
import { findUnevaluatedInPipeline } from '../../pipelines/file/validate.ts';
import { besideFile } from '../file/read-eval.ts';
import { loadSuite } from '../load.ts';
import { findUnevaluatedInSuite } from './validate.ts';

/**
 * All problems of an EvalSuite. `fallback` is the RuntimeConfig to use if the suite names none. Throws FILE_UNREADABLE.
 */
export function validateSuite(
  document: YamlDocument,
  fallback: string,
  read: ReadOptions,
): readonly Problem[] {
  return checkWithRuntime(document, fallback, {
    read,
    unchecked: 'types of the evals',
    check: (file, config) => loadSuite(file, config).problems,
    findUnevaluated: findUnevaluatedInSuite,
  });
}

export function validatePipeline(
  document: YamlDocument,
  fallback: string,
  read: ReadOptions,
): readonly Problem[] {
  return checkWithRuntime(document, fallback, {
    read,
    unchecked: 'names in its steps',
    check: (file, config) => {
      const { problems, below } = loadPipeline(file, config);
      return [...problems, ...below.flatMap(findUnevaluatedInPipeline)];
    },
    findUnevaluated: findUnevaluatedInPipeline,
  });
}

type Config = LoadedConfig['config'];

interface CheckedWithRuntime {
  readonly read: ReadOptions;
  readonly findUnevaluated: (document: YamlDocument) => readonly Problem[];
  readonly check: (file: string, config: Config) => readonly Problem[];
  readonly unchecked: string;
}

function checkWithRuntime(
  document: YamlDocument,
  fallback: string,
  { read, check, findUnevaluated, unchecked }: CheckedWithRuntime,
): readonly Problem[] {
  const { file } = document;
  const path = ['spec', 'runtime'];
  const runtimeName = valueAt(document, path);
  const isNamed = typeof runtimeName === 'string' && runtimeName !== '';
  const runtime = isNamed ? besideFile(file, runtimeName) : fallback;
  // Unusable entries do not prevent opening, so that names are still checked.
  const opened = { ...read, ...(isNamed && { overlays: [] }), refusesUnusable: false };
  const loaded = loadIfReadable(runtime, opened);
  const config = loaded instanceof RuntimeError ? undefined : loaded.config;
  const position = document.positionOf(path);
  // The file reports a missing runtime as a warning; here it is an error.
  const isOfRuntime = ({ line, column, severity }: Problem) =>
    severity === 'warning' && line === position.line && column === position.column;
  const problems = check(file, config).filter((problem) => !isNamed || !isOfRuntime(problem));
  const ofRuntime =
    loaded instanceof RuntimeError
      ? isNamed && {
          severity: 'error' as const,
          message: `runtime: ${loaded.message}`,
          hint: nearFileHint(String(runtimeName), dirname(file)) ?? missingHint,
        }
      : warnOfRuntime(runtime, loaded, unchecked);
  return sortProblems([
    ...problems,
    ...(document.value === undefined ? [] : findUnevaluated(document)),
    ...(ofRuntime ? [{ ...position, ...ofRuntime }] : []),
  ]);
}

const missingHint = 'Check the path; it is relative to the folder of this file.';

function loadIfReadable(file: string, read: ReadOptions): LoadedConfig | RuntimeError {
  try {
    return readConfig(file, read);
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code === 'FILE_UNREADABLE') return error;
    throw thrown;
  }
}

function warnOfRuntime(file: string, loaded: LoadedConfig, unchecked: string) {
  const errors = loaded.problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return undefined;
  return {
    severity: 'warning' as const,
    about: 'runtime' as const,
    message: `runtime: ${file} has ${errors === 1 ? 'an error' : `${errors} errors`}, so the ${unchecked} are not checked`,
    hint: `Run \`signalbox validate ${file}\`.`,
  };
}
