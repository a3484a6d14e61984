import type { Command } from 'commander';
import { runCommand } from '../command.ts';
import { formatColumns } from '../show/columns.ts';

/** `provider list`. */
export function addProviderCommands(program: Command, signal: AbortSignal): void {
  program
    .command('provider')
    .alias('providers')
    .description('list providers of models')
    .addHelpText('after', examples)
    .command('list')
    .description('show the declared providers')
    .addHelpText('after', examples)
    .action(async (_own: unknown, command: Command) => {
      await runCommand(command, signal, async ({ options, terminal, open }) => {
        const providers = (await open()).providers.list();
        if (options.json) terminal.printJson({ providers });
        else terminal.print(formatColumns(providers.map(({ id, type, model }) => [id, type, model])));
        return 0;
      });
    });
}

const examples = `
Examples:
  signalbox provider list
  signalbox provider list --json | jq '.providers[].model'`;
