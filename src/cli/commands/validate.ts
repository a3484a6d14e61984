import type { Command } from 'commander';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { RunCommand } from '../command.ts';

/** `validate`. */
export function addValidateCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('validate [paths...]')
    .description('check configs, suites and pipelines, those of a folder too, every problem at once')
    .option('--no-programs', 'do not look for programs and scripts: another machine has them')
    .option('--strict', 'take warnings for errors')
    .option('--values', 'also tell where each value of the config comes from, never the value')
    .addHelpText('after', examples)
    .action(async (given: string[], flags: ValidateFlags, command: Command) => {
      const { programs, strict = false, values = false } = flags;
      await runCommand(command, async ({ invocation, options, terminal, isConfigGiven }) => {
        const { formatProblem, loadChecker, loadValues } = await import('../../runtime/runtime.ts');
        const { findCheckable, validateFile } = await loadChecker();
        const isConfigMeant = given.length === 0 && (isConfigGiven || values);
        const overlays = isConfigMeant ? options.overlays : [];
        const read = { env: invocation.env, overlays, ignoresPrograms: !programs };
        const files = isConfigMeant ? [options.config] : await findCheckable(given, options.config);
        const all: Awaited<ReturnType<typeof validateFile>>[number][] = [];
        for (const file of files) all.push(...(await validateFile(file, options.config, read)));
        // Errors of a runtime that is checked too are told with it.
        const isTold = ({ about, hint }: (typeof all)[number]) =>
          about === 'runtime' && files.some((file) => hint?.includes(`validate ${file}\``) === true);
        const found = withoutRepetition(all.filter((problem) => !isTold(problem)));
        const problems = strict ? found.map(toStrict) : found;
        const errors = problems.filter(({ severity }) => severity === 'error').length;
        const warnings = problems.filter(({ severity }) => severity === 'warning').length;
        const origins = values ? (await loadValues()).listValues(files[0] ?? '', read) : undefined;
        if (options.json)
          terminal.printJson({
            valid: errors === 0,
            files: files.length,
            errors,
            warnings,
            problems,
            values: origins,
          });
        else {
          for (const origin of origins ?? []) terminal.print(escapeInvisible(originText(origin)));
          for (const problem of problems) terminal.print(escapeInvisible(formatProblem(problem)));
          terminal.printStderr(summary(files.length, errors, warnings));
        }
        return errors === 0 ? 0 : 2;
      });
    });
}

interface ValidateFlags {
  readonly programs: boolean;
  readonly strict?: boolean;
  readonly values?: boolean;
}

const examples = `
Examples:
  signalbox validate
  signalbox validate runtime.yaml support.suite.yaml
  signalbox validate suites/
  signalbox validate --no-programs
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
  const code = errors === 0 ? '' : '[CONFIG_INVALID] ';
  return `${code}${formatCount(files, 'file')}: ${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}`;
}
