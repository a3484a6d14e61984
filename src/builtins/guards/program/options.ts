import { parseArgs } from 'node:util';
import { RuntimeError } from '../../../base/errors.ts';
import { findNearest } from '../../../base/text/suggest.ts';
import type { ScoreText } from '../judge/ask-judge.ts';
import type { Invocation } from './program.ts';

/** How an option is given: `list` may be repeated and has commas, `lines` may be repeated and has none. */
export type OptionKind = 'text' | 'list' | 'lines';

/** The options that were given; an argument wins over its variable, `SIGNALBOX_LINKS_ALLOW` for `--allow` of links. */
export interface Options<Name extends string> {
  /** What was given; undefined where nothing was. */
  text(name: Name): string | undefined;
  /** The words of a list; empty where nothing was given. */
  list(name: Name): readonly string[];
}

/** What a program reads its options from. */
export interface OptionSource {
  /** `signalbox-links`. */
  readonly program: string;
  readonly argv: Invocation['argv'];
  readonly env: Invocation['env'];
}

/** What the settings of a guard are read with, beside its arguments. */
export interface GuardHost<Judge = ScoreText> {
  readonly env: Invocation['env'];
  /** The key in a file, which is made if it is missing. */
  readonly openKey: (file: string) => Uint8Array;
  /** A provider of a runtime file, and of those laid over it, as a judge. */
  readonly openJudge: (config: readonly string[], provider: string) => Judge;
}

/** Reads the options of a program. Throws USAGE for one that it does not have. */
export function readOptions<Name extends string>(
  source: OptionSource,
  kinds: Readonly<Record<Name, OptionKind>>,
): Options<Name> {
  const values = parse(source, kinds);
  const given = (name: Name): readonly string[] => {
    const words = values[name];
    if (words !== undefined) return [words].flat().map(String);
    const variable = source.env[variableOf(source.program, name)] ?? '';
    return variable === '' ? [] : kinds[name] === 'lines' ? variable.split('\n') : [variable];
  };
  return {
    text: (name) => given(name).at(-1),
    list: (name) =>
      given(name)
        .flatMap((text) => (kinds[name] === 'list' ? text.split(/[\s,]+/) : [text]))
        .map((text) => text.trim())
        .filter((text) => text !== ''),
  };
}

function parse(
  { program, argv }: OptionSource,
  kinds: Readonly<Record<string, OptionKind>>,
): Readonly<Record<string, unknown>> {
  const rows = Object.entries(kinds).map(
    ([name, kind]) => [name, { type: 'string', multiple: kind !== 'text' }] as const,
  );
  try {
    return parseArgs({ args: [...argv], options: Object.fromEntries(rows) }).values;
  } catch (error) {
    // Node's message names the argument and what to do.
    const message = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    throw usageError(
      message,
      nearOptionHint(message, Object.keys(kinds)) ?? `Run ${program} --help to see the arguments.`,
    );
  }
}

/** The option that was probably meant by the one of Node's message. */
export function nearOptionHint(message: string, names: readonly string[]): string | undefined {
  const [, word] = /^Unknown option '--([\w-]+)'/.exec(message) ?? [];
  const nearest = word === undefined ? undefined : findNearest(word, names);
  return nearest === undefined ? undefined : `did you mean \`--${nearest}\`?`;
}

/** `SIGNALBOX_LINKS_ALLOW_TOPIC`. */
function variableOf(program: string, name: string): string {
  return `${program}-${name}`.toUpperCase().replaceAll('-', '_');
}

/** One of the words that there are. Throws USAGE for another. */
export function oneOf<Word extends string>(what: string, word: string, words: readonly Word[]): Word {
  const known = words.find((candidate) => candidate.toLowerCase() === word.toLowerCase());
  if (known !== undefined) return known;
  throw usageError(`there is no ${what} "${word}"`, `There are ${words.join(', ')}.`);
}

export function usageError(message: string, hint: string): RuntimeError {
  return new RuntimeError('USAGE', message, { hint });
}
