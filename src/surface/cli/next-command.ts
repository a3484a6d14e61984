import { isAbsolute, relative, resolve } from 'node:path';

/** The commands that decide about a call and go on with its run, ready to be copied into a shell. */
export interface NextCommands {
  readonly approve: (id: string) => string;
  readonly reject: (id: string) => string;
  readonly respond: (id: string) => string;
  readonly resume: (run: string) => string;
}

/** `config` is the RuntimeConfig file of the run; the one that is taken anyway is not named. */
export function nextCommands(config: string): NextCommands {
  const option = configOption(config);
  return {
    approve: (id) => `signalbox pending approve ${id}${option}`,
    reject: (id) => `signalbox pending reject ${id} --reason REASON${option}`,
    respond: (id) => `signalbox pending respond ${id} --result JSON${option}`,
    resume: (run) => `signalbox runs resume ${run}${option}`,
  };
}

function configOption(config: string): string {
  const file = resolve(config);
  if (file === resolve('runtime.yaml')) return '';
  const near = relative(process.cwd(), file);
  return ` --config ${quote(near.startsWith('..') || isAbsolute(near) ? file : near)}`;
}

/** As a POSIX shell reads it. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
