import type { Command } from 'commander';
import { formatCount } from '../../../base/text/format-count.ts';
import type { RunCommand } from '../../command.ts';
import { readAge } from '../../show/age.ts';

/** `audit prune`. */
export function addAuditPrune(group: Command, runCommand: RunCommand): void {
  group
    .command('prune')
    .description('remove old calls, and say so in the chain')
    .requiredOption('--older-than <duration>', 'such as 12h or 30d; 0s for all')
    .addHelpText('after', examples)
    .action(async (flags: { readonly olderThan: string }, command: Command) => {
      await runCommand(command, async ({ options, invocation, terminal }) => {
        const age = await readAge('--older-than', flags.olderThan);
        const { loadAudit } = await import('../../../runtime/runtime.ts');
        const { locateAudit, pruneAudit } = await loadAudit();
        const audit = await locateAudit(options.config, invocation.env, options.overlays);
        const pruned = await pruneAudit(audit, Date.now() - age);
        if (options.json) terminal.printJson({ pruned });
        else terminal.print(`removed ${formatCount(pruned, 'row')}`);
        return 0;
      });
    });
}

const examples = `
Examples:
  signalbox audit prune --older-than 90d

A server does the same by itself with what is older than spec.gateway.audit.keep. What was removed is told by a row of the
chain, so that \`audit verify\` tells it from rows that somebody else has removed.`;
