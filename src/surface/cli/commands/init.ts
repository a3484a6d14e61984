import { type Command, Option } from 'commander';
import type { TemplateLanguage } from '../../../runtime/runtime.ts';
import type { RunCommand } from '../command.ts';

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
      await runCommand(command, async ({ options, terminal }) => {
        const { writeTemplate } = await import('../../../runtime/runtime.ts');
        const target = folder ?? '.';
        const written = writeTemplate(target, own.lang);
        if (options.json) terminal.printJson({ folder: target, files: written });
        else {
          for (const file of written) terminal.print(`wrote ${file}`);
          terminal.print(nextSteps(target));
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

function nextSteps(folder: string): string {
  const enter = folder === '.' ? '' : `  cd ${folder}\n`;
  return `\nTry:\n${enter}  npx signalbox validate\n  npx signalbox tool list\n  npx signalbox eval run quickstart.suite.yaml\n  npx signalbox serve`;
}
