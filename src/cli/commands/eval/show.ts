import { RuntimeError } from '../../../base/errors.ts';
import { formatNumber } from '../../../base/json/decimal.ts';
import type { RunSource } from '../../../runtime/runtime.ts';
import { type CommandContext, command, type Outcome } from '../../command.ts';
import { caseText, ratingsText } from '../../show/case.ts';
import { openRunFinder } from './find-run.ts';

export const showCommand = command('show <run>', {
  about: 'show the result of a run, or everything about one of its cases',
  options: { '--case <id>': 'show this case: what was judged, and the result of every eval' },
  examples: `
The run is a file of \`eval run --reporter jsonl=FILE\`, the id of a stored run (see \`eval list\`), \`last\` or \`last~1\`.

Examples:
  signalbox eval show last
  signalbox eval show last --case refund-17
  signalbox eval show report.jsonl --json | jq '.evals'

Exit codes: 0 shown, whatever the result of the run; 2 wrong call, no such run or case, or a store or
stdout that fails.`,
  run: async (context, flags, given) => {
    const source = await openRunFinder(context).open(given);
    if (flags.case !== undefined) return await showCase(source, flags.case, context);
    const { terminal } = context;
    const { loadResults } = await import('../../../runtime/runtime.ts');
    const { renderTable, summarize } = await loadResults();
    const report = await summarize(source);
    if (source.report === undefined && source.header.kind !== 'shadow')
      terminal.printStderr('the run did not finish; these are its cases so far');
    const reopenings = (await source.reopenings?.()) ?? [];
    const lines = reopenings.map(({ cases, at, status, report }) => {
      const rate = report?.overall.pass_rate;
      const passed = typeof rate === 'number' ? `, pass rate ${formatNumber(rate, [0, 1])}` : '';
      return `judged again at ${at}: ${cases} cases; before: ${status}${passed}`;
    });
    return {
      document: { ...report, ...(reopenings.length > 0 && { reopenings }) },
      text: [renderTable(report, terminal.hasColour, terminal.stdout.columns).trimEnd(), ...lines].join('\n'),
    };
  },
});

async function showCase(source: RunSource, id: string, { terminal }: CommandContext): Promise<Outcome> {
  const cases = await Array.fromAsync(source.cases(id));
  const replaced = await Array.fromAsync(source.replaced?.(id) ?? []);
  const { run_id } = source.header;
  if (cases.length + replaced.length === 0) {
    throw new RuntimeError('NAME_UNKNOWN', `run ${run_id} has no case "${id}"`, {
      hint: 'Name a case by its id. If the dataset has no ids, use the number of its row, from 1.',
    });
  }
  const ratings = await Array.fromAsync(source.ratings?.(id) ?? []);
  const more = { ...(ratings.length > 0 && { ratings }), ...(replaced.length > 0 && { replaced }) };
  const before = replaced.map(
    ({ case: record }) => `${terminal.styleStdout('bold', 'judged before')}\n${caseText(record, terminal)}`,
  );
  const now = cases.map((record) => caseText(record, terminal));
  return {
    document: { run_id, cases, ...more },
    text: [...now, ...(ratings.length === 0 ? [] : [ratingsText(ratings)]), ...before].join('\n\n'),
  };
}
