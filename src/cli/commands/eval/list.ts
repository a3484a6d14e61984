import { relative } from 'node:path';
import type { Command } from 'commander';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import type { SuiteRunInfo } from '../../../runtime/runtime.ts';
import type { RunCommand } from '../../command.ts';
import { shortIds } from '../../id.ts';
import { readWhole } from '../../input.ts';
import { listStoredRuns, openRunStores } from './find-run.ts';

/** `eval list`. */
export function addList(group: Command, runCommand: RunCommand): void {
  group
    .command('list')
    .description('show the suite runs that are kept, the newest first')
    .option('--limit <number>', 'at most so many')
    .addHelpText('after', examples)
    .action(async (own: { limit?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const limit = readWhole('--limit', own.limit);
        const runtimes = await openRunStores(context);
        const kept = await listStoredRuns(runtimes, limit);
        const isMixed = runtimes.length > 1;
        const runs = kept.map(({ run }) => run);
        if (options.json) terminal.printJson({ runs });
        else if (runs.length === 0) terminal.printStderr('no runs are kept');
        else {
          const { formatPercent } = await import('../../../runtime/runtime.ts');
          const short = shortIds(runs.map(({ id }) => id));
          terminal.printTable(
            ['run', 'started', 'status', 'kind', 'suite', 'cases', 'passed', ...(isMixed ? ['config'] : [])],
            kept.map(({ run, runtime }) => [
              ...[short(run.id), ...toRow(run, formatPercent)],
              ...(isMixed ? [relative(context.invocation.cwd, runtime.file)] : []),
            ]),
          );
        }
        return 0;
      });
    });
}

function toRow(
  { started_at, status, kind, suite, cases, pass_rate: rate }: SuiteRunInfo,
  formatPercent: (share: number) => string,
): string[] {
  // A collection of a shadow has no end.
  return [
    started_at,
    kind === 'shadow' ? '' : status,
    kind,
    escapeInvisibleLine(suite),
    String(cases),
    rate === null ? '' : formatPercent(rate),
  ];
}

const examples = `
Examples:
  signalbox eval list --limit 10
  signalbox eval list --json | jq -r '.runs[] | select(.status == "failed") | .id'

A run of kind \`shadow\` is what a hook in shadow mode would have decided. A run that was cut off, such as by a crash,
is \`running\` here too until it is resumed: \`signalbox eval run SUITE --resume ID\`.

Exit codes: 0 done, 2 wrong call or config, or a store or stdout that fails.`;
