import { parseArgs } from 'node:util';
import { RuntimeError } from '../../../base/errors.ts';
import { compileExclusivePattern } from '../../../base/text/safe-pattern.ts';
import { findNearest } from '../../../base/text/suggest.ts';
import { type Origin, origins } from '../guard.ts';
import type { ScoreText } from '../judge/ask-judge.ts';
import type { Answerer, Invocation } from './program.ts';

/**
 * One option: its syntax, the word for its value in `--help`, its description, and its variable if that is not
 * `SIGNALBOX_LINKS_ALLOW_HOST` for `--allow-host` of links. `list` may be repeated and is split at commas and blanks.
 * `lines` and `values` may be repeated and are not split; the variable of `values` is one value. `variable` is read
 * from the environment only.
 */
type OptionRow = readonly [
  kind: 'text' | 'list' | 'lines' | 'values' | 'variable' | 'flag',
  word: string,
  help: string,
  variable?: string,
];

/** The given options; an argument wins over its variable. */
export interface Options<Name extends string> {
  text(name: Name): string | undefined;
  list(name: Name): readonly string[];
  values(name: Name): readonly string[];
  isArgument(name: Name): boolean;
}

export interface GuardHost {
  readonly env: Invocation['env'];
  readonly openKey: (file: string) => Uint8Array;
  /** Opens a provider as a judge. `config`: a runtime file and its overlays. */
  readonly openJudge: (config: readonly string[], provider: string) => ScoreText;
}

interface GuardProgram<Name extends string, Settings> {
  readonly program: string;
  readonly usage?: string;
  readonly about: string;
  readonly options: Readonly<Record<Name, OptionRow>>;
  readonly columns: readonly [option: number, variable: number];
  readonly notes: () => string;
  /** Throws USAGE. */
  readonly read: (options: Options<Name>, host: GuardHost) => Settings;
  /** Absent: the program does not answer payloads. */
  readonly open?: (settings: Settings) => Answerer;
}

export function defineGuard<const Name extends string, Settings>(guard: GuardProgram<Name, Settings>) {
  const readSettings = (argv: readonly string[], host: GuardHost): Settings =>
    guard.read(readOptions(guard, argv, host.env), host);
  const { open } = guard;
  return {
    help: () => helpOf(guard),
    readSettings,
    /** Throws USAGE. */
    open: open && ((argv: readonly string[], host: GuardHost) => open(readSettings(argv, host))),
  };
}

function helpOf({
  program,
  usage,
  about,
  options,
  columns,
  notes,
}: Omit<GuardProgram<string, never>, 'read' | 'open'>): string {
  const [first, second] = columns;
  const rows = Object.entries(options).flatMap(([name, row]) => {
    const [kind, word, help] = row;
    const option = kind === 'variable' ? '' : `--${name} ${word}`;
    const variable = kind === 'flag' ? '' : variableOf(program, name, row);
    return help
      .split('\n')
      .map(
        (line, at) =>
          `  ${(at === 0 ? option : '').padEnd(first)}${(at === 0 ? variable : '').padEnd(second)}${line}`,
      );
  });
  return `Usage: ${program} ${usage ?? '[options]'}

${about}

Options, each with its environment variable; an option overrides its variable:
${rows.join('\n')}

${notes()}`;
}

function readOptions<Name extends string>(
  { program, options: rows }: Pick<GuardProgram<Name, never>, 'program' | 'options'>,
  argv: readonly string[],
  env: GuardHost['env'],
): Options<Name> {
  const arguments_ = parseArguments(program, argv, rows);
  const given = (name: Name): readonly string[] => {
    const words = arguments_[name];
    if (words !== undefined) return [words].flat().map(String);
    const variable = env[variableOf(program, name, rows[name])] ?? '';
    return variable === '' ? [] : rows[name][0] === 'lines' ? variable.split('\n') : [variable];
  };
  return {
    text: (name) => given(name).at(-1),
    list: (name) =>
      given(name)
        .flatMap((text) => (rows[name][0] === 'list' ? text.split(/[\s,]+/) : [text]))
        .map((text) => text.trim())
        .filter((text) => text !== ''),
    values: given,
    isArgument: (name) => arguments_[name] !== undefined,
  };
}

function parseArguments(
  program: string,
  argv: readonly string[],
  rows: Readonly<Record<string, OptionRow>>,
): Readonly<Record<string, unknown>> {
  const options = Object.entries(rows)
    .filter(([, [kind]]) => kind !== 'variable' && kind !== 'flag')
    .map(([name, [kind]]) => [name, { type: 'string', multiple: kind !== 'text' }] as const);
  try {
    return parseArgs({ args: [...argv], options: Object.fromEntries(options) }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    const [, word] = /^Unknown option '--([\w-]+)'/.exec(message) ?? [];
    const nearest =
      word &&
      findNearest(
        word,
        options.map(([name]) => name),
      );
    throw usageError(
      message,
      nearest ? `did you mean \`--${nearest}\`?` : `Run ${program} --help to see the arguments.`,
    );
  }
}

function variableOf(program: string, name: string, [, , , own = name]: OptionRow): string {
  return `${program}-${own}`.toUpperCase().replaceAll('-', '_');
}

/** Throws USAGE for a word that is not in the list. */
export function oneOf<Word extends string>(what: string, word: string, words: readonly Word[]): Word {
  const known = words.find((candidate) => candidate.toLowerCase() === word.toLowerCase());
  if (known !== undefined) return known;
  throw usageError(`there is no ${what} "${word}"`, `Choose from ${words.join(', ')}.`);
}

export function readScan(
  options: Options<'scan'>,
  standard: readonly Origin[] = origins,
): (origin: Origin) => boolean {
  const named = options.list('scan').map((word) => oneOf('origin', word, origins));
  return (origin) => (named.length === 0 ? standard : named).includes(origin);
}

export function isUpTo(most: number, text: string): boolean {
  const value = Number(text);
  return /^\d*\.?\d+$/.test(text) && value > 0 && value <= most;
}

export function usageError(message: string, hint: string): RuntimeError {
  return new RuntimeError('USAGE', message, { hint });
}

/** Compiles a list of values and `/patterns/` to a test. Patterns must match the whole text. Throws USAGE. */
export function readAllowList(entries: readonly string[]): (text: string) => boolean {
  const rules = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  const values = new Set(rules.filter((rule) => !isPattern(rule)).map((rule) => rule.toLowerCase()));
  const patterns = rules.filter(isPattern).map(compile);
  return (text) => {
    if (values.has(text.toLowerCase())) return true;
    return text.length <= maxLength && patterns.some((pattern) => pattern.test(text));
  };
}

const maxLength = 1000;

function isPattern(rule: string): boolean {
  return /^\/.+\/[iu]*$/s.test(rule);
}

function compile(rule: string): ReturnType<typeof compileExclusivePattern> {
  const end = rule.lastIndexOf('/');
  const flags = new Set([...rule.slice(end + 1), 'u']);
  try {
    return compileExclusivePattern(`^(?:${rule.slice(1, end)})$`, [...flags].join(''));
  } catch {
    const hint = 'A pattern is a JavaScript regular expression between slashes, with an optional flag i.';
    throw new RuntimeError('USAGE', `the pattern ${rule} of --allow is not valid`, { hint });
  }
}
