import { RuntimeError } from '../../base/errors.ts';
import { command, group } from '../command.ts';
import { formatColumns } from '../show/columns.ts';
import { openRowProgress } from '../show/row-progress.ts';

const copy = command('copy', {
  about: 'copy a state store from a file, with suite results, to Postgres',
  options: {
    '--to <address>': 'postgres://… without a password',
    '--to-env <name>': 'the environment variable with that address',
  },
  examples: `
Runs, their steps, long texts, calls that wait, history, suite results and stored answers are copied from the store of the
config. Each row is read again from the target and compared by digest. The target must be empty, or have the same rows
already. A copy that was interrupted leaves nothing half done: repeat it. No run may be in progress; what is written to the
source meanwhile is not copied. To copy a Postgres store, use pg_dump.

Examples:
  DATABASE_URL=postgres://signalbox:secret@db/agents signalbox store copy --to-env DATABASE_URL

More: docs/operate/state-postgres.md

Exit codes: 0 copied, or already there; 1 a store failed, the target is not empty, or runs are in progress; 2 the call or the
config is wrong; 130 interrupted.`,
  run: async ({ options, invocation: { env }, terminal, signal }, flags) => {
    const { loadCopy } = await import('../../runtime/runtime.ts');
    const { copyStore } = await loadCopy();
    const to = readPlace(flags, env);
    const url = URL.parse(to.text);
    const hasPassword = url !== null && (url.password !== '' || url.searchParams.has('password'));
    if (hasPassword && flags.to !== undefined)
      terminal.printStderr(
        'warning: other users can read a password on the command line: name a variable with --to-env',
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
      wasThere ? `${copied.to} already has all of ${from}` : `${from} is copied to ${copied.to}`,
      formatColumns(rows, terminal.stdout.columns),
      ...notCopied.map((what) => `not copied: ${what}`),
    ].join('\n');
    const status = wasThere ? 'unchanged' : 'copied';
    return { document: { from, to: copied.to, status, tables, not_copied: notCopied }, text };
  },
});

const migrate = command('migrate', {
  about: 'update the tables of a Postgres store to the version that this Signalbox needs',
  examples: `
The first run creates the tables in an empty database. Only this command changes tables of an earlier version, completely or
not at all. First stop every older Signalbox that uses them. A SQLite store gets its tables when it is opened.

Examples:
  signalbox store migrate
  signalbox store migrate --config agents/runtime.yaml --json

Exit codes: 0 the tables have this version; 1 the store failed; 2 the config is wrong, or its store is not in Postgres.`,
  run: async ({ options, invocation }) => {
    const { loadMigration } = await import('../../runtime/runtime.ts');
    const { migrateStore } = await loadMigration();
    const { store, from, to } = await migrateStore(options.config, invocation.env, options.overlays);
    const before = from === 0 ? 'was empty' : `had version ${from}`;
    const isSame = from === to;
    const text = `${store} has version ${to}${isSame ? ' already' : ` now; before, it ${before}`}`;
    return { document: { store, from, to }, text };
  },
});

const resetClock = command('reset-clock', {
  about: 'set future times in a SQLite store, from a wrong clock, back to now',
  examples: `
While the clock is behind the newest time in the store, nobody can decide a call that expires, because it may have expired
already. First set the clock. If the clock is right, and a time was stored while it ran ahead, this command sets that time
back to now. The times when calls expire and waits end do not change.

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
  about: 'copy, update and repair a state store',
  commands: [copy, migrate, resetClock],
});

function readPlace(
  { to, toEnv }: { readonly to?: string; readonly toEnv?: string },
  env: Readonly<Record<string, string | undefined>>,
) {
  if ((to === undefined) === (toEnv === undefined))
    throw new RuntimeError('USAGE', 'give either --to or --to-env');
  const name = toEnv ?? '--to';
  const text = toEnv === undefined ? to : Object.hasOwn(env, toEnv) ? env[toEnv] : undefined;
  if (text === undefined || text === '')
    throw new RuntimeError('USAGE', `${name} ${toEnv === undefined ? 'is empty' : 'is not set'}`, {
      hint: 'It needs an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE.',
    });
  return { name, text };
}
