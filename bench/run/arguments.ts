import { parseArgs } from 'node:util';

/** The parsed command line. */
export interface Asked {
  /** Names of benches, or prefixes of line ids. Empty means all. */
  readonly names: readonly string[];
  readonly short: boolean;
  readonly list: boolean;
  readonly help: boolean;
  readonly check: boolean;
  readonly record: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** The file to write results to. */
  readonly json?: string | undefined;
  /** The page whose figures to replace. */
  readonly table?: string | undefined;
  /** Numbers of cores for the table of one bench. Empty: no such table. */
  readonly cores: readonly number[];
  /** Files with earlier results. With these, nothing is measured. */
  readonly from: readonly string[];
}

export const help = `npm run bench -- [NAME…] [options]

Measures each line side by side with its baseline, in one run. NAME is a bench or the prefix of a line's id, such as
server or oneshot/python. Without NAME, all lines are measured.

  --cores N,N…    instead: pin the bench cores, or NAME, such as gateway-cores, to so many cores each with taskset,
                  and print one table
  --rounds N      rounds of each line (5; with --cores 3)
  --seconds S     duration of one round of one way (0.5)
  --short         measure only the short lines, in rounds of 0.15 s
  --check         fail if a ratio is more than a third below bench/recorded.json; such a line is first measured up to
                  three more times
  --record        write the ratios to bench/recorded.json, under the class of this machine
  --json FILE     write the results
  --from FILE     read results of --json instead of measuring; repeatable
  --table FILE    write the results into the marked block of a page: docs/reference/bench.md
  --list          list the lines and the other reports
  --help          print this text
`;

/** Throws an Error with a one-sentence message if the arguments are invalid. */
export function readArguments(words: readonly string[]): Asked {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      cores: { type: 'string' },
      rounds: { type: 'string' },
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
    cores: values.cores?.split(',').map((width) => positive('cores', width)) ?? [],
    rounds: positive('rounds', values.rounds ?? (values.cores === undefined ? '5' : '3')),
    seconds: positive('seconds', values.seconds ?? (values.short ? '0.15' : '0.5')),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    throw new Error(`--${name} takes a number above 0, not "${text}"`);
  return name === 'seconds' ? value : Math.ceil(value);
}
