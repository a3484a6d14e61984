import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { catalogue, type Fault } from '../../errors.ts';
import { isEvalCommand } from './command.ts';
import { addEvalCommands } from './commands/eval/eval.ts';
import { addHookCommands } from './commands/hook.ts';
import { addInitCommand } from './commands/init.ts';
import { addPendingCommands } from './commands/pending.ts';
import { addProviderCommands } from './commands/provider.ts';
import { addRunCommand } from './commands/run.ts';
import { addRunsCommands } from './commands/runs.ts';
import { addToolCommands } from './commands/tool.ts';
import { addValidateCommand } from './commands/validate.ts';
import { openInterruptSignal } from './interrupt.ts';
import { openTerminal, watchStdout } from './terminal.ts';

/** Parses the arguments of this process and does what they ask for. */
export async function runProgram(): Promise<void> {
  const signal = openInterruptSignal();
  let written = '';
  const program = new Command('signalbox')
    .description(
      'Run tools, evals, guardrails and pipelines of them in any language as plain processes, declared in YAML.',
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
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => {
        written += text;
      },
    })
    .exitOverride();

  addInitCommand(program, signal);
  addValidateCommand(program, signal);
  addToolCommands(program, signal);
  addEvalCommands(program, signal);
  addHookCommands(program, signal);
  addProviderCommands(program, signal);
  addRunCommand(program, signal);
  addPendingCommands(program, signal);
  addRunsCommands(program, signal);
  let isEval = false;
  program.hook('preAction', (_, command) => {
    isEval = isEvalCommand(command);
  });
  watchStdout(() => isEval);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = exitCodeOfParsing(error, written.trimEnd());
  }
}

/**
 * Handles what Commander throws, also for --help and --version; it has printed errors to stderr already.
 */
function exitCodeOfParsing({ code, exitCode, message }: CommanderError, written: string): 0 | 2 {
  const { print, printJson } = openTerminal(false);
  const wantsJson = process.argv.includes('--json');
  if (exitCode === 0) {
    if (wantsJson) printJson(code === 'commander.version' ? { version: written } : { help: written });
    else print(written);
    return 0;
  }
  if (wantsJson) printJson({ error: usageFault(message) });
  return 2;
}

/** Commander's message, its guess at what was meant as the hint. */
function usageFault(message: string): Fault {
  // What Commander throws after it has shown the help because the command was missing.
  const text = message === '(outputHelp)' ? 'a command is missing, or not one of those there are' : message;
  const [what = '', guess] = text.replace(/^error: /, '').split('\n');
  const hint = guess?.replace(/^\((.*)\)$/, '$1') ?? catalogue.USAGE.hint;
  return { code: 'USAGE', message: what, hint };
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
  signalbox run refund.pipeline.yaml --input '{"order": "A-17"}'
  signalbox pending approve pending_3f2a --resume

Exit codes: 0 done and good, 1 the work failed, 2 the call or the config is wrong,
3 paused for a person, 130 interrupted.`;
}
