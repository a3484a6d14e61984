import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../errors.ts';
import { buildConfig } from './build.ts';
import type { Problem, RuntimeConfig } from './config.ts';
import { readDocument } from './document.ts';
import { validate } from './validate.ts';

export interface LoadedConfig {
  /** Undefined exactly when one of the problems is an error. */
  readonly config: RuntimeConfig | undefined;
  /** In the order of the file: errors, warnings and notes. */
  readonly problems: readonly Problem[];
}

/**
 * Reads and checks a RuntimeConfig; commands are looked up on `searchPath`, a PATH. What the file says is
 * never thrown; throws FILE_UNREADABLE.
 */
export function loadConfig(file: string, searchPath: string): LoadedConfig {
  const folder = dirname(resolve(file));
  const document = readDocument(file);
  const problems = validate(document, { folder, searchPath });
  const isValid = problems.every(({ severity }) => severity !== 'error');
  return { config: isValid ? buildConfig(document, folder) : undefined, problems };
}

/** Like `loadConfig`, for callers that cannot go on without: throws CONFIG_INVALID with `details.problems`. */
export function requireConfig(file: string, searchPath: string): RuntimeConfig {
  const { config, problems } = loadConfig(file, searchPath);
  if (config) return config;
  const errors = problems.filter(({ severity }) => severity === 'error');
  throw new RuntimeError('CONFIG_INVALID', summarize(file, errors), { details: { problems } });
}

function summarize(file: string, errors: readonly Problem[]): string {
  const [first] = errors;
  if (!first) return `${file} is not valid`;
  const place = `${first.file}:${first.line}:${first.column} ${first.message}`;
  return errors.length === 1 ? place : `${place} (the first of ${errors.length} errors)`;
}
