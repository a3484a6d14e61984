import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CommandContext } from '../../command.ts';

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
