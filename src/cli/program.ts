import { Command, CommanderError, Option } from 'commander';
import type { Fault } from '../base/errors.ts';
import { findNearest } from '../base/text/suggest.ts';
import { versionOf } from '../base/version.ts';
import { type Declared, openRunCommand } from './command.ts';
import { agentsCommands } from './commands/agents.ts';
import { auditCommands } from './commands/audit.ts';
import { conformCommand } from './commands/conform.ts';
import { consoleCommand } from './commands/console.ts';
import { decisionsCommands } from './commands/decisions.ts';
import { doctorCommand } from './commands/doctor.ts';
import { evalCommands } from './commands/eval/eval.ts';
import { hookCommands } from './commands/hook.ts';
import { keysCommands } from './commands/keys.ts';
import { mcpCommand } from './commands/mcp.ts';
import { pendingCommands } from './commands/pending.ts';
import {
  cacheCommands,
  completionCommand,
  initCommand,
  providerCommands,
  validateCommand,
} from './commands/project.ts';
import { runCommand } from './commands/run.ts';
import { runsCommands } from './commands/runs.ts';
import { serveCommand } from './commands/serve.ts';
import { storeCommands } from './commands/store.ts';
import { toolCommands } from './commands/tool.ts';
import { workCommand, workerCommand, workersCommands } from './commands/work.ts';
import type { ExitCode } from './exit-code.ts';
import type { Invocation, OutputStream } from './invocation.ts';
import { openTerminal, watchStdout } from './terminal.ts';

/** Resolves to the exit code once stdout is written. Rejects only with a defect of this program. */
export async function main(invocation: Invocation): Promise<ExitCode> {
  const { argv } = invocation;
  let code: ExitCode = 0;
  let written = '';
  let isVerdict = false;
  const openWhole = () => open(commands, unheard);
  const run = openRunCommand(invocation, openWhole, (exitCode, givesVerdict) => {
    code = exitCode;
    isVerdict = givesVerdict;
  });
  const open = (some: readonly Declared[], output: ParserOutput): Command => {
    const program = openProgram(invocation, output);
    for (const each of some) each.addTo(program, run);
    return program;
  };
  const parse = async (some: readonly Declared[], output: ParserOutput) =>
    void (await open(some, output).parseAsync(argv, { from: 'user' }));
  const stdout = watchStdout(invocation);
  try {
    const named = namedIn(argv);
    if (named.length === 0 || !(await isParsed(() => parse(named, unheard)))) {
      const writeOut = (text: string) => {
        written += text;
      };
      await parse(commands, { writeOut, writeErr: openTerminal(invocation, false).writeStderr });
    }
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const named = commandIn(argv, openWhole());
    code = exitCodeOfParsing(error, { written: written.trimEnd(), command: named }, invocation);
  }
  return (await stdout.hasFailed()) ? exitCodeOfStdout(code, isVerdict) : code;
}

interface ParserOutput {
  writeOut(text: string): void;
  writeErr(text: string): void;
}

const unheard: ParserOutput = { writeOut: () => {}, writeErr: () => {} };

const commands: readonly Declared[] = [
  ...[initCommand, validateCommand, doctorCommand, conformCommand, toolCommands, evalCommands, cacheCommands],
  ...[
    hookCommands,
    agentsCommands,
    providerCommands,
    serveCommand,
    mcpCommand,
    runCommand,
    pendingCommands,
    runsCommands,
  ],
  ...[
    consoleCommand,
    workCommand,
    workerCommand,
    workersCommands,
    keysCommands,
    auditCommands,
    decisionsCommands,
    storeCommands,
  ],
  completionCommand,
];

/**
 * Declares only the commands that the arguments can mean, because declaring all takes longer than parsing. Help and
 * mistakes need all.
 */
function namedIn(argv: readonly string[]): readonly Declared[] {
  return commands.filter(({ names }) => names.some((name) => argv.includes(name)));
}

/** False if the parser refuses the arguments or answers them itself. A command that ran throws no such error. */
async function isParsed(parse: () => Promise<void>): Promise<boolean> {
  try {
    await parse();
    return true;
  } catch (error) {
    if (error instanceof CommanderError) return false;
    throw error;
  }
}

