import { isAbsolute, relative, resolve } from 'node:path';
import type { Invocation } from './invocation.ts';
import type { RecordingFlags } from './recording.ts';

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

/** A RuntimeConfig file and those that are laid over it: a runtime, too. */
interface ConfigFiles {
  readonly file: string;
  readonly overlays: readonly string[];
}

/**
 * `config` is the RuntimeConfig file of the run; --config is left out for ./runtime.yaml, the default.
 * --record and --replay of the run are part of the command that resumes it.
 */
export function nextCommands(
  { cwd }: Pick<Invocation, 'cwd'>,
  config: ConfigFiles,
  { replay, record }: RecordingFlags = {},
): NextCommands {
  const option = configOption(cwd, config);
  const recordings = `${fileOption('--replay', replay)}${fileOption('--record', record)}`;
  return {
    approve: (id) => `signalbox pending approve ${id}${option}`,
    reject: (id) => `signalbox pending reject ${id} --reason REASON${option}`,
    respond: (id) => `signalbox pending respond ${id} --result JSON${option}`,
    answer: (id) => `signalbox pending answer ${id} --value JSON${option}`,
    resume: (run) => `signalbox runs resume ${run}${recordings}${option}`,
    retry: (run) => `signalbox runs retry ${run}${recordings}${option}`,
  };
}

/** The commands that show a stored run of a suite. */
export function nextEvalCommands(
  { cwd }: Pick<Invocation, 'cwd'>,
  config: ConfigFiles,
): { readonly html: (run: string) => string } {
  return { html: (run) => `signalbox eval html ${run}${configOption(cwd, config)}` };
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
