import type { Command } from 'commander';
import type { RunCommand } from '../../command.ts';
import { addAuditList } from './list.ts';
import { addAuditPrune } from './prune.ts';
import { addAuditShow } from './show.ts';
import { addAuditHead, addAuditVerify } from './verify.ts';

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
