import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import type { Desk } from '../console/remote.ts';
import type { PendingRecord } from '../contract/approval.ts';
import type { RunDocument } from '../contract/run.ts';
import type { RunOptions } from '../runtime/runtime.ts';
import type { CommandContext, Flags, OpenOptions } from './command.ts';
import { type ExitCode, exitCodeOfRun } from './exit-code.ts';
import type { Invocation } from './invocation.ts';
import { type NextCommands, nextCommands } from './next-command.ts';
import { requireRecordings } from './recording.ts';
import { choicesText, questionOfRecord, questionText } from './show/pending.ts';
import { printLost, printRun } from './show/run.ts';
import { createRunEventPrinter, openRunProgress, type RunProgress } from './show/run-progress.ts';

export const runOptions = {
  '--wait': 'wait until somebody decides elsewhere, and continue',
  '--interactive': 'ask on this terminal for decisions of a person',
  '--set-down': 'at a `wait` step, leave the run to `signalbox work` or a worker',
  '--record <file>': 'add every exchange with a model to this file',
  '--replay <file>': 'answer every model call from this recording',
} as const;

/** Those that --remote refuses: the run is executed there. */
export const runOptionNames: readonly string[] = Object.keys(runOptions).map(
  (flag) => flag.split(' ')[0] ?? '',
);

export type RunFlags = Flags<typeof runOptions>;

/** Throws USAGE if one of those options is given; `why` completes the message. */
export function refuseRunOptions(flags: RunFlags, why: string, hint: string): void {
  const option = runOptionNames.find((flag) =>
    Object.hasOwn(flags, flag === '--set-down' ? 'setDown' : flag.slice(2)),
  );
  if (option !== undefined) throw new RuntimeError('USAGE', `${option} ${why}`, { hint });
}

/** A longer `wait` suspends the run. */
export const setDownWaits = { longestWaitMs: 1_000 } as const;

export interface RunRequest<Opened extends Desk> {
  readonly flags: RunFlags;
  readonly open: (more: OpenOptions) => Promise<Opened>;
  readonly start: (runtime: Opened, options: RunOptions) => Promise<RunDocument>;
}

/** Executes a run until it ends or waits, and prints its events and result. Throws USAGE, ABORTED. */
export async function executeRun<Opened extends Desk>(
  context: CommandContext,
  { flags, open, start }: RunRequest<Opened>,
): Promise<ExitCode> {
  if (flags.interactive) requireInteractiveTerminal(context.invocation);
  const { invocation, options, terminal, signal } = context;
  requireRecordings(flags, invocation);
  const progress = openRunProgress(terminal);
  const { record, replay } = flags;
  const onEvent = options.json ? undefined : await openRunEvents(context, progress);
  const runtime = await open({ onEvent, record, replay });
  if (flags.wait) requireDurable(runtime, '--wait needs a store that other processes can read');
  if (flags.setDown) requireDurable(runtime, '--set-down needs a store that lasts');
  try {
    const document = await start(runtime, {
      signal,
      ...(flags.setDown && setDownWaits),
      ...(await openRunOptions(context, flags, { runtime, progress })),
    });
    progress.end();
    if (!options.json)
      await printRun(document, { runtime, flags, cwd: invocation.cwd, env: invocation.env }, terminal);
    else {
      terminal.printJson(document);
      if (document.status === 'pending' && !runtime.isDurable) printLost(terminal.printStderr);
    }
    return exitCodeOfRun[document.status];
  } catch (error) {
    progress.end();
    throw withResumeHint(error, runtime, nextCommands(invocation, runtime, flags));
  }
}

function requireInteractiveTerminal({ stdin, stderr }: Invocation): void {
  if (stdin.isTTY && stderr.isTTY) return;
  throw new RuntimeError('USAGE', '--interactive needs a terminal', {
    hint: 'Leave it out, and decide with `signalbox pending`. Or also give --wait, and decide from another terminal.',
  });
}

/** Throws USAGE for a state store in memory, which other processes cannot read. */
function requireDurable({ isDurable, file }: Desk, why: string): void {
  if (isDurable) return;
  throw new RuntimeError('USAGE', `${why}: the state store of ${file} is memory`, {
    hint: 'Set spec.state_store to {type: sqlite}, or decide at once with --interactive alone.',
  });
}

async function openRunEvents({ terminal }: CommandContext, progress: RunProgress) {
  const { formatDuration } = await import('../runtime/runtime.ts');
  return createRunEventPrinter(progress, {
    tint: terminal.styleStderr,
    showsText: terminal.stderr.isTTY,
    formatDuration,
  });
}

async function openRunOptions(
  { invocation, options, terminal, signal }: CommandContext,
  flags: RunFlags,
  { runtime, progress }: { readonly runtime: Desk; readonly progress: RunProgress },
): Promise<RunOptions> {
  const wait = flags.wait === true;
  const { choicesOf } = await import('../runtime/runtime.ts');
  const printChoices = (pending: PendingRecord) => {
    const commands = nextCommands(invocation, runtime, flags);
    progress.writeLine(`${choicesText(pending.id, commands, choicesOf(pending))}\n${waitText(pending.id)}`);
  };
  const printQuestion = (pending: PendingRecord) => {
    progress.writeLine(questionText(questionOfRecord(pending)));
    printChoices(pending);
  };
  const printWait = ({ id }: PendingRecord) => progress.writeLine(waitText(id));
  if (!flags.interactive)
    return { wait, ...(wait && { onPending: options.json ? printWait : printQuestion }) };
  const { openPrompt } = await import('./prompt.ts');
  const prompt = openPrompt({ invocation, runtime, progress, terminal, signal });
  return {
    wait,
    ask: async (pending) => {
      if (!(await prompt(pending)) && wait) printChoices(pending);
      return undefined;
    },
  };
}

function waitText(id: string): string {
  return `waiting for the decision about ${id}`;
}

function withResumeHint(
  thrown: unknown,
  { isDurable }: Desk,
  { resume }: Pick<NextCommands, 'resume'>,
): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, details } = error;
  const { run_id } = details;
  if (code !== 'ABORTED' || typeof run_id !== 'string') return error;
  const hint = isDurable
    ? `Resume it with \`${resume(run_id)}\`.`
    : 'The state store is memory, so the run has ended with this process. Start it again.';
  return new RuntimeError(code, message, { hint, details, cause: error });
}
