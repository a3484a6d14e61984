import type { Command } from 'commander';
import { escapeInvisible } from '../../../text/escape-invisible.ts';
import type { RunCommand } from '../command.ts';

/** `validate`. */
export function addValidateCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('validate [files...]')
    .description('check config and suite files, every problem at once')
    .option('--strict', 'take warnings for errors')
    .addHelpText('after', examples)
    .action(async (files: string[], { strict = false }: { strict?: boolean }, command: Command) => {
      await runCommand(command, async ({ options, terminal }) => {
        const { formatProblem, loadChecker } = await import('../../../runtime/runtime.ts');
        const { validateFile } = await loadChecker();
        const named = files.length === 0 ? [options.config] : files;
        const found = (await Promise.all(named.map((file) => validateFile(file, options.config)))).flat();
        const problems = strict ? found.map(toStrict) : found;
        const errors = problems.filter(({ severity }) => severity === 'error').length;
        const warnings = problems.filter(({ severity }) => severity === 'warning').length;
        if (options.json) terminal.printJson({ valid: errors === 0, errors, warnings, problems });
        else {
          for (const problem of problems) terminal.print(escapeInvisible(formatProblem(problem)));
          terminal.printStderr(summary(named.length, errors, warnings));
        }
        return errors === 0 ? 0 : 2;
      });
    });
}

const examples = `
Examples:
  signalbox validate
  signalbox validate runtime.yaml support.suite.yaml
  signalbox validate --strict
  signalbox validate --json | jq '.problems[] | select(.severity == "error")'

Exit codes: 0 no errors (warnings are told), 2 errors, or warnings with --strict.`;

/** Turns warnings into errors; notes stay. */
function toStrict<Problem extends { readonly severity: string }>(problem: Problem): Problem {
  return problem.severity === 'warning' ? { ...problem, severity: 'error' } : problem;
}

function summary(files: number, errors: number, warnings: number): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `${count(files, 'file')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
