import { resolve } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import type {
  Progress,
  RuntimeOptions,
  Selection,
  SuiteReport,
  SuiteRunOptions,
} from '../../../runtime/runtime.ts';
import { type CommandContext, command, type Flags } from '../../command.ts';
import { type ExitCode, exitCodeOfSuite } from '../../exit-code.ts';
import { readWhole } from '../../input.ts';
import { nextEvalCommands } from '../../next-command.ts';
import type { Terminal } from '../../terminal.ts';
import { findRun, openRunFinder } from './find-run.ts';

const flags = {
  '--dataset <file>': 'read this file, glob pattern or address instead of the suite’s dataset; - for stdin',
  '--provider <ids>': 'ask these providers, such as a,b, instead of the one of the suite’s chat',
  '--filter <cel>': 'only rows for which this is true, such as \'case.lang == "en"\'',
  '--tag <tag>': ['only cases of this tag; may be repeated', { isMany: true, default: [] }],
  '--sample <n>': 'only so many cases, picked at random, the same for the same seed',
  '--seed <n>': 'the seed of --sample (default 0)',
  '--shard <i/n>': 'only the i-th of n parts',
  '--max-cases <n>': 'stop after so many cases',
  '--keep-going': 'rows that cannot be used do not fail the run',
  '--repeat <n>': 'run each case so often',
  '--reducer <name>': 'how repeated scores become one: mean, median, mode, max, pass@K, at_least_K',
  '--retries <n>': 'ask again so often after a fault of the infrastructure, never for a score',
  '--timeout <duration>': 'how long one run of a case may take, such as 30s',
  '--bail [n]': 'stop at so many failed cases (1 when no number is given)',
  '--resume [run]': 'go on with a run that was cut off; without an id, the last one begun alike',
  '--again <cases>': [
    'judge cases of a kept run again, into that run: those that failed, those that are unscored, or all',
    { choices: ['failed', 'unscored', 'all'] },
  ],
  '--workers': 'let the workers of a Postgres store judge the cases',
  '--no-store': 'keep the run nowhere',
  '--max-cost <usd>': 'make no model call beyond so many US dollars, by the pricing of the providers',
  '--cache [folder]': 'keep answers of the suite’s subject and of models, and use them again',
  '--no-cache': 'neither keep answers nor use kept ones',
  '--watch': 'run again whenever a suite, its config, dataset or programs change, until Ctrl-C',
  '--concurrency <n>': 'processes at once',
  '--reporter <name[=file]>': [
    'how the run is written down; may be repeated (default table)',
    { isMany: true, default: [] },
  ],
  '--record <file>': 'keep every exchange with a process or model',
  '--replay <file>': 'answer from a recording; no process is started',
  '--live <name>': ['with --replay, run this entry for real; may be repeated', { isMany: true, default: [] }],
  '--show-failures <n>':
    'tell so many failures on stderr as they come (10; none in a log that ends with the table)',
  '--quiet': 'no progress; what a run that does not pass came to is told all the same',
} as const;

/** The options of `eval run`, as they are given. */
export type RunFlags = Omit<Flags<typeof flags>, 'cache'> & { readonly cache?: boolean | string };

export const runCommand = command('run <suites...>', {
  usage: '[options] <suites...>\n       signalbox eval run [options] --again <cases> <run>',
  about: 'run suites of cases, files or folders of them, and gate on their scores',
  options: flags,
  examples: `
Examples:
  signalbox eval run support.suite.yaml
  signalbox eval run support.suite.yaml --reporter junit=report.xml --reporter markdown=summary.md
  signalbox eval run support.suite.yaml --tag billing --sample 200 --seed 7
  signalbox eval run support.suite.yaml --repeat 3 --reducer pass@2 --bail 10
  signalbox eval run support.suite.yaml --provider small,large --reporter html=compared.html
  signalbox eval run support.suite.yaml --resume
  signalbox eval run --again failed last
  signalbox eval run --again unscored 3f2a --retries 2
  signalbox eval run support.suite.yaml --max-cost 2.50 --cache
  signalbox eval run support.suite.yaml billing.suite.yaml --reporter junit=report.xml --reporter html=report.html
  signalbox eval run suites/ --json
  signalbox eval run support.suite.yaml --watch --cache
  signalbox eval run support.suite.yaml --record run.cassette && signalbox eval run support.suite.yaml --replay run.cassette
  zcat answers.jsonl.gz | signalbox eval run support.suite.yaml --dataset -

Exit codes: 0 passed, 1 a gate or threshold was missed, 2 a row, the call or the config is wrong, or the run could
not be kept or written down, 130 interrupted.`,
  run: async (context, own: RunFlags, given) => {
    const run = async (turn: CommandContext) => {
      if (own.again !== undefined)
        return await runSuite(await findAgain(given, { ...own, again: own.again }, turn), own, turn);
      const { loadInputs } = await import('../../../runtime/runtime.ts');
      const { areSeveral } = await loadInputs();
      const [file = ''] = given;
      if (!areSeveral(given)) return await runSuite({ file }, own, turn);
      const { runSuites } = await import('./run-several.ts');
      return await runSuites(given, own, turn);
    };
    if (own.watch !== true) return await run(context);
    const { watchSuites } = await import('./watch.ts');
    return await watchSuites(given, own, { context, run });
  },
});

