import { RuntimeError } from '../../../base/errors.ts';
import type {
  Reporter,
  Runtime,
  RuntimeOptions,
  Selection,
  SuiteRunOptions,
} from '../../../runtime/runtime.ts';
import type { CommandContext, Flags } from '../../command.ts';
import { readWhole } from '../../input.ts';
import { nextEvalCommands } from '../../next-command.ts';
import type { Terminal } from '../../terminal.ts';

export const runOptions = {
  '--dataset <file>': 'read this file, glob pattern or URL instead of the suite’s dataset; - for stdin',
  '--provider <ids>': 'run the suite’s chat with these providers, such as a,b',
  '--filter <cel>': 'only rows for which this CEL expression is true, such as \'case.lang == "en"\'',
  '--tag <tag>': ['only cases with this tag; may be repeated', { isMany: true, default: [] }],
  '--sample <n>': 'only this many cases, chosen at random; the same seed gives the same cases',
  '--seed <n>': 'the seed of --sample (default: 0)',
  '--shard <i/n>': 'only the i-th of n parts of the dataset',
  '--max-cases <n>': 'stop after this many cases',
  '--keep-going': 'do not fail the run because of invalid rows',
  '--repeat <n>': 'run each case this many times',
  '--reducer <name>':
    'how to combine the scores of repeated runs: mean, median, mode, max, pass@K, at_least_K',
  '--retries <n>': 'retry a case this many times after a fault, never because of a score',
  '--timeout <duration>': 'the longest time for one run of a case, such as 30s',
  '--bail [n]': 'stop after this many failed cases (1 without a number)',
  '--resume [run]': 'continue an interrupted run; without an id, the latest run with the same options',
  '--again <cases>': [
    'judge the failed, the unscored or all cases of a stored run again, and store the results in that run',
    { choices: ['failed', 'unscored', 'all'] },
  ],
  '--workers': 'let the workers of a Postgres store judge the cases',
  '--no-store': 'do not store the run',
  '--max-cost <usd>': 'make no model call beyond this cost in US dollars, by the pricing of the providers',
  '--cache [folder]': 'reuse answers of the suite’s subject and of models, and store new ones',
  '--no-cache': 'neither reuse nor store answers',
  '--watch': 'run again whenever a suite, its config, dataset or programs change, until Ctrl-C',
  '--concurrency <n>': 'the number of processes that run at once',
  '--reporter <name[=file]>': [
    'the format of the report; may be repeated (default: table)',
    { isMany: true, default: [] },
  ],
  '--record <file>': 'record every exchange with a process or model in this file',
  '--replay <file>': 'answer from a recording; no process is started',
  '--live <name>': [
    'with --replay, run this entry instead of replaying it; may be repeated',
    { isMany: true, default: [] },
  ],
  '--show-failures <n>':
    'print this many failures on stderr as they happen (default: 10; none if a table follows in a log)',
  '--quiet': 'print no progress; a run that does not pass still prints its result',
} as const;

export type RunFlags = Omit<Flags<typeof runOptions>, 'cache'> & { readonly cache?: boolean | string };

/** Undefined: no failures are printed. The default in a log that ends with the table, which lists them. */
export function maxFailures(
  { showFailures }: RunFlags,
  reporters: readonly { readonly name: string; readonly file?: string }[],
  { stderr }: Terminal,
): number | undefined {
  const most = readWhole('--show-failures', showFailures, 0);
  if (most !== undefined) return most;
  const hasTable = reporters.some(({ name, file }) => name === 'table' && file === undefined);
  return hasTable && !stderr.isTTY ? undefined : 10;
}

/**
 * Returns the run options that print progress and failures on stderr before the output of `reporter`. `end` stops them
 * and prints where to see more.
 */
export async function openTelling(
  own: RunFlags,
  { invocation, options, terminal }: CommandContext,
  { runtime, reporter, failures }: Told,
) {
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { openProgress } = await loadResults();
  // A JSON log on stderr must not contain other lines.
  const isQuiet = own.quiet === true || options.json === true || runtime.logFormat === 'json';
  const progress = openProgress(terminal.stderr, {
    ...{ quiet: isQuiet, colour: terminal.hasErrorColour, failures },
  });
  let hint = '--show-failures N prints more, --reporter html=FILE shows all of them';
  const end = () => progress.end(hint);
  const told: Pick<SuiteRunOptions, 'reporter' | 'onStart' | 'onProgress'> = {
    reporter: {
      ...reporter,
      end: async (report) => {
        end();
        await reporter.end(report);
      },
    },
    onStart: (header) => {
      if (own.store && runtime.isDurable) hint = nextEvalCommands(invocation, runtime).html(header.run_id);
      progress.begin(header);
    },
    onProgress: (now, record) => {
      progress.update(now);
      if (record !== undefined && !record.passed) progress.failure(record);
    },
  };
  return { isQuiet, end, told };
}

