import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import type { KeptCall } from '../../../runtime/gateway/audit.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import { shortIds } from '../../id.ts';
import { readWhole } from '../../input.ts';
import { readAge } from '../../show/age.ts';

interface ListFlags {
  readonly database?: string;
  readonly key?: string;
  readonly model?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly body?: string;
  readonly limit: string;
}

const outcomes = ['allowed', 'modified', 'denied', 'failed', 'aborted', 'refused'];

/** `audit list`. */
export function addAuditList(group: Command, runCommand: RunCommand): void {
  addDatabaseOption(group.command('list').description('show calls, the newest first'))
    .option('--key <key>', 'only those of this key, by its id or its name')
    .option('--model <name>', 'only those of this model')
    .addOption(new Option('--outcome <outcome>', 'only those').choices(outcomes))
    .option('--since <when>', 'only those since a time, or since so long ago, such as 1h')
    .option('--body <file>', 'only those whose request or answer was exactly this')
    .option('--limit <number>', 'at most so many', '50')
    .addHelpText('after', examples)
    .action(async (flags: ListFlags, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const limit = readWhole('--limit', flags.limit) ?? 50;
        const since = flags.since === undefined ? undefined : await readSince(flags.since);
        const { audit, located } = await findAudit(context, flags.database);
        const digest = flags.body === undefined ? undefined : await audit.digestOfFile(located, flags.body);
        const rows = await audit.openAuditRows(located);
        try {
          const { key, model, outcome } = flags;
          const calls = await rows.list({ key, model, outcome, since, digest, limit });
          if (options.json) terminal.printJson({ calls: calls.map(toDocument) });
          else if (calls.length === 0) terminal.printStderr('there are no such calls');
          else {
            const short = shortIds(calls.map(({ id }) => id));
            terminal.printTable(
              columns,
              calls.map((call) => toColumns(call, short)),
            );
          }
          return 0;
        } finally {
          await rows.close();
        }
      });
    });
}

/** A time, or an age. Throws USAGE. */
async function readSince(text: string): Promise<number> {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return Date.now() - (await readAge('--since', text));
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new RuntimeError('USAGE', `--since takes a time or a duration, not "${text}"`, {
    hint: 'Write it like 2026-01-31, 2026-01-31T12:00:00Z or 12h.',
  });
}

/** The document of a call, its time readable. */
export function toDocument({ at, ...call }: KeptCall) {
  return { at: timeOf(at), ...call };
}

/** In UTC; a time that no date has is told as it is. */
export function timeOf(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
}

const columns = ['time', 'status', 'outcome', 'endpoint', 'model', 'caller', 'id', 'hook'];

function toColumns(
  { at, status, outcome, endpoint, model, caller, id, verdicts }: KeptCall,
  short: (id: string) => string,
): string[] {
  const hook = verdicts.findLast((verdict) => verdict.hook !== null)?.hook ?? '';
  const time = timeOf(at).replace(/\.\d+Z$/, 'Z');
  return [time, String(status), outcome, endpoint, model, caller, short(id), hook];
}

const examples = `
Examples:
  signalbox audit list
  signalbox audit list --key support --outcome denied --since 24h
  signalbox audit list --body request.json
  signalbox audit list --since 2026-01-31 --limit 100000 --json | jq '[.calls[].cost] | add'

Each line has the time (UTC), the HTTP status, the outcome, the endpoint, the model, the caller, the id, and the hook
that decided or changed something. \`audit verify\` says whether the rows are those that were written.`;

/** Adds the option that names an audit without its config. */
export function addDatabaseOption(command: Command): Command {
  return command.option('--database <file>', 'a copy of an audit.db, in place of that of --config');
}

/** The module for audits, and the one that the options name. Throws as `locateAudit` does. */
export async function findAudit(
  { options, invocation }: Pick<CommandContext, 'options' | 'invocation'>,
  database: string | undefined,
) {
  const { loadAudit } = await import('../../../runtime/runtime.ts');
  const audit = await loadAudit();
  const located =
    database === undefined
      ? await audit.locateAudit(options.config, invocation.env, options.overlays)
      : audit.auditIn(resolve(database));
  return { audit, located };
}
