import type { Command } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import { formatNumber } from '../../../base/json/decimal.ts';
import { stringifyJson } from '../../../base/json/json.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import type { CaseRecord, RunReopening, RunSource } from '../../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { formatFields } from '../../fields.ts';
import type { Terminal } from '../../terminal.ts';
import { openRunFinder } from './find-run.ts';
import { ratingsText } from './rating-text.ts';

/** `eval show`. */
export function addShow(group: Command, runCommand: RunCommand): void {
  group
    .command('show <run>')
    .description('show what a run came to, or everything of one of its cases')
    .option('--case <id>', 'a case: what was judged, and what every eval said of it')
    .addHelpText('after', examples)
    .action(async (given: string, own: { case?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const source = await openRunFinder(context).open(given);
        if (own.case === undefined) return await showReport(source, context);
        return await showCase(source, own.case, context);
      });
    });
}

async function showReport(source: RunSource, { options, terminal }: CommandContext): Promise<ExitCode> {
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { renderTable, summarize } = await loadResults();
  const report = await summarize(source);
  if (source.report === undefined && source.header.kind !== 'shadow')
    terminal.printStderr('the run did not come to its end; these are its cases so far');
  const reopenings = (await source.reopenings?.()) ?? [];
  if (options.json) terminal.printJson({ ...report, ...(reopenings.length > 0 && { reopenings }) });
  else {
    terminal.print(renderTable(report, terminal.hasColour, terminal.stdout.columns).trimEnd());
    for (const each of reopenings) terminal.print(reopeningText(each));
  }
  return 0;
}

function reopeningText({ cases, at, status, report }: RunReopening): string {
  const rate = report?.overall.pass_rate;
  const passed = typeof rate === 'number' ? `, pass rate ${formatNumber(rate, [0, 1])}` : '';
  return `judged again at ${at}: ${whichCases[cases]}; before: ${status}${passed}`;
}

const whichCases: Readonly<Record<RunReopening['cases'], string>> = {
  failed: 'failed cases',
  unscored: 'unscored cases',
  all: 'all cases',
};

async function showCase(
  source: RunSource,
  id: string,
  { options, terminal }: CommandContext,
): Promise<ExitCode> {
  // Several where the dataset gives an id more than once.
  const records = await Array.fromAsync(source.cases(id));
  const replaced = await Array.fromAsync(source.replaced?.(id) ?? []);
  if (records.length + replaced.length === 0) {
    throw new RuntimeError('NAME_UNKNOWN', `run ${source.header.run_id} has no case "${id}"`, {
      hint: 'A case is named by its id, or, where the dataset gives none, by the number of its row from 1.',
    });
  }
  const ratings = await Array.fromAsync(source.ratings?.(id) ?? []);
  const { run_id } = source.header;
  if (options.json) {
    const more = { ...(ratings.length > 0 && { ratings }), ...(replaced.length > 0 && { replaced }) };
    terminal.printJson({ run_id, cases: records, ...more });
  } else {
    const rated = ratings.length === 0 ? [] : [ratingsText(ratings)];
    const before = replaced.map(
      ({ case: record }) => `${terminal.styleStdout('bold', 'judged before')}\n${caseText(record, terminal)}`,
    );
    const now = records.map((record) => caseText(record, terminal));
    terminal.print([...now, ...rated, ...before].join('\n\n'));
  }
  return 0;
}

const examples = `
The run is a file of \`eval run --reporter jsonl=FILE\`, the id of a kept run (see \`eval list\`), \`last\` or \`last~1\`.

Examples:
  signalbox eval show last
  signalbox eval show last --case refund-17
  signalbox eval show report.jsonl --json | jq '.evals'

Exit codes: 0 shown, whatever the run came to; 2 wrong call, no such run or case, or a store or
stdout that fails.`;

type Epoch = CaseRecord['epochs'][number];
type Result = Epoch['results'][number];

/** The text of a case with every epoch: its content, messages, tool calls and eval results. */
function caseText(record: CaseRecord, { styleStdout }: Pick<Terminal, 'styleStdout'>): string {
  const { id, variant, file, line, tags, score, passed, epochs } = record;
  const head = formatFields([
    ['case', escapeInvisibleLine(id)],
    ...(variant === undefined ? [] : [['variant', escapeInvisibleLine(variant)] as const]),
    ...(file === '' ? [] : [['at', escapeInvisibleLine(`${file}:${line}`)] as const]),
    ...(tags.length === 0 ? [] : [['tags', escapeInvisibleLine(tags.join(', '))] as const]),
    ['score', score === null ? 'unscored' : formatNumber(score, [0, 1])],
    ['', passed ? styleStdout('green', 'passed') : styleStdout('red', 'not passed')],
  ]);
  const parts = epochs.map((epoch) => epochText(epoch, epochs.length, { styleStdout }));
  return [head, ...rowText(record, { styleStdout }), ...parts].join('\n\n');
}

