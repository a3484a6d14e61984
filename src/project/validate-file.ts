import { hostEnv } from '../binding/env.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { loadPipeline, requirePipeline } from '../pipeline/file/load.ts';
import { findUnevaluatedInPipeline } from '../pipeline/file/validate.ts';
import { loadSuite, requireSuite } from '../suite/file/load.ts';
import { besideFile } from '../suite/file/paths.ts';
import { findUnevaluatedInSuite } from '../suite/validate/validate.ts';
import { readDocument, type YamlDocument } from '../yaml/document.ts';
import type { Problem } from '../yaml/problem.ts';
import { sortProblems } from '../yaml/problem.ts';
import { textAt, valueAt } from '../yaml/read.ts';
import { findNearest } from '../yaml/suggest.ts';

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
        return checkWithRuntime(document, fallback, {
          unchecked: 'types of the evals',
          check: checkSuite,
          findUnevaluated: findUnevaluatedInSuite,
        });
      case 'Pipeline':
        return checkWithRuntime(document, fallback, {
          unchecked: 'names in its steps',
          check: checkPipeline,
          findUnevaluated: findUnevaluatedInPipeline,
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

/**
 * The kind nearest to the `kind` of the file; RuntimeConfig for a file that is no mapping, undefined for
 * none.
 */
function kindOf(document: YamlDocument): Kind | undefined {
  if (!isObject(document.value)) return 'RuntimeConfig';
  const nearest = findNearest(textAt(document, ['kind']) ?? '', kinds);
  return kinds.find((kind) => kind === nearest);
}

/** The problems of a file of unknown kind: those of its YAML, and the kind. */
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
  /** Finds expressions in fields that are never evaluated. */
  readonly findUnevaluated: (document: YamlDocument) => readonly Problem[];
  readonly check: (file: string, config: Config) => readonly Problem[];
  /** What stays unchecked when the runtime has errors, for the message. */
  readonly unchecked: string;
}

function checkWithRuntime(
  document: YamlDocument,
  fallback: string,
  { check, findUnevaluated, unchecked }: CheckedWithRuntime,
): readonly Problem[] {
  const { file } = document;
  const path = ['spec', 'runtime'];
  const runtimeName = valueAt(document, path);
  const isNamed = typeof runtimeName === 'string' && runtimeName !== '';
  const runtime = isNamed ? besideFile(file, runtimeName) : fallback;
  const loaded = loadIfReadable(runtime);
  const config = loaded instanceof RuntimeError ? undefined : loaded.config;
  const position = document.positionOf(path);
  // A missing runtime is a warning of the file itself; here it is reported as an error instead.
  const isOfRuntime = ({ line, column, severity }: Problem) =>
    severity === 'warning' && line === position.line && column === position.column;
  const problems = check(file, config).filter((problem) => !isNamed || !isOfRuntime(problem));
  const ofRuntime =
    loaded instanceof RuntimeError
      ? isNamed && { severity: 'error' as const, message: `runtime: ${loaded.message}`, hint: missingHint }
      : warnOfRuntime(runtime, loaded, unchecked);
  return sortProblems([
    ...problems,
    ...(document.value === undefined ? [] : findUnevaluated(document)),
    ...(ofRuntime ? [{ ...position, ...ofRuntime }] : []),
  ]);
}

const missingHint = 'Check the path; it starts at the folder of this file.';

function load(file: string): LoadedConfig {
  return loadConfig(file, hostEnv()['PATH'] ?? '', { refusesUnusable: true });
}

/** The error when the file cannot be read. */
function loadIfReadable(file: string): LoadedConfig | RuntimeError {
  try {
    return load(file);
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code === 'FILE_UNREADABLE') return error;
    throw thrown;
  }
}

/** A warning, since the file may be run on another runtime. */
function warnOfRuntime(file: string, loaded: LoadedConfig, unchecked: string) {
  const errors = loaded.problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return undefined;
  return {
    severity: 'warning' as const,
    message: `runtime: ${file} has ${errors === 1 ? 'an error' : `${errors} errors`}, so the ${unchecked} are unchecked`,
    hint: `Run \`signalbox validate ${file}\`.`,
  };
}
