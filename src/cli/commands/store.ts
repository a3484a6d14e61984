import { RuntimeError } from '../../base/errors.ts';
import { command, group } from '../command.ts';
import { formatColumns } from '../show/columns.ts';
import { openRowProgress } from '../show/row-progress.ts';

const copy = command('copy', {
  about: 'copy a state store in a file, with results of suites, to Postgres',
  options: {
    '--to <address>': 'postgres://… without a password',
    '--to-env <name>': 'the environment variable that has it',
  },
  examples: `
Runs, their steps, long texts, calls that wait and history, results of suites and kept answers are copied from the store of
the config, each row read again from the target and compared by digest. The target has to be empty; if it has the same rows
already, all is well. A copy that is cut off leaves nothing half done: run it again. Runs must not be under way; what is
written to the source meanwhile is not copied. A store in Postgres is not copied to a file: pg_dump makes its backups.

Examples:
  DATABASE_URL=postgres://signalbox:secret@db/agents signalbox store copy --to-env DATABASE_URL

Exit codes: 0 copied, or there already; 1 a store failed, the target is not empty, or runs are under way; 2 the call or the config is wrong;
130 interrupted.`,
  run: async ({ options, invocation: { env }, terminal, signal }, flags) => {
    const { loadCopy } = await import('../../runtime/runtime.ts');
    const { copyStore } = await loadCopy();
    const to = readPlace(flags, env);
    const url = URL.parse(to.text);
    const hasPassword = url !== null && (url.password !== '' || url.searchParams.has('password'));
    if (hasPassword && flags.to !== undefined)
      terminal.printStderr(
        'warning: a password on the command line can be read by others: name a variable with --to-env',
      );
    const progress = openRowProgress(terminal);
    const copied = await copyStore({
      ...{ file: options.config, overlays: options.overlays, to, env, signal },
      onProgress: progress.show,
    }).finally(progress.end);
    const { from, tables, wasThere, notCopied } = copied;
    const rows = tables.map(({ table, rows, sha256 }) => [
      table,
      rows.toLocaleString('en'),
      `sha256 ${sha256.slice(0, 16)}`,
    ]);
    const text = [
      wasThere ? `${copied.to} has all of ${from} already` : `${from} is copied to ${copied.to}`,
      formatColumns(rows, terminal.stdout.columns),
      ...notCopied.map((what) => `not copied: ${what}`),
    ].join('\n');
    const status = wasThere ? 'unchanged' : 'copied';
    return { document: { from, to: copied.to, status, tables, not_copied: notCopied }, text };
  },
});

const migrate = command('migrate', {
  about: 'bring the tables of a Postgres store to the version that this Signalbox needs',
  examples: `
An empty database gets its tables with the first run too; tables of an earlier version are changed by this command alone,
all of the way or not at all. End what an older Signalbox runs on them first. A SQLite store gets its tables when it is opened.

Examples:
  signalbox store migrate
  signalbox store migrate --config agents/runtime.yaml --json

Exit codes: 0 the tables are of this version; 1 the store failed; 2 the config is wrong, or its store is not in Postgres.`,
  run: async ({ options, invocation }) => {
    const { loadMigration } = await import('../../runtime/runtime.ts');
    const { migrateStore } = await loadMigration();
    const { store, from, to } = await migrateStore(options.config, invocation.env, options.overlays);
    const before = from === 0 ? 'empty' : `of version ${from}`;
    const isSame = from === to;
    const text = `${store} is of version ${to} ${isSame ? 'already' : `now, and was ${before}`}`;
    return { document: { store, from, to }, text };
  },
});

const resetClock = command('reset-clock', {
  about: 'set times that a SQLite store kept while the clock was wrong back to now',
  examples: `
Nobody can decide a call that expires while the clock is behind the newest time that the store has kept: the call may have expired
already. Set the clock first. Where it is right, and a time was kept while it ran ahead, this command sets that time back to now.
When calls expire and waits end stays as it is.

Examples:
  signalbox doctor
  signalbox store reset-clock

Exit codes: 0 done; 1 the store failed; 2 the config is wrong, or its store is not a file.`,
  run: async ({ options, invocation }) => {
    const { loadMigration } = await import('../../runtime/runtime.ts');
    const migration = await loadMigration();
    const { store, changed } = await migration.resetClock(options.config, invocation.env, options.overlays);
    const text = `${store}: ${changed === 1 ? '1 time was' : `${changed} times were`} later than now`;
    return { document: { store, changed }, text };
  },
});

export const storeCommands = group('store', {
  about: 'look after a state store',
  commands: [copy, migrate, resetClock],
});

function readPlace(
  { to, toEnv }: { readonly to?: string; readonly toEnv?: string },
  env: Readonly<Record<string, string | undefined>>,
) {
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