/** A suite, and the run of it that is judged again, with the config beside which that is kept. */
interface GivenSuite {
  readonly file: string;
  readonly config?: string;
  readonly again?: SuiteRunOptions['again'];
}

/** The run that `--again` names. Throws USAGE, RUN_UNKNOWN, STORE_FAILED. */
async function findAgain(
  given: readonly string[],
  { again, resume, store }: RunFlags & { readonly again: NonNullable<RunFlags['again']> },
  context: CommandContext,
): Promise<GivenSuite> {
  const [run = '', other] = given;
  const problem =
    other !== undefined
      ? '--again takes one run'
      : resume !== undefined
        ? '--again and --resume exclude each other'
        : store
          ? undefined
          : '--again keeps its results in the run, so not with --no-store';
  if (problem !== undefined) {
    throw new RuntimeError('USAGE', problem, {
      hint: `Write \`signalbox eval run --again ${again} RUN\`, where RUN is an id of \`eval list\`, last or last~1.`,
    });
  }
  const { runtime, id } = await openRunFinder(context).locate(run);
  const { header, file = '' } = await runtime.evals.runs.open(id);
  if (header.kind === 'shadow') {
    const message = `run ${id} holds what a hook in shadow mode would have decided: it has no suite to judge it with`;
    throw new RuntimeError('USAGE', message, {
      hint: 'Runs of kind `suite` in `signalbox eval list` have one.',
    });
  }
  // Named as before where that is the same file, so that messages and reports name files alike.
  const isHere = resolve(header.file) === file;
  return { file: isHere ? header.file : file, config: runtime.file, again: { run: id, cases: again } };
}

async function runSuite(
  { file, config: configOfRun, again }: GivenSuite,
  own: RunFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { invocation, options, isConfigGiven, terminal, open } = context;
  invocation.limitHeapGrowth();
  const { loadInputs, loadResults } = await import('../../../runtime/runtime.ts');
  const { findSuiteInputs, runtimeOfSuite } = await loadInputs();
  const { explainVerdict, openDelivery, openProgress, readReporter } = await loadResults();
  const runOptions = await readOptions(own);
  const concurrency = readWhole('--concurrency', own.concurrency);
  const reporters = reportersOf(own, options.json === true).map(readReporter);
  if (options.json) refuseOtherStdoutReporter(reporters);
  const config = isConfigGiven
    ? options.config
    : (configOfRun ?? runtimeOfSuite(file, options.config, own.dataset));
  const cassette = cassetteOf(own);
  const hasFile = reporters.some((reporter) => reporter.file !== undefined);
  const delivery = await openDelivery(reporters, {
    stdout: terminal.stdout,
    inputs: hasFile
      ? await findSuiteInputs(file, { config, overlays: options.overlays, cassette, dataset: own.dataset })
      : [],
  });
  let progress: Progress | undefined;
  const failures = maxFailures(own, reporters, terminal);
  const files = reporters.flatMap(({ file }) => file ?? []);
  let cases = 0;
  let isKept = false;
  let hintToSeeMore = '';
  let verdict: SuiteReport | undefined;
  try {
    const runtime = await open(config, {
      cassette,
      concurrency,
      // The stderr of eval processes is in the record of each case.
      logLevel: 'warn',
    });
    progress = openProgress(terminal.stderr, {
      // A JSON log on stderr must not be mixed with other lines.
      quiet: own.quiet === true || options.json === true || runtime.logFormat === 'json',
      colour: terminal.hasErrorColour,
      failures,
    });
    const { resume } = own;
    const report = await runtime.evals.run(file, {
      ...runOptions,
      resume: typeof resume === 'string' ? (await findRun([runtime], resume)).id : resume,
      again,
      signal: context.signal,
      reporter: {
        ...delivery.reporter,
        // The table comes after the last line of progress.
        end: async (report) => {
          progress?.end(hintToSeeMore);
          verdict = report;
          await delivery.reporter.end(report);
        },
      },
      onStart: (header) => {
        isKept = own.store && runtime.isDurable;
        hintToSeeMore = isKept ? nextEvalCommands(invocation, runtime).html(header.run_id) : hintToSeeAll;
        progress?.begin(header);
      },
      onProgress: (now, record) => {
        cases = now.cases;
        progress?.update(now);
        if (record !== undefined && !record.passed) progress?.failure(record);
      },
    });
    progress?.end(hintToSeeMore);
    await delivery.close();
    for (const line of explainVerdict(report, files)) terminal.printStderr(line);
    return exitCodeOfSuite(report.status);
  } catch (error) {
    progress?.end(hintToSeeMore);
    await delivery.abort();
    // The run itself ended; only a report could not be written.
    if (verdict !== undefined) for (const line of explainVerdict(verdict, [])) terminal.printStderr(line);
    const { code, message } = toRuntimeError(error);
    if (code !== 'ABORTED') throw error;
    throw new RuntimeError(code, message, {
      hint: isKept ? hintToResume(cases, again === undefined) : hintToRepeat,
      cause: error,
    });
  }
}

