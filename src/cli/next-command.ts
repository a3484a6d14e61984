import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path';
import type { Invocation } from './invocation.ts';
import type { RecordingFlags } from './recording.ts';

/**
 * Returns `signalbox` if PATH has it, else `npx signalbox`. Ignores node_modules/.bin, which npm adds only for its
 * children.
 */
export function commandName({ PATH = '' }: Invocation['env']): string {
  const folders = PATH.split(delimiter).filter((folder) => !/^$|node_modules\/\.bin\/?$/.test(folder));
  return folders.some((folder) => isExecutable(join(folder, 'signalbox'))) ? 'signalbox' : 'npx signalbox';
}

/** Replaces quoted commands, such as `signalbox validate`, with ones for the user's shell. */
export function withCommandName(text: string, env: Invocation['env']): string {
  return text.includes(QUOTED) ? text.replaceAll(QUOTED, `\`${commandName(env)} `) : text;
}

const QUOTED = '`signalbox ';

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface NextCommands {
  readonly approve: (id: string) => string;
  readonly reject: (id: string) => string;
  readonly respond: (id: string) => string;
  /** Replaces `approve` and `respond` for a question. */
  readonly answer: (id: string) => string;
  readonly resume: (run: string) => string;
  readonly retry: (run: string) => string;
}

interface ConfigFiles {
  readonly file: string;
  readonly overlays: readonly string[];
  /** The address of a console, in place of the files. */
  readonly remote?: string | undefined;
}

/**
 * `config`: the RuntimeConfig file of the run. Omits --config for ./runtime.yaml, the default. The command that resumes
 * the run includes its --record and --replay.
 */
export function nextCommands(
  { cwd, env }: Pick<Invocation, 'cwd' | 'env'>,
  config: ConfigFiles,
  { replay, record }: RecordingFlags = {},
): NextCommands {
  const option = configOption(cwd, config);
  const name = commandName(env);
  const recordings = `${fileOption('--replay', replay)}${fileOption('--record', record)}`;
  return {
    approve: (id) => `${name} pending approve ${id}${option}`,
    reject: (id) => `${name} pending reject ${id} --reason REASON${option}`,
    respond: (id) => `${name} pending respond ${id} --result JSON${option}`,
    answer: (id) => `${name} pending answer ${id} --value JSON${option}`,
    resume: (run) => `${name} runs resume ${run}${recordings}${option}`,
    retry: (run) => `${name} runs retry ${run}${recordings}${option}`,
  };
}

export function nextEvalCommands(
  { cwd, env }: Pick<Invocation, 'cwd' | 'env'>,
  config: ConfigFiles,
): { readonly html: (run: string) => string } {
  return { html: (run) => `${commandName(env)} eval html ${run}${configOption(cwd, config)}` };
}

function configOption(cwd: string, { file, overlays, remote }: ConfigFiles): string {
  if (remote !== undefined) return ` --remote ${quote(remote)}`;
  const files = [file, ...overlays].map((each) => resolve(cwd, each));
  if (files.length === 1 && files[0] === resolve(cwd, 'runtime.yaml')) return '';
  return files.map((each) => fileOf(cwd, each)).join('');
}

function fileOf(cwd: string, file: string): string {
  const near = relative(cwd, file);
  return ` --config ${quote(near.startsWith('..') || isAbsolute(near) ? file : near)}`;
}

function fileOption(name: string, file: string | undefined): string {
  return file === undefined ? '' : ` ${name} ${quote(file)}`;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
