import type { Command } from 'commander';
import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { systemCode } from '../base/files/file-error.ts';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import type { Runtime, RuntimeOptions } from '../runtime/runtime.ts';
import { type ExitCode, exitCodeOfError, exitCodeOfEvalError } from './exit-code.ts';
import { type Input, openInput } from './input.ts';
import type { Invocation } from './invocation.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Options that every command has. */
interface CommonOptions {
  readonly config: string;
  /** Further --config options: files that are laid over the first. */
  readonly overlays: readonly string[];
  readonly json?: true;
  readonly color: boolean;
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly logFormat?: 'text' | 'json';
  readonly stopTimeout?: string;
}

/** What every command gets beside its own arguments. */
export interface CommandContext {
  readonly invocation: Invocation;
  readonly options: CommonOptions;
  readonly terminal: Terminal;
  readonly input: Input;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether --config was given, rather than left to its default. */
  readonly isConfigGiven: boolean;
  /** Opens the runtime of `file` (default: --config); it is closed when the command ends or throws. */
  open(file?: string, more?: OpenOptions): Promise<Runtime>;
}

export type OpenOptions = Pick<
  RuntimeOptions,
  'onEvent' | 'record' | 'replay' | 'cassette' | 'concurrency' | 'logLevel'
> & {
  /** Logs JSON where stderr is no terminal; every other command logs text. */
  readonly isService?: boolean;
  /** Takes the lines of the log in place of stderr. */
  readonly writeLog?: (lines: string) => void;
  /** Ctrl-C does not end its work: the command ends it by itself. */
  readonly outlivesInterrupt?: boolean;
};

/**
 * Runs the work of a command; its exit code, that of its error, or 130 after Ctrl-C becomes that of the command line.
 * Never throws.
 */
export type RunCommand = (
  command: Command,
  work: (context: CommandContext) => Promise<ExitCode>,
  /** The command goes on until it is interrupted, which is its good end. */
  isServer?: boolean,
) => Promise<void>;

/** Makes what runs the commands of one invocation; `exit` gets the exit code. */
export function openRunCommand(invocation: Invocation, exit: (code: ExitCode) => void): RunCommand {
  const { signal } = invocation;
  return async (command, work, isServer = false) => {
    const { config: files, ...rest }: Omit<CommonOptions, 'config'> & { readonly config: readonly string[] } =
      command.optsWithGlobals();
    const [config = '', ...overlays] = files;
    const options: CommonOptions = { ...rest, config, overlays };
    const isConfigGiven = command.getOptionValueSourceWithGlobals('config') === 'cli';
    const codeOf = givesVerdict(command) ? exitCodeOfEvalError : exitCodeOfError;
    const code = await runWork({ invocation, options, isConfigGiven, signal }, work, codeOf);
    // Ctrl-C may also have come while the runtime was closing.
    exit(signal.aborted && !isServer ? 130 : code);
  };
}

/** Whether exit code 1 of the command is a verdict: a missed gate of `eval`, a changed row of `audit`, what `doctor` finds. */
export function givesVerdict(command: Command): boolean {
  const group = command.parent?.name();
  return group === 'eval' || group === 'audit' || command.name() === 'doctor';
}