interface Told {
  readonly runtime: Runtime;
  readonly reporter: Reporter;
  readonly failures: number | undefined;
}

export function cassetteOf({ record, replay, live, workers }: RunFlags): RuntimeOptions['cassette'] {
  const isAsked = record !== undefined || replay !== undefined || live.length > 0;
  if (isAsked && workers)
    throw new RuntimeError('USAGE', '--workers cannot be combined with --record or --replay');
  return isAsked ? { record, replay, live } : undefined;
}

/** Defaults to `table`. With --json, `json` is the last reporter. */
export function reportersOf({ reporter }: RunFlags, isJson: boolean): readonly string[] {
  if (isJson) return [...reporter, 'json'];
  return reporter.length === 0 ? ['table'] : reporter;
}

/** Throws USAGE if another reporter than that of --json, the last one, writes to stdout. */
export function refuseOtherStdoutReporter(
  reporters: readonly { readonly name: string; readonly file?: string }[],
): void {
  const other = reporters.slice(0, -1).find(({ file }) => file === undefined);
  if (other === undefined) return;
  const message = `--json and --reporter ${other.name} would both write to stdout`;
  throw new RuntimeError('USAGE', message, {
    hint: `Write --reporter ${other.name}=FILE, or leave out one of them.`,
  });
}

export async function readOptions(own: RunFlags): Promise<SuiteRunOptions> {
  const { parseDuration } = await import('../../../runtime/runtime.ts');
  const timeoutMs = own.timeout === undefined ? undefined : parseDuration(own.timeout);
  if (own.timeout !== undefined && timeoutMs === undefined) {
    const isNumber = Number(own.timeout) > 0;
    throw new RuntimeError('USAGE', `--timeout must be a duration such as 30s or 2m, not ${own.timeout}`, {
      hint: isNumber
        ? `Name the unit: ${own.timeout}s or ${own.timeout}m.`
        : 'Write it like 500ms, 30s or 2m.',
    });
  }
  return {
    dataset: own.dataset,
    providers: own.provider?.split(',').map((id) => id.trim()),
    select: readSelection(own),
    keepGoing: own.keepGoing,
    epochs: readWhole('--repeat', own.repeat),
    reducer: own.reducer,
    retries: readWhole('--retries', own.retries, 0),
    timeoutMs,
    bail: own.bail === true ? 1 : readWhole('--bail', own.bail),
    resume: own.resume,
    workers: own.workers,
    keep: own.store,
    cache: own.cache,
    maxCostUsd: readUsd('--max-cost', own.maxCost),
  };
}

function readUsd(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (/^\d*\.?\d+$/.test(text) && Number.isFinite(amount)) return amount;
  throw new RuntimeError('USAGE', `${option} must be an amount of US dollars, not ${text}`, {
    hint: `Write it as a number: ${option} 0.50.`,
  });
}

function readSelection(flags: RunFlags): Selection | undefined {
  const { filter, tag } = flags;
  const size = readWhole('--sample', flags.sample);
  const seed = readWhole('--seed', flags.seed, 0) ?? 0;
  const maxCases = readWhole('--max-cases', flags.maxCases);
  if (flags.seed !== undefined && size === undefined) {
    throw new RuntimeError('USAGE', '--seed needs --sample');
  }
  const selection: Selection = {
    ...(filter === undefined ? {} : { filter }),
    ...(tag.length === 0 ? {} : { tags: tag }),
    ...(size === undefined ? {} : { sample: { size, seed } }),
    ...(flags.shard === undefined ? {} : { shard: readShard(flags.shard) }),
    ...(maxCases === undefined ? {} : { maxCases }),
  };
  return Object.keys(selection).length === 0 ? undefined : selection;
}

function readShard(text: string): { index: number; count: number } {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (index === undefined || count === undefined) {
    throw new RuntimeError('USAGE', `--shard must be I/N, such as 2/4, not ${text}`);
  }
  return { index: Number(index), count: Number(count) };
}
