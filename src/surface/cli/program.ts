import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { catalogue, toRuntimeError } from '../../errors.ts';
import { addEvalCommands } from './commands/eval.ts';
import { addHookCommands } from './commands/hook.ts';
import { addInitCommand } from './commands/init.ts';
import { addToolCommands } from './commands/tool.ts';
import { addValidateCommand } from './commands/validate.ts';
import { interruption } from './interrupt.ts';
import { openTerminal } from './terminal.ts';

/** The whole command line, ready to parse its arguments. */
export async function runProgram(): Promise<void> {
  const signal = interruption();
  const program = new Command('signalbox')
    .description(
      'Run tools, evals and guardrails in any language as plain processes, declared in one YAML file.',
    )
    .version(versionOf(), '-V, --version')
    .option('-c, --config <file>', 'the RuntimeConfig file', 'runtime.yaml')
    .option('--json', 'print exactly one JSON document on stdout')
    .option('--no-color', 'no colours, on terminals too')
    .addOption(
      new Option('--log-level <level>', 'what is logged on stderr').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .addHelpText('after', examples())
    .showHelpAfterError('(add --help for the arguments and examples)')
    .exitOverride();

  addInitCommand(program, signal);
  addValidateCommand(program, signal);
  addToolCommands(program, signal);
  addEvalCommands(program, signal);
  addHookCommands(program, signal);
  // Whoever reads our stdout may have read enough.
  process.stdout.on('error', () => {});
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = endOfParsing(error);
  }
}

/** Commander has already said what is wrong, to people; a wrong call is 2, help and version are 0. */
function endOfParsing(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { message } = toRuntimeError(error);
  const fault = { code: 'USAGE', message: message.replace(/^error: /, ''), hint: catalogue.USAGE.hint };
  if (process.argv.includes('--json')) openTerminal(false).printJson({ error: fault });
  return 2;
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return String(version);
}

function examples(): string {
  return `
Examples:
  signalbox init my-guards && cd my-guards
  signalbox validate
  signalbox tool call greet --args '{"name": "Ada"}'
  signalbox eval run quickstart.suite.yaml
  signalbox hook fire --hook provider --phase before_call --event @event.json

Exit codes: 0 done and good, 1 the work failed, 2 the call or the config is wrong,
3 paused for a person, 130 interrupted.`;
}
