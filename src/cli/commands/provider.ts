import type { Command } from 'commander';
import type { RunCommand } from '../command.ts';

/** `provider list`. */
export function addProviderCommands(program: Command, runCommand: RunCommand): void {
  program
    .command('provider')
    .alias('providers')
    .description('list providers of models')
    .addHelpText('after', examples)
    .command('list')
    .description('show the declared providers')
    .addHelpText('after', examples)
    .action(async (_own: unknown, command: Command) => {
      await runCommand(command, async ({ options, terminal, open }) => {
        const providers = (await open()).providers.list();
        if (options.json) terminal.printJson({ providers });
        else
          terminal.printTable(
            ['provider', 'type', 'model'],
            providers.map(({ id, type, model }) => [id, type, model]),
          );
        return 0;
      });
    });
}

const examples = `
Examples:
  signalbox provider list
  signalbox provider list --json | jq '.providers[].model'`;
