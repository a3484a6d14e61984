import { resolve } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import type { Reporter, SuiteReport, SuiteRunOptions } from '../../../runtime/runtime.ts';
import { type CommandContext, command } from '../../command.ts';
import { type ExitCode, exitCodeOfSuite } from '../../exit-code.ts';
import { readWhole } from '../../input.ts';
import { findRun, openRunFinder } from './find-run.ts';
import {
  cassetteOf,
  maxFailures,
  openTelling,
  type RunFlags,
  readOptions,
  refuseOtherStdoutReporter,
  reportersOf,
  runOptions,
} from './run-flags.ts';

export const runCommand = command('run <suites...>', {
  usage: '[options] <suites...>\n       signalbox eval run [options] --again <cases> <run>',
  about: 'run suites, given as files or folders, and gate on their scores',
  options: runOptions,
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

More: docs/start/first-suite.md, docs/guides/run-suites-in-ci.md

Exit codes: 0 passed, 1 a gate or threshold was missed, 2 a row, the call or the config is wrong, or the run or a report
could not be written, 130 interrupted.`,
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

interface GivenSuite {
  readonly file: string;
  readonly config?: string;
  readonly again?: SuiteRunOptions['again'];
}

/** Finds the run of `--again`. Throws USAGE, RUN_UNKNOWN, STORE_FAILED. */
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
          : '--again stores its results in the run and cannot be combined with --no-store';
  if (problem !== undefined) {
    throw new RuntimeError('USAGE', problem, {
      hint: `Write \`signalbox eval run --again ${again} RUN\`, where RUN is an id of \`eval list\`, last or last~1.`,
    });
  }
  const { runtime, id } = await openRunFinder(context).locate(run);
  const { header, file = '' } = await runtime.evals.runs.open(id);
  if (header.kind === 'shadow') {
    const message = `run ${id} has the decisions of a hook in shadow mode, and no suite to judge it with`;
    throw new RuntimeError('USAGE', message, {
      hint: '`signalbox eval list` shows the kind of each run: only runs of kind `suite` have a suite.',
    });
  }
  // Keeps the earlier name of the same file, so that messages and reports agree.
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
  const { explainVerdict, openDelivery, readReporter } = await loadResults();
  const suiteOptions = await readOptions(own);
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
  const failures = maxFailures(own, reporters, terminal);
  const files = reporters.flatMap(({ file }) => file ?? []);
  let cases = 0;
  let isKept = false;
  let endTelling = () => {};
  let verdict: SuiteReport | undefined;
  const reporter: Reporter = {
    ...delivery.reporter,
    end: async (report) => {
      verdict = report;
      await delivery.reporter.end(report);
    },
  };
  try {
    // Each case's record contains the stderr of its eval processes.
    const runtime = await open(config, { cassette, concurrency, logLevel: 'warn', hasMetrics: true });
    const { told, end } = await openTelling(own, context, { runtime, reporter, failures });
    endTelling = end;
    const { resume } = own;
    const report = await runtime.evals.run(file, {
      ...{ ...suiteOptions, ...told, again, signal: context.signal },
      resume: typeof resume === 'string' ? (await findRun([runtime], resume)).id : resume,
      onStart: (header) => {
        isKept = own.store && runtime.isDurable;
        told.onStart?.(header);
      },
      onProgress: (now, record) => {
        cases = now.cases;
        told.onProgress?.(now, record);
      },
    });
    endTelling();
    await delivery.close();
    for (const line of explainVerdict(report, files)) terminal.printStderr(line);
    return exitCodeOfSuite[report.status];
  } catch (error) {
    endTelling();
    await delivery.abort();
    // The run itself ended; only a report failed.
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
  const kept = cases === 1 ? '1 case is stored' : `${cases} cases are stored`;
  return `${kept}; to continue, run the same command ${isFirst ? 'with --resume' : 'again'}.`;
}

const hintToRepeat = 'Nothing of the run was stored, so it cannot be resumed.';
