import type { Command } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/format-count.ts';
import type { AuditReport } from '../../../runtime/gateway/audit.ts';
import type { RunCommand } from '../../command.ts';
import { openRowProgress } from '../../show/row-progress.ts';
import type { Terminal } from '../../terminal.ts';
import { addAuditList, addDatabaseOption, findAudit } from './list.ts';
import { addAuditPrune } from './prune.ts';
import { addAuditShow } from './show.ts';

/** `audit list`, `show`, `verify`, `head` and `prune`. */
export function addAuditCommands(program: Command, runCommand: RunCommand): void {
  const group = program
    .command('audit')
    .description('see and verify what a gateway has recorded')
    .addHelpText('after', examples);
  addAuditList(group, runCommand);
  addAuditShow(group, runCommand);
  addAuditVerify(group, runCommand);
  addAuditHead(group, runCommand);
  addAuditPrune(group, runCommand);
}

const examples = `
Examples:
  signalbox audit list --outcome denied --since 1h
  signalbox audit show req_5f0c
  signalbox audit verify --head audit-head.json --public-key audit.pub`;

interface VerifyFlags {
  readonly database?: string;
  readonly head?: string;
  readonly publicKey?: string;
}

/** `audit verify`. */
function addAuditVerify(group: Command, runCommand: RunCommand): void {
  addDatabaseOption(group.command('verify').description('find what was changed, removed or put in'))
    .option('--head <file>', 'heads that were kept elsewhere, one a line')
    .option('--public-key <file>', 'the public key, in PEM (default: audit.pub beside the database)')
    .addHelpText('after', verifyExamples)
    .action(async (flags: VerifyFlags, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal, signal } = context;
        const { audit, located } = await findAudit(context, flags.database);
        const pem = await audit.readPublicKeyOf(located, flags.publicKey);
        const publicKeys = audit.readPublicKeys(pem, flags.publicKey ?? 'audit.pub');
        const heads = flags.head === undefined ? [] : audit.readHeadFile(flags.head);
        const progress = openRowProgress(terminal);
        const report = await audit.verifyAudit(located, {
          publicKeys,
          heads,
          signal,
          onProgress: progress.show,
        });
        progress.end();
        if (options.json) terminal.printJson(report);
        else printReport(report, terminal);
        return report.status === 'good' ? 0 : 1;
      });
    });
}

function printReport(report: AuditReport, { print }: Pick<Terminal, 'print'>): void {
  const { problems, rows, first, last, pruned, heads, chains } = report;
  for (const { message, id } of problems)
    print(`${escapeInvisibleLine(message)}${id === null ? '' : ` (${escapeInvisibleLine(id)})`}`);
  const removed = pruned === 0 ? '' : `, ${pruned} before them removed by age`;
  const place = chains === undefined ? `${first} to ${last}` : `in ${chains.length} chains`;
  const span = rows === 0 ? 'no rows' : `${formatCount(rows, 'row')}, ${place}${removed}`;
  const kept = heads.compared === 0 ? '' : `, ${formatCount(heads.compared, 'head')} compared`;
  const old = heads.pruned === 0 ? '' : ` (${heads.pruned} of rows removed since)`;
  print(`${report.status}: ${span}${kept}${old}`);
}

/** `audit head`. */
function addAuditHead(group: Command, runCommand: RunCommand): void {
  addDatabaseOption(
    group.command('head').description('print the signed head of each chain, to be kept elsewhere'),
  )
    .addHelpText('after', headExamples)
    .action(async (flags: { readonly database?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { audit, located } = await findAudit(context, flags.database);
        const rows = await audit.openAuditRows(located);
        try {
          const heads = await rows.heads();
          if (heads.length === 0)
            throw new RuntimeError('STORE_FAILED', `the head of ${located.file} is gone`);
          for (const head of heads) context.terminal.print(head);
          return 0;
        } finally {
          await rows.close();
        }
      });
    });
}

const verifyExamples = `
Examples:
  signalbox audit verify
  signalbox audit verify --head audit-head.json --public-key audit.pub
  signalbox audit verify --database evidence/audit.db --head heads.jsonl --public-key audit.pub

Without --head and --public-key of your own it trusts the head and the key that lie beside the rows: whoever can write there and
has the key can replace all three.

Exit codes: 0 good, 1 tampered, 2 it cannot be verified.`;

const headExamples = `
Examples:
  signalbox audit head >> /mnt/elsewhere/heads.jsonl`;
