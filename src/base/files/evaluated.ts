import { basename } from 'node:path';

interface Evaluator {
  /** Short options that carry code, alone or last in a cluster (`-xec`); the code may follow in the same argument. */
  readonly letters?: string;
  /** Long options that carry code, in the next argument or after `=`; without dashes, in lower case. */
  readonly words?: readonly string[];
  /** The first operand if no option carries code, the first after such an option, or all from this index on. */
  readonly operands?: 'first' | 'behind option' | number;
  readonly fileOptions?: readonly string[];
  readonly valued?: readonly string[];
  readonly pairs?: readonly string[];
}

const shell: Evaluator = {
  letters: 'c',
  words: ['command', 'commands'],
  operands: 'behind option',
  valued: ['-o', '+o', '-O', '+O', '--rcfile', '--init-file'],
};
const node: Evaluator = {
  letters: 'ep',
  words: ['eval', 'print', 'import', 'require'],
  valued: ['-r', '--loader', '-C', '--conditions', '--env-file'],
};
const powershell: Evaluator = {
  words: ['c', 'command', 'e', 'ec', 'encodedcommand'],
  operands: 0,
  fileOptions: ['-f', '-file'],
};
const awk: Evaluator = {
  letters: 'e',
  words: ['source'],
  operands: 'first',
  fileOptions: ['-f', '--file'],
  valued: ['-v', '-F'],
};
const jq: Evaluator = {
  operands: 'first',
  fileOptions: ['-f', '--from-file'],
  valued: ['--indent'],
  pairs: ['--arg', '--argjson', '--slurpfile', '--rawfile'],
};
const editor: Evaluator = { letters: 'cS', words: ['cmd', 'eval', 'execute'] };

const evaluators: ReadonlyMap<string, Evaluator> = new Map(
  (
    [
      ['sh bash rbash dash ash zsh ksh mksh yash osh fish csh tcsh nu xonsh elvish', shell],
      [
        'su runuser sg script flock npx',
        { letters: 'c', words: ['command', 'call'], operands: Number.POSITIVE_INFINITY },
      ],
      ['nix-shell', { words: ['run', 'command'] }],
      ['pwsh powershell', powershell],
      ['cmd', { operands: 0 }],
      ['python pypy', { letters: 'c' }],
      ['node nodejs tsx ts-node bun', node],
      ['ruby perl raku', { letters: 'eEM', valued: ['-I', '-r'] }],
      ['php', { letters: 'rBRE', words: ['run', 'process-begin', 'process-code', 'process-end'] }],
      [
        'lua luajit Rscript R julia elixir iex racket groovy scala clojure clj ghc osascript expect guile',
        { letters: 'eEc', words: ['eval', 'print', 'expression'] },
      ],
      ['erl sbcl ecl emacs emacsclient mongosh mongo', { words: ['eval', 'execute', 'load'] }],
      ['vim vi nvim ex', editor],
      ['awk gawk mawk nawk', awk],
      ['sed gsed', { letters: 'e', words: ['expression'], operands: 'first', fileOptions: ['-f', '--file'] }],
      ['jq yq gojq jaq', jq],
      ['env', { letters: 'S', words: ['split-string'] }],
      ['gdb lldb', { letters: 'o', words: ['ex', 'eval-command', 'iex', 'one-line'] }],
      ['psql', { letters: 'c', words: ['command'] }],
      ['mysql mariadb', { letters: 'e', words: ['execute'] }],
      ['sqlite duckdb', { letters: 'c', words: ['cmd'], operands: 1 }],
      ['ssh dbclient', { operands: 1, valued: ['-i', '-p', '-l', '-o', '-F', '-J', '-L', '-R', '-D'] }],
      ['watch parallel make gmake entr xterm', { operands: 0 }],
    ] as const
  ).flatMap(([names, evaluator]) => names.split(' ').map((name): [string, Evaluator] => [name, evaluator])),
);

/** Indices of arguments that a known interpreter runs as code, also in `timeout 5 sh -c …`. */
export function evaluatedArguments(command: string, args: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [at, word] of [command, ...args].entries()) {
    const name = nameOf(word.replace(/^--entrypoint=/, ''));
    const verb = `${nameOf([command, ...args][at - 1] ?? '')} ${word}`;
    const evaluator =
      verb === 'deno eval' ? { operands: 0 } : verb === 'npm exec' ? shell : evaluators.get(name);
    if (evaluator === undefined) continue;
    const isEntrypoint = word.startsWith('--entrypoint=') || args[at - 2] === '--entrypoint';
    for (const each of evaluatedFrom(evaluator, args, isEntrypoint ? behindOperand(args, at) : at))
      found.add(each);
  }
  return found;
}

function nameOf(command: string): string {
  return basename(command.replaceAll('\\', '/'))
    .replace(/\.exe$/i, '')
    .replace(/[\d.]*$/, '');
}

function behindOperand(args: readonly string[], from: number): number {
  const operand = args.findIndex((arg, index) => index >= from && !arg.startsWith('-'));
  return operand === -1 ? args.length : operand + 1;
}

function evaluatedFrom(evaluator: Evaluator, args: readonly string[], from: number): number[] {
  const { letters = '', words = [], operands, fileOptions = [], valued = [], pairs = [] } = evaluator;
  const found: number[] = [];
  let hasCode = false;
  let count = 0;
  for (let at = from; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (fileOptions.some((option) => arg.toLowerCase() === option)) return found;
    const [, long, value] = /^(?:--?|\/)([\w-]+)(?:[=:]([\s\S]*))?$/.exec(arg) ?? [];
    const isWord = long !== undefined && words.includes(long.toLowerCase());
    const [, cluster = ''] = /^[-+]([A-Za-z][\s\S]*)$/.exec(arg) ?? [];
    const letter = [...cluster].findIndex((each) => letters.includes(each));
    if (isWord || letter !== -1) {
      hasCode = true;
      found.push(at);
      if (value !== undefined) continue;
      if (operands === 'behind option' || isFrom(operands)) continue;
      // If something follows the letter, the code is in the same argument.
      if (isWord || letter === [...cluster].length - 1) found.push(++at);
    } else if (arg !== '-' && /^[-+]/.test(arg) && arg !== '--') {
      if (pairs.includes(arg)) at += 2;
      else if (valued.some((option) => isValued(arg, option))) at += 1;
    } else if (arg !== '--') {
      if (operands === 'first') return hasCode ? found : [...found, at];
      if (operands === 'behind option') return hasCode ? [...found, at] : found;
      if (operands === undefined) return found;
      if (count >= operands) found.push(at);
      count += 1;
    }
  }
  return found;
}

function isFrom(operands: Evaluator['operands']): boolean {
  return typeof operands === 'number' && Number.isFinite(operands);
}

function isValued(arg: string, option: string): boolean {
  return (
    arg === option || (option.length === 2 && /^[-+][A-Za-z]+$/.test(arg) && arg.endsWith(option.charAt(1)))
  );
}
