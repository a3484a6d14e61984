import type { Command } from 'commander';
import { formatCount } from '../../../base/text/format-count.ts';
import type { RunCommand } from '../../command.ts';
import { readAge } from '../../show/age.ts';
import { requireOneRuntime } from '../../show/state-stores.ts';
import { openRunStores } from './find-run.ts';

/** `eval prune`. */
export function addPrune(group: Command, runCommand: RunCommand): void {
  group
    .command('prune')
    .description('remove runs of suites that began long ago, and answers that were kept as long')
    .option('--older-than <duration>', 'began at least so long ago, such as 12h or 30d; 0s for all', '30d')
    .addHelpText('after', examples)
    .action(async (own: { olderThan: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const olderThanMs = await readAge('--older-than', own.olderThan);
        const runtime = requireOneRuntime(await openRunStores(context));
        const pruned = await runtime.evals.runs.prune({ olderThanMs });
        if (options.json) terminal.printJson({ pruned });
        else terminal.print(`removed ${formatCount(pruned, 'run')}`);
        return 0;
      });
    });
}

const examples = `
What shadows would have decided is kept in such runs too. Runs that somebody works on stay.

Examples:
  signalbox eval prune --older-than 90d

Exit codes: 0 done, 2 wrong call or config, or a store or stdout that fails.`;
