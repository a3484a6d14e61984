import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { sumOf } from '../../../base/json/decimal.ts';
import type { Runtime, SuiteReport } from '../../../runtime/runtime.ts';
import type { CommandContext } from '../../command.ts';
import { type ExitCode, exitCodeOfSuite } from '../../exit-code.ts';
import { readWhole } from '../../input.ts';
import { hintWithPage } from '../../terminal.ts';
import {
  cassetteOf,
  maxFailures,
  openTelling,
  type RunFlags,
  readOptions,
  refuseOtherStdoutReporter,
  reportersOf,
} from './run-flags.ts';

interface PlannedSuite {
  readonly file: string;
  readonly suite: string;
  readonly config: string;
  readonly error?: RuntimeError | undefined;
}

type Delivery = Awaited<
  ReturnType<
    Awaited<ReturnType<typeof import('../../../runtime/runtime.ts').loadResults>>['openSeveralDelivery']
  >
>;

/** Runs suites in turn and reports on all of them. Stops early only after Ctrl-C or a failed report. */
export async function runSuites(
  given: readonly string[],
  own: RunFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { invocation, options, isConfigGiven, terminal } = context;
  invocation.limitHeapGrowth();
  refuseForSeveral(own);
  const { loadInputs, loadResults } = await import('../../../runtime/runtime.ts');
  const { findSuites, findSuiteInputs } = await loadInputs();
  const { describeSeveral, explainVerdict, openSeveralDelivery, readReporter, toSeveralReport } =
    await loadResults();
  const reporters = reportersOf(own, options.json === true).map(readReporter);
  if (options.json) refuseOtherStdoutReporter(reporters);
  const planned = findSuites(given).map(
    ({ file, suite, runtime, error }): PlannedSuite => ({
      ...{ file, suite, error },
      config: isConfigGiven ? options.config : (runtime ?? options.config),
    }),
  );
  const cassette = cassetteOf(own);
  if (cassette !== undefined) refuseSeveralConfigs(planned);
  const inputsOf = async ({ file, config, error }: PlannedSuite) => {
    if (error !== undefined) return [{ file, what: 'a suite' }];
    try {
      return await findSuiteInputs(file, {
        ...{ config, overlays: options.overlays, cassette, dataset: own.dataset },
      });
    } catch {
      return [{ file, what: 'a suite' }];
    }
  };
  const delivery = await openSeveralDelivery(reporters, {
    stdout: terminal.stdout,
    inputs: (await Promise.all(planned.map(inputsOf))).flat(),
  });
  const files = reporters.flatMap(({ file }) => file ?? []);
  const started = performance.now();
  const outcomes: Parameters<typeof toSeveralReport>[0][number][] = [];
  const openOnce = openRuntimes(own, context);
  const cost = { spentUsd: 0 };
  try {
    for (const [index, suite] of planned.entries()) {
      const place = `(${index + 1} of ${planned.length})`;
      const { file, suite: name } = suite;
      try {
        if (suite.error !== undefined) throw suite.error;
        const runtime = await openOnce(suite.config);
        const report = await runOne(suite, { own, context, runtime, delivery, place, cost });
        for (const line of explainVerdict(report, [])) terminal.printStderr(line);
        outcomes.push({ file, suite: name, report });
      } catch (thrown) {
        const error = toRuntimeError(thrown);
        if (delivery.fault() !== undefined || error.code === 'ABORTED') throw thrown;
        await tellFault(suite, error, context);
        outcomes.push({ file, suite: name, error: toFault(error) });
      }
    }
    const report = toSeveralReport(outcomes, performance.now() - started);
    await delivery.end(report);
    await delivery.close();
    if (report.status !== 'passed') {
      terminal.printStderr(describeSeveral(report));
      if (files.length > 0) terminal.printStderr(`written: ${files.join(', ')}`);
    }
    return exitCodeOfSuite[report.status];
  } catch (thrown) {
    await delivery.abort();
    const { code, message } = toRuntimeError(thrown);
    if (code !== 'ABORTED') throw thrown;
    const done = `${outcomes.length} of ${planned.length} suites are done`;
    const hint = `${done}; --resume continues the interrupted suite and runs the others again.`;
    throw new RuntimeError(code, message, { hint, cause: thrown });
  }
}

