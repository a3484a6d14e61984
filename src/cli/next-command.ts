import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path';
import type { Invocation } from './invocation.ts';
import type { RecordingFlags } from './recording.ts';

/** `signalbox` where PATH has it, else `npx signalbox`. npm adds node_modules/.bin for its children alone. */
export function commandName({ PATH = '' }: Invocation['env']): string {
  const folders = PATH.split(delimiter).filter((folder) => !/^$|node_modules\/\.bin\/?$/.test(folder));
  return folders.some((folder) => isExecutable(join(folder, 'signalbox'))) ? 'signalbox' : 'npx signalbox';
}

/** The text with its quoted commands, such as `signalbox validate`, as the user's shell takes them. */
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

/** The commands that decide about a call and go on with its run, ready to be copied into a shell. */
export interface NextCommands {
  readonly approve: (id: string) => string;
  readonly reject: (id: string) => string;
  readonly respond: (id: string) => string;
  /** Of a question, in place of the others but `reject`. */
  readonly answer: (id: string) => string;
  readonly resume: (run: string) => string;
  readonly retry: (run: string) => string;
}

interface ConfigFiles {
  readonly file: string;
  readonly overlays: readonly string[];
}

/**
 * `config` is the RuntimeConfig file of the run; --config is left out for ./runtime.yaml, the default.
 * --record and --replay of the run are part of the command that resumes it.
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

/** The commands that show a stored run of a suite. */
export function nextEvalCommands(
  { cwd, env }: Pick<Invocation, 'cwd' | 'env'>,
  config: ConfigFiles,
): { readonly html: (run: string) => string } {
  return { html: (run) => `${commandName(env)} eval html ${run}${configOption(cwd, config)}` };
}

function configOption(cwd: string, { file, overlays }: ConfigFiles): string {
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

/** As a POSIX shell reads it. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
