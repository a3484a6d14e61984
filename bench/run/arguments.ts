import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface Asked {
  /** Names of benches, or beginnings of ids of lines; none asks for all. */
  readonly names: readonly string[];
  readonly short: boolean;
  readonly list: boolean;
  readonly help: boolean;
  readonly check: boolean;
  readonly record: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** Where results are written. */
  readonly json?: string | undefined;
  /** The page whose figures are replaced. */
  readonly table?: string | undefined;
  /** Results that were written before, in whose place nothing is measured. */
  readonly from: readonly string[];
}

export const help = `npm run bench -- [NAME…] [options]

Measures each line side by side with its baseline, in one run. NAME is a bench, or the beginning of a line's id: server,
oneshot/python. Without one, all lines are measured.

  --rounds N      rounds of each line (5)
  --seconds S     time of one round of one way (0.5)
  --short         the lines that CI runs, in rounds of 0.15 s
  --check         fail when a ratio has fallen by more than a third against bench/recorded.json; a line that fell is
                  measured up to three times more
  --record        write the ratios to bench/recorded.json, under the class of this machine
  --json FILE     write the results
  --from FILE     read results that --json wrote, and measure nothing; may be given several times
  --table FILE    write the results into the marked block of a page: docs/reference/bench.md
  --list          the lines, and what else there is
  --help
`;

/** Reads the arguments; throws with a sentence when they are wrong. */
export function readArguments(words: readonly string[]): Asked {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string' },
      short: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      json: { type: 'string' },
      table: { type: 'string' },
      from: { type: 'string', multiple: true, default: [] },
    },
  });
  return {
    ...values,
    names: positionals,
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds ?? (values.short ? '0.15' : '0.5')),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    throw new Error(`--${name} takes a number above 0, not "${text}"`);
  return name === 'rounds' ? Math.ceil(value) : value;
}