/** The row with its own fields; nothing where it is not known. */
function rowText(
  { row, row_cuts: cuts = [] }: CaseRecord,
  { styleStdout }: Pick<Terminal, 'styleStdout'>,
): string[] {
  if (row === undefined) return [];
  const notes = cuts.map(
    ({ path, unit, kept, length }) => `  ${escapeInvisibleLine(path)} is cut: ${kept} of ${length} ${unit}`,
  );
  return [[styleStdout('bold', 'row'), ...fieldLines(row), ...notes].join('\n')];
}

function fieldLines(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).map(([name, value]) =>
    block(name, typeof value === 'string' ? value : stringifyJson(value)).replaceAll(/^/gm, '  '),
  );
}

function epochText(epoch: Epoch, count: number, { styleStdout }: Pick<Terminal, 'styleStdout'>): string {
  const { content, messages, tool_calls: calls, subject, results, variables } = epoch;
  const parts = [
    ...(count === 1 ? [] : [styleStdout('bold', `epoch ${epoch.epoch}`)]),
    ...messages.map(({ role, content: text }) => block(role, text)),
    ...calls.map((call) => block(`call ${call.name}`, callText(call))),
    ...(content === '' ? [] : [block('judged', content)]),
    ...(variables === undefined ? [] : ['variables:', ...fieldLines(variables)]),
    ...(subject === undefined ? [] : [block('subject', subjectText(subject))]),
    ...results.map((result) => resultText(result, { styleStdout })),
  ];
  return parts.join('\n');
}

/** A text below its name, so that it stays as it is. */
function block(name: string, text: string): string {
  const lines = escapeInvisible(text).split('\n');
  return lines.length === 1
    ? `${escapeInvisibleLine(name)}: ${lines[0]}`
    : [`${escapeInvisibleLine(name)}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function callText({ args, result, error }: Epoch['tool_calls'][number]): string {
  return `${stringifyJson(args)} → ${error === '' ? result : `error: ${error}`}`;
}

function subjectText({
  status,
  duration_ms: ms,
  queue_ms: queue,
  cached,
  attempts,
  error,
}: NonNullable<Epoch['subject']>): string {
  const how = [
    timeText(ms, queue),
    ...(cached ? ['from the cache'] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ];
  const why = error === undefined ? '' : `: [${error.code}] ${error.message}`;
  return `${status} (${how.join(', ')})${why}`;
}

function resultText(result: Result, { styleStdout }: Pick<Terminal, 'styleStdout'>): string {
  const {
    eval: id,
    score,
    passed,
    detail,
    error,
    duration_ms: ms,
    queue_ms: queue,
    attempts,
    stderr,
    data,
    params,
    content,
  } = result;
  const word = passed ? styleStdout('green', 'passed') : styleStdout('red', 'not passed');
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  const head = `${escapeInvisibleLine(id)}: ${score === null ? 'unscored' : formatNumber(score, [0, 1])} ${word} (${timeText(ms, queue)}${tries})`;
  const more = [
    ...(detail === '' ? [] : [block('detail', detail)]),
    ...(error === undefined ? [] : [block('error', `[${error.code}] ${error.message}`)]),
    ...(error === undefined || error.hint === '' ? [] : [block('hint', error.hint)]),
    ...(content === undefined ? [] : [block('content', content)]),
    ...(params === undefined ? [] : [block('params', stringifyJson(params))]),
    ...(data === undefined ? [] : [block('data', stringifyJson(data))]),
    ...(stderr === undefined ? [] : [block('stderr', stderr.trimEnd())]),
    ...guardLines(result),
  ];
  return [styleStdout('bold', head), ...more.map((text) => text.replaceAll(/^/gm, '  '))].join('\n');
}

function timeText(ms: number, queue = 0): string {
  return queue === 0 ? `${ms} ms` : `${ms} ms after ${queue} ms in the queue`;
}

function guardLines({ guard }: Result): string[] {
  if (guard === undefined) return [];
  const { hook, phase, verdict, decided_by: by, expected, hooks } = guard;
  const wanted = expected === null ? '' : expected ? ', should be flagged' : ', should pass';
  const asked = hooks.map(
    ({ name, verdict: answer, duration_ms: ms }) => `${name} ${answer} (${formatNumber(ms)} ms)`,
  );
  return [
    block('guard', `${hook} ${phase}: ${verdict}${by === null ? '' : ` by ${by}`}${wanted}`),
    ...(asked.length === 0 ? [] : [block('hooks', asked.join(', '))]),
  ];
}
