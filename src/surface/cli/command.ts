import type { Command } from 'commander';
import { type RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Runtime, RuntimeOptions } from '../../runtime/open-runtime.ts';
import { visible } from '../../text/escape-invisible.ts';
import { type ExitCode, exitCodeOfError, exitCodeOfEvalError } from './exit-code.ts';
import { type Input, openInput } from './input.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Options that every command has. */
export interface CommonOptions {
  readonly config: string;
  readonly json?: true;
  readonly color: boolean;
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** What a command is given beside its own arguments. */
export interface Situation {
  readonly options: CommonOptions;
  readonly terminal: Terminal;
  readonly input: Input;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether --config was given, rather than left to its default. */
  readonly isConfigGiven: boolean;
  /** Opens the runtime of --config, or of that file; it is closed when the command is done, whatever happens. */
  open(file?: string, more?: OpenOptions): Promise<Runtime>;
}

export type OpenOptions = Pick<
  RuntimeOptions,
  'onEvent' | 'record' | 'replay' | 'cassette' | 'concurrency' | 'logLevel'
> & {
  /** The log is for people also where no terminal is, unless the config says otherwise. */
  readonly isLogForPeople?: boolean;
};

/** Runs a command's work and makes an exit code of whatever comes of it. */
export async function perform(
  command: Command,
  signal: AbortSignal,
  work: (situation: Situation) => Promise<ExitCode>,
): Promise<void> {
  const options: CommonOptions = command.optsWithGlobals();
  const isConfigGiven = command.getOptionValueSourceWithGlobals('config') === 'cli';
  const codeOf = isEvalCommand(command) ? exitCodeOfEvalError : exitCodeOfError;
  const code = await attempt({ options, isConfigGiven, signal }, work, codeOf);
  // Ctrl-C may also have come while the runtime was closing.
  process.exitCode = signal.aborted ? 130 : code;
}

/** Whether it is one of `eval`, whose exit codes are verdicts. */
export function isEvalCommand(command: Command): boolean {
  return command.parent?.name() === 'eval';
}

async function attempt(
  given: Pick<Situation, 'options' | 'isConfigGiven' | 'signal'>,
  work: (situation: Situation) => Promise<ExitCode>,
  codeOf: typeof exitCodeOfError,
): Promise<ExitCode> {
  const { options, signal } = given;
  const terminal = openTerminal(options.color);
  const opened: Runtime[] = [];
  const open = async (file = options.config, { isLogForPeople = false, ...more }: OpenOptions = {}) => {
    const { openRuntime } = await import('../../runtime/open-runtime.ts');
    const runtime = await openRuntime(file, {
      ...more,
      launcher: launcherOf(),
      signal,
      logLevel: options.logLevel ?? more.logLevel,
      log: {
        ...(options.color && (process.stderr.isTTY || !isLogForPeople) ? {} : { hasColour: false }),
        ...(isLogForPeople && { isTerminal: true }),
      },
    });
    opened.push(runtime);
    return runtime;
  };
  try {
    return await work({ ...given, terminal, input: openInput(signal), open });
  } catch (error) {
    const failure = toRuntimeError(error);
    await report(failure, options, terminal);
    return codeOf(failure.code);
  } finally {
    for (const runtime of opened) await runtime.close();
  }
}

/** The launcher that SIGNALBOX_LAUNCHER asks for: auto, native or portable. */
function launcherOf() {
  const name = process.env['SIGNALBOX_LAUNCHER'];
  return name === 'native' || name === 'portable' ? name : 'auto';
}

async function report(error: RuntimeError, { json }: CommonOptions, terminal: Terminal): Promise<void> {
  const { code, message, hint, details } = error;
  const { problems, run_id, decision } = details;
  if (json) {
    // What a program needs to go on: the run to resume, the decision that stands already.
    const more = { problems: Array.isArray(problems) ? problems : undefined, run_id, decision };
    terminal.printJson({ error: { code, message, hint, ...more } });
    return;
  }
  terminal.tell(`error: [${code}] ${visible(message)}`);
  if (problems !== undefined) await tellProblems(error, terminal);
  else if (hint !== '') terminal.tell(`hint: ${visible(hint)}`);
  if (code === 'INTERNAL') terminal.tell(visible(error.stack ?? ''));
}

/** Whoever threw them has loaded the runtime already; a wrong option does not wait for it. */
async function tellProblems(error: RuntimeError, terminal: Terminal): Promise<void> {
  const { formatProblem, problemsOf } = await import('../../runtime/open-runtime.ts');
  for (const problem of problemsOf(error)) terminal.tell(visible(formatProblem(problem)));
}
