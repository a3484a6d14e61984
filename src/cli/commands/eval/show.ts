import type { Command } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import { formatNumber } from '../../../base/json/decimal.ts';
import type { RunReopening, RunSource } from '../../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { openRunFinder } from './find-run.ts';
import { ratingsText } from './rating-text.ts';
import { caseText } from './show-case.ts';

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
