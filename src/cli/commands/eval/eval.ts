import type { Command } from 'commander';
import type { RunCommand } from '../../command.ts';
import { addAgreement } from './agreement.ts';
import { addCall } from './call.ts';
import { addDiff } from './diff.ts';
import { addHtml } from './html.ts';
import { addImport } from './import.ts';
import { addList } from './list.ts';
import { addPrune } from './prune.ts';
import { addRate } from './rate.ts';
import { addRun } from './run.ts';
import { addShow } from './show.ts';
import { addView } from './view.ts';

/** `eval call`, `run`, `diff`, `list`, `show`, `html`, `view`, `rate`, `agreement`, `import` and `prune`. */
export function addEvalCommands(program: Command, runCommand: RunCommand): void {
  const group = program
    .command('eval')
    .description('score answers, run suites of them, and compare runs')
    .addHelpText('after', examples);
  addCall(group, runCommand);
  addRun(group, runCommand);
  addDiff(group, runCommand);
  addList(group, runCommand);
  addShow(group, runCommand);
  addHtml(group, runCommand);
  addView(group, runCommand);
  addRate(group, runCommand);
  addAgreement(group, runCommand);
  addImport(group, runCommand);
  addPrune(group, runCommand);
}

const examples = `
Examples:
  signalbox eval call politeness --content @answer.txt --min-score 0.8
  signalbox eval run support.suite.yaml
  signalbox eval diff main.jsonl last --fail-on-regression`;
