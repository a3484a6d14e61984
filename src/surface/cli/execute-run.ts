import type { Command } from 'commander';
import type { PendingRecord } from '../../contract/approval.ts';
import type { RunDocument } from '../../contract/run.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { RunOptions, Runtime } from '../../runtime/open-runtime.ts';
import type { OpenOptions, Situation } from './command.ts';
import { type ExitCode, exitCodeOfRun } from './exit-code.ts';
import { nextCommands } from './next-command.ts';
import { type RecordingFlags, requireRecordings } from './recording.ts';
import { choicesText, questionOfRecord, questionText } from './show/pending.ts';
import { openStory, type Story } from './show/progress.ts';
import { showRun, tellLost } from './show/run.ts';
import { narrate } from './show/run-events.ts';

/** How a run is carried out, as options say it. */
export interface RunFlags extends RecordingFlags {
  readonly wait?: true;
  readonly interactive?: true;
}

/** Declares the options of every command that carries a run out. */
export function addRunFlags(command: Command): Command {
  return command
    .option('--wait', 'wait until somebody has decided elsewhere, and go on')
    .option('--interactive', 'ask on this terminal what a person must decide')
    .option('--record <file>', 'add every exchange with a model to this file')
    .option('--replay <file>', 'answer every model call from this recording');
}

/** A run to be started or resumed, once its runtime is open. */
export interface Work {
  readonly flags: RunFlags;
  readonly open: (more: OpenOptions) => Promise<Runtime>;
  readonly start: (runtime: Runtime, options: RunOptions) => Promise<RunDocument>;
}

/** Carries a run out as far as it goes, tells of it, and shows what it came to. Throws USAGE, ABORTED and what `start` does. */
export async function carryOut(situation: Situation, { flags, open, start }: Work): Promise<ExitCode> {
  if (flags.interactive) requirePerson();
  requireRecordings(flags);
  const { options, terminal, signal } = situation;
  const story = openStory(terminal);
  const { record, replay } = flags;
  const onEvent = options.json ? undefined : await openNarration(situation, story);
  const runtime = await open({ onEvent, record, replay });
  if (flags.wait) requireDurable(runtime);
  try {
    const document = await start(runtime, {
      signal,
      ...(await openWaiting(situation, flags, { runtime, story })),
    });
    story.end();
    if (!options.json) await showRun(document, { runtime, flags }, terminal);
    else {
      terminal.printJson(document);
      if (document.status === 'pending' && !runtime.isDurable) tellLost(terminal.tell);
    }
    return exitCodeOfRun(document.status);
  } catch (error) {
    story.end();
    throw withResumption(error, runtime, flags);
  }
}

function requirePerson(): void {
  if (process.stdin.isTTY && process.stderr.isTTY) return;
  throw new RuntimeError('USAGE', '--interactive needs a terminal to ask on', {
    hint: 'Leave it out, and decide with `signalbox pending`; or give --wait too, and decide from another terminal.',
  });
}

/** Nobody else sees what waits in the memory of this process. */
function requireDurable({ isDurable, file }: Runtime): void {
  if (isDurable) return;
  throw new RuntimeError('USAGE', `--wait would wait in vain: the state store of ${file} is memory`, {
    hint: 'Set spec.state_store to {type: sqlite}, or decide on the spot with --interactive alone.',
  });
}

async function openNarration({ terminal }: Situation, story: Story) {
  const { formatDuration } = await import('../../runtime/open-runtime.ts');
  const showsText = process.stderr.isTTY === true;
  return narrate(story, { tint: terminal.tint, showsText, formatDuration });
}

async function openWaiting(
  { options, terminal, signal }: Situation,
  flags: RunFlags,
  { runtime, story }: { readonly runtime: Runtime; readonly story: Story },
): Promise<RunOptions> {
  const wait = flags.wait === true;
  const tellChoices = ({ id }: PendingRecord) =>
    story.tell(`${choicesText(id, nextCommands(runtime.file, flags))}\n${waitText(id)}`);
  const tellQuestion = (pending: PendingRecord) => {
    story.tell(questionText(questionOfRecord(pending)));
    tellChoices(pending);
  };
  const tellWait = ({ id }: PendingRecord) => story.tell(waitText(id));
  // Where nobody waits, the end of the run has it all.
  if (!flags.interactive) return { wait, ...(wait && { onPending: options.json ? tellWait : tellQuestion }) };
  const { openAsk } = await import('./ask.ts');
  const ask = openAsk({ runtime, story, terminal, signal });
  return {
    wait,
    ask: async (pending) => {
      if (!(await ask(pending)) && wait) tellChoices(pending);
      // A decision stands in the store already, where the run finds it.
      return undefined;
    },
  };
}

function waitText(id: string): string {
  return `waiting for the decision about ${id}`;
}

/** A run that was cut off can be resumed, by a command that names its config; one in memory is gone. */
function withResumption(thrown: unknown, { file, isDurable }: Runtime, flags: RunFlags): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, details } = error;
  const { run_id } = details;
  if (code !== 'ABORTED' || typeof run_id !== 'string') return error;
  const hint = isDurable
    ? `Go on with \`${nextCommands(file, flags).resume(run_id)}\`.`
    : 'The state store is memory, so the run has ended with this process. Start it again.';
  return new RuntimeError(code, message, { hint, details, cause: error });
}
