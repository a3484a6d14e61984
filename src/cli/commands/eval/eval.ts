import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { formatNumber } from '../../../base/json/decimal.ts';
import { escapeInvisible } from '../../../base/text/escape-invisible.ts';
import type { EvalDocument } from '../../../contract/document.ts';
import type { Threshold } from '../../../contract/eval.ts';
import type { Progress, SuiteReport, SuiteRunOptions } from '../../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import { type ExitCode, exitCodeOfEval, exitCodeOfSuite } from '../../exit-code.ts';
import { readNumber, readWhole } from '../../input.ts';
import { nextEvalCommands } from '../../next-command.ts';
import { codeText, nameText, type Terminal } from '../../terminal.ts';
import { addAgreement } from './agreement.ts';
import { addDiff } from './diff.ts';
import { findRun, openRunFinder } from './find-run.ts';
import { addHtml } from './html.ts';
import { addImport } from './import.ts';
import { addList } from './list.ts';
import { addPrune } from './prune.ts';
import { addRate } from './rate.ts';
import {
  cassetteOf,
  maxFailures,
  type RunFlags,
  readOptions,
  refuseOtherStdoutReporter,
  reportersOf,
} from './run-flags.ts';
import { addShow } from './show.ts';
import { addView } from './view.ts';

/** `eval call`, `run`, `diff`, `list`, `show`, `html`, `view`, `rate`, `agreement`, `import` and `prune`. */
export function addEvalCommands(program: Command, runCommand: RunCommand): void {
  const group = program
    .command('eval')
    .description('score answers, run suites of them, and compare runs')
    .addHelpText('after', examples);
  addCall(group, runCommand);
  addRun(group, runCommand);
  addDiff(group, runCommand);
  addList(group, runCommand);
  addShow(group, runCommand);
  addHtml(group, runCommand);
  addView(group, runCommand);
  addRate(group, runCommand);
  addAgreement(group, runCommand);
  addImport(group, runCommand);
  addPrune(group, runCommand);
}

const examples = `
Examples:
  signalbox eval call politeness --content @answer.txt --min-score 0.8
  signalbox eval run support.suite.yaml
  signalbox eval diff main.jsonl last --fail-on-regression`;

interface CallFlags {
  readonly content: string;
  readonly params: string;
  readonly context?: string;
  readonly minScore?: string;
  readonly maxScore?: string;
}

/** `eval call`. */
function addCall(group: Command, runCommand: RunCommand): void {
  group
    .command('call <type>')
    .description('ask one eval for one score')
    .requiredOption('--content <text>', 'the text to judge: itself, @FILE, or - for stdin')
    .option('--params <json>', 'the eval’s parameters: a JSON object, @FILE, or - for stdin', '{}')
    .option(
      '--context <json>',
      'messages, turn_index, tool_calls, variables, metadata: a JSON object, @FILE, or - for stdin',
    )
    .option('--min-score <number>', 'the lowest score that passes (default 1.0, unless there is a maximum)')
    .option('--max-score <number>', 'the highest score that passes')
    .addHelpText('after', callExamples)
    .action(async (type: string, own: CallFlags, command: Command) => {
      await runCommand(command, async ({ options, terminal, input, signal, open }) => {
        const threshold = readThreshold(own);
        const params = await input.object('--params', own.params);
        const context = own.context === undefined ? {} : await input.object('--context', own.context);
        const content = await input.text('--content', own.content);
        const runtime = await open();
        const document = await runtime.evals.call(type, { content, params, context }, { threshold, signal });
        const isBounded = Object.keys(threshold).length > 0;
        if (options.json) terminal.printJson(document);
        else showScore(document, { type, isBounded }, terminal);
        return exitCodeOfEval(document, isBounded);
      });
    });
}

const callExamples = `
Examples:
  signalbox eval call politeness --content "I'd be happy to help you with that!"
  signalbox eval call grounded --content @answer.txt --params '{"facts": ["30 days"]}' --min-score 0.8 --json

Exit codes: 0 scored (and within the bounds, if any are given), 1 unscored or out of bounds,
2 wrong call or config, or a stdout that cannot be written.`;

function readThreshold(own: CallFlags): Threshold {
  const min = readNumber('--min-score', own.minScore);
  const max = readNumber('--max-score', own.maxScore);
  for (const bound of [min, max]) {
    if (bound !== undefined && (bound < 0 || bound > 1))
      throw new RuntimeError('USAGE', `a score bound lies in 0..1, not ${bound}`);
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new RuntimeError('USAGE', `--min-score ${min} is above --max-score ${max}`);
  }
  return { ...(min !== undefined && { min_score: min }), ...(max !== undefined && { max_score: max }) };
}

