import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../base/errors.ts';
import type { YamlDocument } from '../base/yaml/document.ts';
import type { Problem } from '../base/yaml/problem.ts';
import { sortProblems } from '../base/yaml/problem.ts';
import { valueAt } from '../base/yaml/read.ts';
import { buildConfig } from './build/build.ts';
import { checkCommands } from './command/commands.ts';
import type { RuntimeConfig } from './config.ts';
import type { Variables } from './environment/fill.ts';
import { hideFilled } from './environment/hide.ts';
import { readEnvironment } from './environment/read.ts';
import { readForeignHooks } from './foreign/read.ts';
import { readConfigDocument } from './overlay/read.ts';
import type { ExecEntry } from './references.ts';
import { promptkitVersion } from './schema/schema.ts';
import { validate } from './validate.ts';

export interface LoadedConfig {
  /** Undefined exactly when one of the problems is an error. */
  readonly config: RuntimeConfig | undefined;
  /** In the order of the file: errors, warnings and notes. */
  readonly problems: readonly Problem[];
  /** With variables filled in and overlays laid over it. */
  readonly document: YamlDocument;
}

export interface LoadOptions {
  /** Whether what cannot be used, such as a missing program, is an error of the file, instead of a call that will fail. */
  readonly refusesUnusable?: boolean;
  /** Whether programs are not looked for: another machine has them. */
  readonly ignoresPrograms?: boolean;
  /** What `${env:NAME}` stands for. Default: nothing is set. */
  readonly env?: Variables;
  /** Files that are laid over the first, in this order: what they say wins. */
  readonly overlays?: readonly string[];
}

/**
 * Reads and checks a RuntimeConfig and its imports. Commands are looked up on `searchPath`, a PATH; faults in
 * the file are problems, not thrown. Throws FILE_UNREADABLE.
 */
export function loadConfig(
  file: string,
  searchPath: string,
  { refusesUnusable = false, ignoresPrograms = false, env = {}, overlays = [] }: LoadOptions = {},
): LoadedConfig {
  const folder = dirname(resolve(file));
  const written = readConfigDocument(file, overlays);
  const environment = readEnvironment(written, folder, env);
  const { document } = environment.filled;
  const surroundings = { folder, searchPath, overlays };
  const foreign = readForeignHooks(document, surroundings);
  // PromptKit’s loader accepts what cannot be used.
  const isRefused = refusesUnusable && valueAt(document, ['apiVersion']) !== promptkitVersion;
  const unusable = isRefused ? 'error' : 'warning';
  /** The one place that decides what a program that is not there means. */
  const weigh = ({ about, ...problem }: Problem): Problem[] => {
    if (about === undefined) return [problem];
    if (ignoresPrograms) return [];
    return [{ ...problem, severity: isRefused ? 'error' : problem.severity }];
  };
  const found = [...validate(document, surroundings, { written, unusable }), ...foreign.problems].flatMap(
    weigh,
  );
  const problems = sortProblems([...environment.problems, ...found.filter(environment.isOwn)]).map(
    hideFilled(environment.filled),
  );
  if (problems.some(({ severity }) => severity === 'error')) return { config: undefined, problems, document };
  const config = buildConfig(document, folder, foreign);
  const { used } = environment;
  const more = { ...(used && { environment: used }), ...(overlays.length > 0 && { overlays }) };
  return { config: { ...config, ...more }, problems, document };
}

/** Looks again, now, which of these entries of a config cannot start: each is an error. Throws FILE_UNREADABLE. */
export function findUnstartable(
  { file, folder, overlays = [] }: Pick<RuntimeConfig, 'file' | 'folder' | 'overlays'>,
  env: Variables,
  isChecked: (entry: ExecEntry) => boolean,
): Problem[] {
  const { filled } = readEnvironment(readConfigDocument(file, overlays), folder, env);
  return checkCommands(filled.document, { folder, searchPath: env['PATH'] ?? '' }, isChecked)
    .map(hideFilled(filled))
    .map((problem) => ({ ...problem, severity: 'error' }));
}

/** Like `loadConfig`, for callers that cannot go on without: throws CONFIG_INVALID with `details.problems`. */
export function requireConfig(file: string, searchPath: string, options: LoadOptions = {}): RuntimeConfig {
  const { config, problems } = loadConfig(file, searchPath, options);
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