/** Opens each config once, so that suites share its providers and their limits. */
function openRuntimes(own: RunFlags, { open }: CommandContext): (config: string) => Promise<Runtime> {
  const opened = new Map<string, Promise<Runtime>>();
  return async (config) => {
    const runtime =
      opened.get(config) ??
      open(config, {
        hasMetrics: true,
        cassette: cassetteOf(own),
        concurrency: readWhole('--concurrency', own.concurrency),
        logLevel: 'warn',
      });
    opened.set(config, runtime);
    return await runtime;
  };
}

interface OneRun {
  readonly own: RunFlags;
  readonly context: CommandContext;
  readonly runtime: Runtime;
  readonly delivery: Delivery;
  readonly place: string;
  readonly cost: { spentUsd: number };
}

async function runOne(
  { file, suite }: PlannedSuite,
  { own, context, runtime, delivery, place, cost }: OneRun,
): Promise<SuiteReport> {
  const { options, terminal, signal } = context;
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { oneLine, readReporter } = await loadResults();
  const reporters = reportersOf(own, options.json === true).map(readReporter);
  const failures = maxFailures(own, reporters, terminal);
  const reporter = delivery.next({ suite, file });
  const { told, isQuiet, end } = await openTelling(own, context, { runtime, reporter, failures });
  if (!isQuiet) terminal.printStderr(`${oneLine(suite)} ${place}`);
  const suiteOptions = await readOptions(own);
  const { maxCostUsd } = suiteOptions;
  const run = async (resume: RunFlags['resume']) =>
    await runtime.evals.run(file, {
      ...{ ...suiteOptions, ...told, resume, signal },
      ...(maxCostUsd !== undefined && { maxCostUsd: Math.max(0, sumOf([maxCostUsd, -cost.spentUsd])) }),
      onSpent: (usd) => {
        cost.spentUsd = sumOf([cost.spentUsd, usd]);
      },
    });
  try {
    return await resumeOrRun(own, run);
  } finally {
    end();
  }
}

/** With --resume, resumes the suite's interrupted run, or starts a new one if there is none. */
async function resumeOrRun(
  { resume }: RunFlags,
  run: (resume: RunFlags['resume']) => Promise<SuiteReport>,
): Promise<SuiteReport> {
  try {
    return await run(resume);
  } catch (thrown) {
    if (resume === undefined || toRuntimeError(thrown).code !== 'RUN_UNKNOWN') throw thrown;
    return await run(undefined);
  }
}

function refuseForSeveral({ resume, dataset }: RunFlags): void {
  if (typeof resume === 'string') {
    throw new RuntimeError('USAGE', '--resume ID continues one run, but several suites are given', {
      hint: 'Give only the suite of that run, or --resume without an id.',
    });
  }
  if (dataset === '-') {
    throw new RuntimeError('USAGE', 'stdin can be read only once, but several suites are given', {
      hint: 'Write the dataset to a file, and give --dataset FILE.',
    });
  }
}

function refuseSeveralConfigs(planned: readonly PlannedSuite[]): void {
  const configs = new Set(planned.filter(({ error }) => error === undefined).map(({ config }) => config));
  if (configs.size < 2) return;
  throw new RuntimeError('USAGE', `the suites use several configs: ${[...configs].join(', ')}`, {
    hint: 'A recording belongs to one config: run the suites of each config separately, or name one config with --config.',
  });
}

function toFault({ code, message, hint, details }: RuntimeError) {
  const { problems } = details;
  return { code, message, hint, ...(Array.isArray(problems) && { problems }) };
}

async function tellFault(
  { suite }: PlannedSuite,
  error: RuntimeError,
  { terminal }: CommandContext,
): Promise<void> {
  const { formatProblem, problemsOf, loadResults } = await import('../../../runtime/runtime.ts');
  const { oneLine } = await loadResults();
  terminal.printStderr(`${oneLine(suite)}: error, [${error.code}] ${oneLine(error.message)}`);
  const problems = Array.isArray(error.details['problems']) ? problemsOf(error) : [];
  for (const problem of problems) terminal.printStderr(`  ${formatProblem(problem)}`);
  if (problems.length === 0 && error.hint !== '')
    terminal.printStderr(`  hint: ${oneLine(hintWithPage(error))}`);
}