function showScore(
  document: EvalDocument,
  { type, isBounded }: { readonly type: string; readonly isBounded: boolean },
  terminal: Terminal,
): void {
  if (document.status === 'unscored') {
    const { error, reason } = document;
    const name = error === undefined ? '' : nameText('eval', type, reason);
    terminal.print(
      `${terminal.styleStdout('red', 'unscored')}: ${codeText(error)}${name}${escapeInvisible(reason)}`,
    );
    terminal.printHint(error);
    return;
  }
  const { score, passed, detail } = document;
  // Without bounds the score is a metric, and there is nothing it could miss.
  const word = passed ? terminal.styleStdout('green', 'passed') : terminal.styleStdout('red', 'not passed');
  terminal.print(
    `${formatNumber(score, [0, 1])}${isBounded ? ` ${word}` : ''}${detail === '' ? '' : `: ${escapeInvisible(detail)}`}`,
  );
}

/** `eval run`. */
function addRun(group: Command, runCommand: RunCommand): void {
  const many = (value: string, before: readonly string[]) => [...before, value];
  group
    .command('run <suites...>')
    .usage('[options] <suites...>\n       signalbox eval run [options] --again <cases> <run>')
    .description('run suites of cases, files or folders of them, and gate on their scores')
    .option(
      '--dataset <file>',
      'read this file, glob pattern or address instead of the suite’s dataset; - for stdin',
    )
    .option('--provider <ids>', 'ask these providers, such as a,b, instead of the one of the suite’s chat')
    .option('--filter <cel>', 'only rows for which this is true, such as \'case.lang == "en"\'')
    .addOption(
      new Option('--tag <tag>', 'only cases of this tag; may be repeated').argParser(many).default([]),
    )
    .option('--sample <n>', 'only so many cases, picked at random, the same for the same seed')
    .option('--seed <n>', 'the seed of --sample (default 0)')
    .option('--shard <i/n>', 'only the i-th of n parts')
    .option('--max-cases <n>', 'stop after so many cases')
    .option('--keep-going', 'rows that cannot be used do not fail the run')
    .option('--repeat <n>', 'run each case so often')
    .option('--reducer <name>', 'how repeated scores become one: mean, median, mode, max, pass@K, at_least_K')
    .option('--retries <n>', 'ask again so often after a fault of the infrastructure, never for a score')
    .option('--timeout <duration>', 'how long one run of a case may take, such as 30s')
    .option('--bail [n]', 'stop at so many failed cases (1 when no number is given)')
    .option('--resume [run]', 'go on with a run that was cut off; without an id, the last one begun alike')
    .addOption(
      new Option(
        '--again <cases>',
        'judge cases of a kept run again, into that run: those that failed, those that are unscored, or all',
      ).choices(['failed', 'unscored', 'all']),
    )
    .option('--workers', 'let the workers of a Postgres store judge the cases')
    .option('--no-store', 'keep the run nowhere')
    .option(
      '--max-cost <usd>',
      'make no model call beyond so many US dollars, by the pricing of the providers',
    )
    .option('--cache [folder]', 'keep answers of the suite’s subject and of models, and use them again')
    .option('--no-cache', 'neither keep answers nor use kept ones')
    .option('--watch', 'run again whenever a suite, its config, dataset or programs change, until Ctrl-C')
    .option('--concurrency <n>', 'processes at once')
    .addOption(
      new Option('--reporter <name[=file]>', 'how the run is written down; may be repeated (default table)')
        .argParser(many)
        .default([]),
    )
    .option('--record <file>', 'keep every exchange with a process or model')
    .option('--replay <file>', 'answer from a recording; no process is started')
    .addOption(
      new Option('--live <name>', 'with --replay, run this entry for real; may be repeated')
        .argParser(many)
        .default([]),
    )
    .option(
      '--show-failures <n>',
      'tell so many failures on stderr as they come (10; none in a log that ends with the table)',
    )
    .option('--quiet', 'no progress; what a run that does not pass came to is told all the same')
    .addHelpText('after', runExamples)
    .action(async (given: readonly string[], own: RunFlags, command: Command) => {
      const run = async (context: CommandContext) => {
        if (own.again !== undefined)
          return await runSuite(await findAgain(given, { ...own, again: own.again }, context), own, context);
        const { loadInputs } = await import('../../../runtime/runtime.ts');
        const { areSeveral } = await loadInputs();
        const [file = ''] = given;
        if (!areSeveral(given)) return await runSuite({ file }, own, context);
        const { runSuites } = await import('./run-several.ts');
        return await runSuites(given, own, context);
      };
      await runCommand(command, async (context) => {
        if (own.watch !== true) return await run(context);
        const { watchSuites } = await import('./watch.ts');
        return await watchSuites(given, own, { context, run });
      });
    });
}

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

const runExamples = `
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
not be kept or written down, 130 interrupted.`;
