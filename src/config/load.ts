import { dirname, join, resolve } from 'node:path';
import { createSecretHider, redactedMark } from '../base/text/hide-secrets.ts';
import type { YamlDocument } from '../base/yaml/document.ts';
import {
  configInvalid,
  type Problem,
  placeKey,
  type SourceLocation,
  sortProblems,
} from '../base/yaml/problem.ts';
import { valueAt } from '../base/yaml/read.ts';
import { foreignDialects } from '../dialects/registry.ts';
import { type HostEnv, hostEnv } from '../process/env.ts';
import { buildConfig } from './build/build.ts';
import { type ForeignContext, readForeignEntries } from './build/foreign-entries.ts';
import { checkCommands } from './command/commands.ts';
import type { ForeignHookConfig, ImportConfig, RuntimeConfig } from './config.ts';
import type { FilledDocument, Variables } from './environment/fill.ts';
import { readEnvironment } from './environment/read.ts';
import { readDefaults } from './exec.ts';
import { readImports } from './import/imports.ts';
import { readConfigDocument } from './overlay/read.ts';
import type { ExecEntry } from './references.ts';
import { promptkitVersion } from './schema.ts';
import { readStateStore, stateFolderOf } from './store.ts';
import { validate } from './validate.ts';

export interface LoadedConfig {
  /** Undefined exactly if a problem is an error. */
  readonly config: RuntimeConfig | undefined;
  /** Errors, warnings and notes in file order. */
  readonly problems: readonly Problem[];
  /** With filled-in variables and overlays. */
  readonly document: YamlDocument;
}

export interface LoadOptions {
  /** Reports unusable parts, such as a missing program, as errors of the file instead of failing later calls. */
  readonly refusesUnusable?: boolean;
  /** Skips the search for programs, which another machine has. */
  readonly ignoresPrograms?: boolean;
  /** The variables for `${env:NAME}`. Default: none. */
  readonly env?: Variables;
  /** Files that override the first, in order. */
  readonly overlays?: readonly string[];
  /** The file and its overlays, if they are read already. */
  readonly written?: YamlDocument;
}

/** Reads a RuntimeConfig and its imports. `searchPath` is a PATH. Throws FILE_UNREADABLE; faults become problems. */
export function loadConfig(
  file: string,
  searchPath: string,
  {
    refusesUnusable = false,
    ignoresPrograms = false,
    env = {},
    overlays = [],
    written = readConfigDocument(file, overlays),
  }: LoadOptions = {},
): LoadedConfig {
  const folder = dirname(resolve(file));
  const environment = readEnvironment(written, folder, env);
  const { document } = environment.filled;
  const surroundings = { folder, searchPath, overlays };
  const foreign = readForeignHooks(document, surroundings);
  // PromptKit's loader accepts unusable parts.
  const isRefused = refusesUnusable && valueAt(document, ['apiVersion']) !== promptkitVersion;
  const unusable = isRefused ? 'error' : 'warning';
  /** The only place that decides how severe a missing program is. */
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

/** Checks again which of these entries cannot start now; each is an error. Throws FILE_UNREADABLE. */
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

/** Like `loadConfig`, but throws CONFIG_INVALID with `details.problems` if there is an error. */
export function requireConfig(file: string, searchPath: string, options: LoadOptions = {}): RuntimeConfig {
  return configOf(file, loadConfig(file, searchPath, options));
}

/** Throws CONFIG_INVALID with `details.problems` if there is an error. */
export function configOf(file: string, { config, problems }: LoadedConfig): RuntimeConfig {
  if (config) return config;
  throw configInvalid(file, problems);
}

/** Hides values of variables in a problem; at a filled-in value, also hides every quotation of it. */
function hideFilled({ document, filled, secrets }: FilledDocument): (problem: Problem) => Problem {
  if (secrets.size === 0) return (problem) => problem;
  const hider = createSecretHider(secrets.values());
  const places = new Map(
    filled
      .filter(({ names }) => names.some((name) => secrets.has(name)))
      .map(({ path, text }) => [placeKey(document.positionOf(path)), text]),
  );
  return (problem) => {
    const { message, hint } = problem;
    const text = places.get(placeKey(problem));
    const show = (told: string) => hider.text(text === undefined ? told : hideQuoted(told, text));
    return { ...problem, message: show(message), ...(hint === undefined ? {} : { hint: show(hint) }) };
  };
}

/** Messages shorten quotations and fold white space, so the exact value may not occur in them. */
function hideQuoted(told: string, value: string): string {
  const shown = told
    .replace(/\(got: .*\)/s, `(got: ${redactedMark})`)
    .replace(/the (string|number) .*/s, `the $1 ${redactedMark}`);
  const folded = value.replaceAll(/\s+/g, ' ');
  for (const whole of [value, folded]) {
    for (let length = Math.min(whole.length, LONGEST_QUOTE); length >= SHORTEST_QUOTE; length -= 1) {
      const piece = whole.slice(0, length);
      if (shown.includes(piece)) return shown.replaceAll(piece, redactedMark);
    }
  }
  return shown;
}

const LONGEST_QUOTE = 300;
/** Shorter prefixes reveal little and may occur in the message by chance. */
const SHORTEST_QUOTE = 4;

interface ForeignHooks {
  readonly foreign: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

function readForeignHooks(
  document: YamlDocument,
  { folder, searchPath, overlays }: Pick<ForeignContext, 'folder' | 'searchPath' | 'overlays'>,
): ForeignHooks {
  const store = readStateStore(document, folder);
  const stateFolder = stateFolderOf(store) ?? join(folder, '.signalbox');
  const context = { folder, searchPath, overlays, stateFolder, defaults: readDefaults(document) };
  const { hooks, imports, problems } = readImports(document, context);
  const foreign = [...readForeignEntries(document, context), ...hooks];
  return { foreign, imports, problems: [...problems, ...findFailsOpen(foreign, imports)] };
}

/** One note for each hook that lets events pass when it fails, as its own system does. */
function findFailsOpen(hooks: readonly ForeignHookConfig[], imports: readonly ImportConfig[]): Problem[] {
  const ofHooks = hooks.flatMap((hook): Problem[] => {
    const causes = hook.onFailure === 'deny' ? undefined : foreignDialects[hook.dialect].failsOpen(hook);
    return causes === undefined ? [] : [note(hook.source, `hooks[${hook.name}]`, causes)];
  });
  const ofImports = imports.flatMap(({ dialect, onFailure, position, pluginsDir }): Problem[] => {
    const causes = foreignDialects[dialect].plugins?.failsOpen;
    if (onFailure !== undefined || causes === undefined) return [];
    return [note(position, `the plugins in ${pluginsDir}`, causes)];
  });
  return [...ofHooks, ...ofImports];
}

function note({ file, line, column }: SourceLocation, who: string, causes: string): Problem {
  const message = `${who}: lets the event pass when it fails: ${causes}`;
  return {
    severity: 'note',
    file,
    line,
    column,
    message,
    hint: 'Set `on_failure: deny` to deny the event instead.',
  };
}

export interface ReadOptions extends LoadOptions {
  readonly env?: HostEnv;
}

/** Reports unusable parts as errors by default. Throws FILE_UNREADABLE. */
export function readConfig(file: string, { env = hostEnv(), ...options }: ReadOptions = {}): LoadedConfig {
  return loadConfig(file, env['PATH'] ?? '', { refusesUnusable: true, env, ...options });
}
