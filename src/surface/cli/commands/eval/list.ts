import type { Command } from 'commander';
import type { SuiteRunInfo } from '../../../../runtime/open-runtime.ts';
import { visibleLine } from '../../../../text/escape-invisible.ts';
import { perform } from '../../command.ts';
import { readWhole } from '../../input.ts';
import { columns } from '../../show/columns.ts';
import { listKept, openKeepers } from './find-run.ts';

/** `eval list`. */
export function addList(group: Command, signal: AbortSignal): void {
  group
    .command('list')
    .description('show the suite runs that are kept, the newest first')
    .option('--limit <number>', 'at most so many')
    .addHelpText('after', examples)
    .action(async (own: { limit?: string }, command: Command) => {
      await perform(command, signal, async (situation) => {
        const { options, terminal } = situation;
        const limit = readWhole('--limit', own.limit);
        const kept = await listKept(await openKeepers(situation), limit);
        const runs = kept.map(({ run }) => run);
        if (options.json) terminal.printJson({ runs });
        else if (runs.length === 0) terminal.tell('no runs are kept');
        else {
          const { formatPercent } = await import('../../../../runtime/open-runtime.ts');
          terminal.print(columns(runs.map((run) => toRow(run, formatPercent))));
        }
        return 0;
      });
    });
}

function toRow(
  { id, started_at, status, kind, suite, cases, pass_rate: rate }: SuiteRunInfo,
  formatPercent: (share: number) => string,
): string[] {
  // A collection of a shadow has no end.
  return [
    id,
    started_at,
    kind === 'shadow' ? '' : status,
    kind,
    visibleLine(suite),
    `${cases} ${cases === 1 ? 'case' : 'cases'}`,
    rate === null ? '' : `${formatPercent(rate)} passed`,
  ];
}

const examples = `
Examples:
  signalbox eval list --limit 10
  signalbox eval list --json | jq -r '.runs[] | select(.status == "failed") | .id'

A run of kind \`shadow\` is what a hook in shadow mode would have decided. A run that was cut off, such as by a crash,
is \`running\` here too until it is resumed: \`signalbox eval run SUITE --resume ID\`.

Exit codes: 0 done, 2 wrong call or config, or a store or stdout that fails.`;