async function runWork(
  base: Pick<CommandContext, 'invocation' | 'options' | 'isConfigGiven' | 'signal'>,
  work: (context: CommandContext) => Promise<ExitCode>,
  codeOf: typeof exitCodeOfError,
): Promise<ExitCode> {
  const { invocation, options, signal } = base;
  const terminal = openTerminal(invocation, options.color);
  const opened: Runtime[] = [];
  const open = async (file = options.config, open: OpenOptions = {}) => {
    const { isService = false, writeLog, outlivesInterrupt = false, ...more } = open;
    const { openRuntime } = await import('../runtime/runtime.ts');
    const runtime = await openRuntime(file, {
      ...more,
      env: invocation.env,
      overlays: file === options.config ? options.overlays : [],
      launcher: launcherOf(invocation),
      ...(!outlivesInterrupt && { signal }),
      logLevel: options.logLevel ?? more.logLevel,
      logFormat: options.logFormat,
      log: {
        // The log escapes its own lines.
        write: writeLog ?? ((lines) => terminal.stderr.write(lines)),
        isTerminal: !isService || terminal.stderr.isTTY,
        hasColour: terminal.hasErrorColour,
      },
    });
    opened.push(runtime);
    return runtime;
  };
  try {
    await limitStop(options, invocation);
    return await work({ ...base, terminal, input: openInput(invocation), open });
  } catch (error) {
    const failure = withoutConfig(toRuntimeError(error), base);
    await printError(failure, options, terminal);
    return codeOf(failure.code);
  } finally {
    for (const runtime of opened) await runtime.close();
  }
}

/** Says what to do in a folder without a config, where the error is that there is none. */
function withoutConfig(
  error: RuntimeError,
  { options, isConfigGiven }: Pick<CommandContext, 'options' | 'isConfigGiven'>,
): RuntimeError {
  const { code, message, details, cause } = error;
  const isMissing = code === 'FILE_UNREADABLE' && systemCode(cause) === 'ENOENT';
  const isConfig = cause instanceof Error && 'path' in cause && cause.path === options.config;
  if (isConfigGiven || !isMissing || !isConfig) return error;
  const hint = 'Run `signalbox init` to make one here, or name it with --config FILE.';
  return new RuntimeError(code, message, { hint, details, cause: error });
}

/** Throws USAGE. */
async function limitStop({ stopTimeout }: CommonOptions, invocation: Invocation): Promise<void> {
  if (stopTimeout === undefined) return;
  const { parseDuration } = await import('../runtime/runtime.ts');
  const ms = parseDuration(stopTimeout);
  if (ms !== undefined) return invocation.stopWithin(ms);
  throw new RuntimeError('USAGE', `--stop-timeout takes a duration, not "${stopTimeout}"`, {
    hint: 'Write it like 500ms, 10s or 2m.',
  });
}

/** The launcher that SIGNALBOX_LAUNCHER asks for: auto, native or portable. */
export function launcherOf({ env }: Invocation): RuntimeOptions['launcher'] {
  const name = env['SIGNALBOX_LAUNCHER'];
  return name === 'native' || name === 'portable' ? name : 'auto';
}

async function printError(error: RuntimeError, { json }: CommonOptions, terminal: Terminal): Promise<void> {
  const { code, message, details } = error;
  const hint = terminal.nameCommands(error.hint);
  const { problems, run_id, decision } = details;
  if (json) {
    // What a program needs to continue: the run to resume, the decision that is stored already.
    const more = { problems: Array.isArray(problems) ? problems : undefined, run_id, decision };
    terminal.printJson({ error: { code, message, hint, ...more } });
    return;
  }
  if (problems !== undefined) await printProblems(error, terminal);
  else terminal.printStderr(`error: [${code}] ${escapeInvisible(message)}`);
  if (problems === undefined && hint !== '') terminal.printStderr(`hint: ${escapeInvisible(hint)}`);
  if (code === 'INTERNAL') terminal.printStderr(escapeInvisible(error.stack ?? ''));
}

/** Prints an error and its problems, each once. Errors with problems come from the runtime, so it is loaded already. */
async function printProblems(error: RuntimeError, terminal: Terminal): Promise<void> {
  const { countProblems, formatProblem, problemsOf } = await import('../runtime/runtime.ts');
  const problems = problemsOf(error);
  const [repeated] = problems.filter((problem) => error.message.includes(problem.message));
  const headline = repeated === undefined ? error.message : countProblems(repeated.file, problems);
  terminal.printStderr(`error: [${error.code}] ${escapeInvisible(headline)}`);
  for (const problem of problems) terminal.printStderr(escapeInvisible(formatProblem(problem)));
}