function hintToResume(cases: number, isFirst: boolean): string {
  const kept = cases === 1 ? '1 case is kept' : `${cases} cases are kept`;
  return `${kept}; give the same command ${isFirst ? 'with --resume' : 'again'} to go on.`;
}

const hintToRepeat = 'Nothing of it was kept; only a run that is kept can be resumed.';

const hintToSeeAll = '--show-failures N tells more, --reporter html=FILE shows all of them';

/** The number of failures to print; none by default in a log that ends with the table, which lists them. */
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

/** Throws USAGE with --workers, before a file is begun. */
export function cassetteOf({ record, replay, live, workers }: RunFlags): RuntimeOptions['cassette'] {
  const isAsked = record !== undefined || replay !== undefined || live.length > 0;
  if (isAsked && workers)
    throw new RuntimeError('USAGE', '--workers is not to be had with --record or --replay');
  return isAsked ? { record, replay, live } : undefined;
}

/** The reporters of --reporter; without any, `table`. With --json, `json` is the last one. */
export function reportersOf({ reporter }: RunFlags, isJson: boolean): readonly string[] {
  if (isJson) return [...reporter, 'json'];
  return reporter.length === 0 ? ['table'] : reporter;
}

/** Throws USAGE when a reporter beside that of --json, the last one, would write to stdout. */
export function refuseOtherStdoutReporter(
  reporters: readonly { readonly name: string; readonly file?: string }[],
): void {
  const other = reporters.slice(0, -1).find(({ file }) => file === undefined);
  if (other === undefined) return;
  const message = `--json and --reporter ${other.name} would both write to stdout`;
  throw new RuntimeError('USAGE', message, {
    hint: `Write --reporter ${other.name}=FILE, or drop one of them.`,
  });
}

export async function readOptions(own: RunFlags): Promise<SuiteRunOptions> {
  const { parseDuration } = await import('../../../runtime/runtime.ts');
  const timeoutMs = own.timeout === undefined ? undefined : parseDuration(own.timeout);
  if (own.timeout !== undefined && timeoutMs === undefined) {
    const isNumber = Number(own.timeout) > 0;
    throw new RuntimeError('USAGE', `--timeout is a duration such as 30s or 2m, not ${own.timeout}`, {
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

/** An amount of US dollars from 0. Throws USAGE. */
function readUsd(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (/^\d*\.?\d+$/.test(text) && Number.isFinite(amount)) return amount;
  throw new RuntimeError('USAGE', `${option} is an amount of US dollars, not ${text}`, {
    hint: `Write it as a number: ${option} 0.50.`,
  });
}

function readSelection(flags: RunFlags): Selection | undefined {
  const { filter, tag } = flags;
  const size = readWhole('--sample', flags.sample);
  const seed = readWhole('--seed', flags.seed, 0) ?? 0;
  const maxCases = readWhole('--max-cases', flags.maxCases);
  if (flags.seed !== undefined && size === undefined) {
    throw new RuntimeError('USAGE', '--seed is of use with --sample only');
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
    throw new RuntimeError('USAGE', `--shard takes I/N, such as 2/4, not ${text}`);
  }
  return { index: Number(index), count: Number(count) };
}
