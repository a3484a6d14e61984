import { type Command, Option } from 'commander';
import type { TemplateLanguage } from '../../runtime/runtime.ts';
import type { RunCommand } from '../command.ts';
import { commandName } from '../next-command.ts';

/** `init`. */
export function addInitCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('init [folder]')
    .description('write a working runtime.yaml with a tool, an eval, a PII filter and a model to serve')
    .addOption(
      new Option('--lang <language>', 'what the scripts are written in')
        .choices(['python', 'node', 'sh'])
        .default('python'),
    )
    .addHelpText('after', examples)
    .action(async (folder: string | undefined, own: { lang: TemplateLanguage }, command: Command) => {
      await runCommand(command, async ({ invocation, options, terminal }) => {
        const { writeTemplate } = await import('../../runtime/runtime.ts');
        const target = folder ?? '.';
        const written = writeTemplate(target, own.lang);
        if (options.json) terminal.printJson({ folder: target, files: written });
        else {
          for (const file of written) terminal.print(`wrote ${file}`);
          terminal.print(nextSteps(target, commandName(invocation.env)));
        }
        return 0;
      });
    });
}

const examples = `
Examples:
  signalbox init
  signalbox init my-guards
  signalbox init my-guards --lang node

Files that are already there are never written over.`;

function nextSteps(folder: string, name: string): string {
  const commands = ['validate', 'tool list', 'eval run quickstart.suite.yaml', 'serve'];
  const steps = [...(folder === '.' ? [] : [`cd ${folder}`]), ...commands.map((each) => `${name} ${each}`)];
  return `\nTry:${steps.map((step) => `\n  ${step}`).join('')}`;
}
