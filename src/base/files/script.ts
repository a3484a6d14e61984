import { basename } from 'node:path';

/** The index of the argument that names an interpreter's script; undefined without one. */
export function findScript(command: string, args: readonly string[]): number | undefined {
  const interpreter = interpreters.get(nameOf(command));
  if (!interpreter) return undefined;
  const { inline, valued = [], verb } = interpreter;
  let index = verb !== undefined && args[0] === verb ? 1 : 0;
  if (verb !== undefined && index === 0 && interpreter.needsVerb) return undefined;
  for (; index < args.length; index++) {
    const argument = args[index] ?? '';
    if (argument === '--') return looksLikeScript(args[index + 1]) ? index + 1 : undefined;
    if (!argument.startsWith('-') || argument === '-') return looksLikeScript(argument) ? index : undefined;
    if (inline.some((flag) => matchesFlag(argument, flag))) return undefined;
    if (valued.includes(argument)) index += 1;
  }
  return undefined;
}

/** Whether an argument is the program text, as in `sh -c` and `node -e`. */
export function takesInlineCode(command: string, args: readonly string[]): boolean {
  const { inline = [] } = interpreters.get(nameOf(command)) ?? {};
  return args.some((argument) => inline.some((flag) => matchesFlag(argument, flag)));
}

export function isShell(command: string): boolean {
  return interpreters.get(nameOf(command)) === shell;
}

function nameOf(command: string): string {
  return basename(command).replace(/[\d.]*$/, '');
}

interface Interpreter {
  readonly inline: readonly string[];
  readonly valued?: readonly string[];
  readonly verb?: string;
  readonly needsVerb?: boolean;
}

const shell: Interpreter = { inline: ['-c', '-s'], valued: ['-o', '+o', '-O'] };
const python: Interpreter = { inline: ['-c', '-m'], valued: ['-W', '-X'] };
const node: Interpreter = {
  inline: ['-e', '-p', '-pe', '--eval', '--print', '--test', '--run', '-i'],
  valued: ['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions'],
};

const interpreters: ReadonlyMap<string, Interpreter> = new Map(
  Object.entries({
    sh: shell,
    bash: shell,
    dash: shell,
    zsh: shell,
    ksh: shell,
    python,
    pypy: python,
    node,
    nodejs: node,
    tsx: node,
    'ts-node': node,
    ruby: { inline: ['-e', '-S'], valued: ['-I', '-r'] },
    perl: { inline: ['-e', '-E'], valued: ['-I'] },
    php: { inline: ['-r'], valued: ['-c', '-d', '-f'] },
    lua: { inline: ['-e'], valued: ['-l'] },
    Rscript: { inline: ['-e'] },
    deno: {
      inline: [],
      valued: ['-c', '--config', '--import-map', '--env-file'],
      verb: 'run',
      needsVerb: true,
    },
    uv: {
      inline: ['-m'],
      valued: ['--with', '--python', '-p', '--project', '--directory', '--env-file', '--extra', '--group'],
      verb: 'run',
      needsVerb: true,
    },
    bun: { inline: ['-e', '-p', '--eval', '--print'], valued: ['-r', '--preload'], verb: 'run' },
  }),
);

/** Short flags may be combined (`-xc`); long ones may carry their value (`--eval=…`). */
function matchesFlag(argument: string, flag: string): boolean {
  if (flag.startsWith('--')) return argument === flag || argument.startsWith(`${flag}=`);
  if (argument.startsWith('--')) return false;
  return (
    argument === flag ||
    (flag.length === 2 && /^-[A-Za-z]+$/.test(argument) && argument.endsWith(flag.charAt(1)))
  );
}

function looksLikeScript(argument: string | undefined): boolean {
  return (
    argument !== undefined && !argument.includes('://') && (argument.includes('/') || /\.\w+$/.test(argument))
  );
}
