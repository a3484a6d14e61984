import type { Command } from 'commander';
import { escapeInvisible } from '../../../text/escape-invisible.ts';
import type { RunCommand } from '../command.ts';

/** `validate`. */
export function addValidateCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('validate [files...]')
    .description('check config and suite files, every problem at once')
    .option('--strict', 'take warnings for errors')
    .option('--values', 'also tell where each value of the config comes from, never the value')
    .addHelpText('after', examples)
    .action(async (files: string[], { strict = false, values = false }: ValidateFlags, command: Command) => {
      await runCommand(command, async ({ invocation, options, terminal }) => {
        const { formatProblem, loadChecker, loadValues } = await import('../../../runtime/runtime.ts');
        const { validateFile } = await loadChecker();
        const { overlays } = options;
        const read = { env: invocation.env, overlays: files.length === 0 ? overlays : [] };
        const named = files.length === 0 ? [options.config] : files;
        const found = withoutRepetition(
          (await Promise.all(named.map((file) => validateFile(file, options.config, read)))).flat(),
        );
        const problems = strict ? found.map(toStrict) : found;
        const errors = problems.filter(({ severity }) => severity === 'error').length;
        const warnings = problems.filter(({ severity }) => severity === 'warning').length;
        const origins = values ? (await loadValues()).listValues(named[0] ?? '', read) : undefined;
        if (options.json)
          terminal.printJson({ valid: errors === 0, errors, warnings, problems, values: origins });
        else {
          for (const origin of origins ?? []) terminal.print(escapeInvisible(originText(origin)));
          for (const problem of problems) terminal.print(escapeInvisible(formatProblem(problem)));
          terminal.printStderr(summary(named.length, errors, warnings));
        }
        return errors === 0 ? 0 : 2;
      });
    });
}

interface ValidateFlags {
  readonly strict?: boolean;
  readonly values?: boolean;
}

const examples = `
Examples:
  signalbox validate
  signalbox validate runtime.yaml support.suite.yaml
  signalbox validate --strict
  signalbox validate --config runtime.yaml --config production.yaml --values
  signalbox validate --json | jq '.problems[] | select(.severity == "error")'

Exit codes: 0 no errors (warnings are told), 2 errors, or warnings with --strict.`;

/** A pipeline that several run, or that is named too, is told of once. */
function withoutRepetition<Problem>(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

/** As `providers[main].model  production.yaml:7:14  MODEL`. */
function originText({ path, file, line, column, variables }: Origin): string {
  return [path, `${file}:${line}:${column}`, ...variables].join('  ');
}

interface Origin {
  readonly path: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly variables: readonly string[];
}

/** Turns warnings into errors; notes stay. */
function toStrict<Problem extends { readonly severity: string }>(problem: Problem): Problem {
  return problem.severity === 'warning' ? { ...problem, severity: 'error' } : problem;
}

function summary(files: number, errors: number, warnings: number): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `${count(files, 'file')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
