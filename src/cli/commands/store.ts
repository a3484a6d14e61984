import type { Command } from 'commander';
import type { RunCommand } from '../command.ts';
import { addStoreCopy } from './store-copy.ts';

/** `store migrate`, `store reset-clock` and `store copy`. */
export function addStoreCommands(program: Command, runCommand: RunCommand): void {
  const group = program.command('store').description('look after a state store');
  addStoreCopy(group, runCommand);
  group
    .command('migrate')
    .description('bring the tables of a Postgres store to the version that this Signalbox needs')
    .addHelpText('after', examples)
    .action(async (_flags: unknown, command: Command) => {
      await runCommand(command, async ({ options, invocation, terminal }) => {
        const { loadMigration } = await import('../../runtime/runtime.ts');
        const { migrateStore } = await loadMigration();
        const { store, from, to } = await migrateStore(options.config, invocation.env, options.overlays);
        if (options.json) terminal.printJson({ store, from, to });
        else if (from === to) terminal.print(`${store} is of version ${to} already`);
        else
          terminal.print(
            `${store} is of version ${to} now, and was ${from === 0 ? 'empty' : `of version ${from}`}`,
          );
        return 0;
      });
    });
  group
    .command('reset-clock')
    .description('set times that a SQLite store kept while the clock was wrong back to now')
    .addHelpText('after', clockExamples)
    .action(async (_flags: unknown, command: Command) => {
      await runCommand(command, async ({ options, invocation, terminal }) => {
        const { loadMigration } = await import('../../runtime/runtime.ts');
        const { resetClock } = await loadMigration();
        const { store, changed } = await resetClock(options.config, invocation.env, options.overlays);
        if (options.json) terminal.printJson({ store, changed });
        else
          terminal.print(
            `${store}: ${changed === 1 ? '1 time was' : `${changed} times were`} later than now`,
          );
        return 0;
      });
    });
}

const clockExamples = `
Nobody can decide a call that expires while the clock is behind the newest time that the store has kept: the call may have expired
already. Set the clock first. Where it is right, and a time was kept while it ran ahead, this command sets that time back to now.
When calls expire and waits end stays as it is.

Examples:
  signalbox doctor
  signalbox store reset-clock

Exit codes: 0 done; 1 the store failed; 2 the config is wrong, or its store is not a file.`;

const examples = `
An empty database gets its tables with the first run too; tables of an earlier version are changed by this command alone,
all of the way or not at all. End what an older Signalbox runs on them first. A SQLite store gets its tables when it is opened.

Examples:
  signalbox store migrate
  signalbox store migrate --config agents/runtime.yaml --json

Exit codes: 0 the tables are of this version; 1 the store failed; 2 the config is wrong, or its store is not in Postgres.`;
