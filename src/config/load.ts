import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../errors.ts';
import { readDocument } from '../yaml/document.ts';
import type { Problem } from '../yaml/problem.ts';
import { sortProblems } from '../yaml/problem.ts';
import { buildConfig } from './build/build.ts';
import type { RuntimeConfig } from './config.ts';
import { readForeignHooks } from './foreign/read.ts';
import { validate } from './validate.ts';

export interface LoadedConfig {
  /** Undefined exactly when one of the problems is an error. */
  readonly config: RuntimeConfig | undefined;
  /** In the order of the file: errors, warnings and notes. */
  readonly problems: readonly Problem[];
}

export interface LoadOptions {
  /** Whether what can never be used, such as a script that cannot run, is an error of the file, instead of a call that will fail. */
  readonly refusesUnusable?: boolean;
}

/**
 * Reads and checks a RuntimeConfig and its imports. Commands are looked up on `searchPath`, a PATH; faults in
 * the file are problems, not thrown. Throws FILE_UNREADABLE.
 */
export function loadConfig(
  file: string,
  searchPath: string,
  { refusesUnusable = false }: LoadOptions = {},
): LoadedConfig {
  const folder = dirname(resolve(file));
  const document = readDocument(file);
  const surroundings = { folder, searchPath, refusesUnusable };
  const foreign = readForeignHooks(document, surroundings);
  const problems = sortProblems([...validate(document, surroundings), ...foreign.problems]);
  const isValid = problems.every(({ severity }) => severity !== 'error');
  return { config: isValid ? buildConfig(document, folder, foreign) : undefined, problems };
}

/** Like `loadConfig`, for callers that cannot go on without: throws CONFIG_INVALID with `details.problems`. */
export function requireConfig(file: string, searchPath: string): RuntimeConfig {
  const { config, problems } = loadConfig(file, searchPath);
  if (config) return config;
  const errors = problems.filter(({ severity }) => severity === 'error');
  throw new RuntimeError('CONFIG_INVALID', summarize(file, errors), { details: { problems } });
}

/** The first of the errors, and how many there are. */
export function summarize(file: string, errors: readonly Problem[]): string {
  const [first] = errors;
  if (!first) return `${file} is not valid`;
  const place = `${first.file}:${first.line}:${first.column} ${first.message}`;
  return errors.length === 1 ? place : `${place} (the first of ${errors.length} errors)`;
}
