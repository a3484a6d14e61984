import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import type { CopiedStore } from '../../runtime/runtime.ts';
import type { RunCommand } from '../command.ts';
import type { Invocation } from '../invocation.ts';
import { openRowProgress } from '../show/row-progress.ts';
import type { Terminal } from '../terminal.ts';

interface CopyFlags {
  readonly to?: string;
  readonly toEnv?: string;
}

/** `store copy`. */
export function addStoreCopy(group: Command, runCommand: RunCommand): void {
  group
    .command('copy')
    .description('copy a state store in a file, with results of suites, to Postgres')
    .option('--to <address>', 'postgres://… without a password')
    .option('--to-env <name>', 'the environment variable that has it')
    .addHelpText('after', examples)
    .action(async (flags: CopyFlags, command: Command) => {
      await runCommand(command, async ({ options, invocation, terminal, signal }) => {
        const { loadCopy } = await import('../../runtime/runtime.ts');
        const { copyStore } = await loadCopy();
        const to = readPlace(flags, invocation);
        if (hasPassword(to.text) && flags.to !== undefined)
          terminal.printStderr(
            'warning: a password on the command line can be read by others: name a variable with --to-env',
          );
        const progress = openRowProgress(terminal);
        const { env } = invocation;
        const copied = await copyStore({
          ...{ file: options.config, overlays: options.overlays, to, env, signal },
          onProgress: progress.show,
        }).finally(progress.end);
        if (options.json) terminal.printJson(documentOf(copied));
        else print(copied, terminal);
        return 0;
      });
    });
}

function readPlace({ to, toEnv }: CopyFlags, { env }: Invocation) {
  if ((to === undefined) === (toEnv === undefined))
    throw new RuntimeError('USAGE', 'name one place: with --to, or with --to-env');
  const name = toEnv ?? '--to';
  const text = toEnv === undefined ? to : Object.hasOwn(env, toEnv) ? env[toEnv] : undefined;
  if (text === undefined || text === '')
    throw new RuntimeError('USAGE', `${name} ${toEnv === undefined ? 'is empty' : 'is not set'}`, {
      hint: 'It holds an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE.',
    });
  return { name, text };
}

function hasPassword(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.password !== '' || url.searchParams.has('password'));
}

function documentOf({ from, to, tables, wasThere, notCopied }: CopiedStore) {
  return { from, to, status: wasThere ? 'unchanged' : 'copied', tables, not_copied: notCopied };
}

function print({ from, to, tables, wasThere, notCopied }: CopiedStore, terminal: Terminal): void {
  terminal.print(wasThere ? `${to} has all of ${from} already` : `${from} is copied to ${to}`);
  terminal.printColumns(
    tables.map(({ table, rows, sha256 }) => [
      table,
      rows.toLocaleString('en'),
      `sha256 ${sha256.slice(0, 16)}`,
    ]),
  );
  for (const what of notCopied) terminal.print(`not copied: ${what}`);
}

const examples = `
Runs, their steps, long texts, calls that wait and history, results of suites and kept answers are copied from the store of
the config, each row read again from the target and compared by digest. The target has to be empty; if it has the same rows
already, all is well. A copy that is cut off leaves nothing half done: run it again. Runs must not be under way; what is
written to the source meanwhile is not copied. A store in Postgres is not copied to a file: pg_dump makes its backups.

Examples:
  DATABASE_URL=postgres://signalbox:secret@db/agents signalbox store copy --to-env DATABASE_URL

Exit codes: 0 copied, or there already; 1 a store failed, the target is not empty, or runs are under way; 2 the call or the config is wrong;
130 interrupted.`;
