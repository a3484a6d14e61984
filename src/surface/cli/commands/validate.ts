import type { Command } from 'commander';
import { perform } from '../command.ts';

/** `validate`. */
export function addValidateCommand(program: Command, signal: AbortSignal): void {
  program
    .command('validate [files...]')
    .description('check config and suite files, every problem at once')
    .addHelpText('after', examples)
    .action(async (files: string[], _own: unknown, command: Command) => {
      await perform(command, signal, async ({ options, terminal }) => {
        const { formatProblem, loadChecker } = await import('../../../runtime.ts');
        const { validateFile } = await loadChecker();
        const named = files.length === 0 ? [options.config] : files;
        const problems = named.flatMap((file) => validateFile(file, options.config));
        const errors = problems.filter(({ severity }) => severity === 'error').length;
        const warnings = problems.filter(({ severity }) => severity === 'warning').length;
        if (options.json) terminal.printJson({ valid: errors === 0, errors, warnings, problems });
        else {
          for (const problem of problems) terminal.print(formatProblem(problem));
          terminal.tell(summary(named.length, errors, warnings));
        }
        return errors === 0 ? 0 : 2;
      });
    });
}

const examples = `
Examples:
  signalbox validate
  signalbox validate runtime.yaml support.suite.yaml
  signalbox validate --json | jq '.problems[] | select(.severity == "error")'

Exit codes: 0 no errors (warnings are told), 2 errors.`;

function summary(files: number, errors: number, warnings: number): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `${count(files, 'file')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