function openProgram({ stdout, stderr }: Invocation, { writeOut, writeErr }: ParserOutput): Command {
  return new Command('signalbox')
    .description(
      'Run tools, evals, guardrails and pipelines in any language as plain processes, declared in YAML.',
    )
    .version(versionOf(), '-V, --version')
    .addOption(configOption())
    .option(
      '--remote <url>',
      'the address of a console, such as https://ops.example.com/console, in place of a config; the key is in SIGNALBOX_KEY',
    )
    .option('--json', 'print exactly one JSON document on stdout')
    .option('--no-color', 'print no colours, even on a terminal')
    .addOption(
      new Option('--log-level <level>', 'the least severe log lines to print on stderr').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .addOption(
      new Option(
        '--log-format <format>',
        'the format of the log; serve, work and worker write json to a pipe',
      ).choices(['text', 'json']),
    )
    .option(
      '--stop-timeout <duration>',
      'how long running work may take to end after Ctrl-C or SIGTERM (default: 30s)',
    )
    .addHelpText('after', examples())
    .configureHelp({
      showGlobalOptions: true,
      // The options of `mcp` are not those of `mcp pin`.
      visibleGlobalOptions: ({ parent }) => (parent?.parent ?? parent)?.options.slice() ?? [],
    })
    .configureOutput({
      writeOut,
      writeErr,
      outputError: () => {},
      getOutHelpWidth: () => helpWidthOf(stdout),
      getErrHelpWidth: () => helpWidthOf(stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
}

function configOption(): Option {
  const given: string[] = [];
  return new Option(
    '-c, --config <file>',
    'the RuntimeConfig file; repeat the option to overlay further files',
  )
    .default(['runtime.yaml'], 'runtime.yaml')
    .argParser((file: string) => {
      given.push(file);
      return given;
    });
}

function helpWidthOf({ isTTY, columns }: OutputStream): number {
  return (isTTY === true ? columns : undefined) ?? 80;
}

/** If 1 is a verdict, unwritable output is not one. */
function exitCodeOfStdout(code: ExitCode, isVerdict: boolean): ExitCode {
  if (isVerdict) return code === 130 ? 130 : 2;
  return code === 0 ? 1 : code;
}

function exitCodeOfParsing(
  { code, exitCode, message }: CommanderError,
  { written, command }: { readonly written: string; readonly command: string },
  invocation: Invocation,
): 0 | 2 {
  const { print, printJson, printStderr } = openTerminal(invocation, false);
  const wantsJson = invocation.argv.includes('--json');
  if (exitCode === 0) {
    if (wantsJson) printJson(code === 'commander.version' ? { version: written } : { help: written });
    else print(written);
    return 0;
  }
  const fault = usageFault(message, command);
  if (wantsJson) printJson({ error: fault });
  if (message !== helpShown) printStderr(`error: [${fault.code}] ${fault.message}\nhint: ${fault.hint}`);
  return 2;
}

/** Commander's code after it printed the help because the command was missing. */
const helpShown = '(outputHelp)';

function usageFault(message: string, command: string): Fault {
  const text = message === helpShown ? 'a command is missing or unknown' : message;
  const [what = '', guess] = text.replace(/^error: /, '').split('\n');
  const [, guessed] = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(guess ?? '') ?? [];
  const [, given = '', choices = ''] = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/.exec(what) ?? [];
  const meant = guessed ?? findNearest(given, choices.split(', '));
  const hint =
    meant === undefined
      ? `Run \`signalbox ${command}--help\` to see its arguments.`
      : `did you mean \`${meant.replaceAll(', ', '` or `')}\`?`;
  return { code: 'USAGE', message: what, hint };
}

function commandIn(argv: readonly string[], program: Command): string {
  let command = program;
  let names = '';
  for (const word of argv) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) continue;
    command = next;
    names += `${word} `;
  }
  return names;
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

Documentation: docs/README.md in the package (node_modules/signalbox). Errors and help texts name pages of that folder.

Exit codes: 0 success, 1 the work failed, 2 the call or the config is wrong,
3 paused for a person, 130 interrupted.`;
}
