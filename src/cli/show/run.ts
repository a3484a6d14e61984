import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { Desk } from '../../console/remote.ts';
import type { RunDocument } from '../../contract/run.ts';
import type { Invocation } from '../invocation.ts';
import { nextCommands } from '../next-command.ts';
import type { RecordingFlags } from '../recording.ts';
import { hintWithPage, type Terminal } from '../terminal.ts';
import { exactText } from './exact-text.ts';
import { choicesText, memoryStoreText, questionOfDocument, questionText, resumeText } from './pending.ts';

export interface ExecutedRun extends Pick<Invocation, 'cwd' | 'env'> {
  readonly runtime: Desk;
  readonly flags: RecordingFlags;
}

/** Prints the output on stdout, everything else on stderr. Throws STORE_FAILED. */
export async function printRun(
  document: RunDocument,
  executed: ExecutedRun,
  terminal: Terminal,
): Promise<void> {
  switch (document.status) {
    case 'completed':
      terminal.printValue(outputText(document));
      return;
    case 'pending':
      await printPending(document, executed, terminal);
      return;
    case 'suspended':
    case 'waiting':
      printSetDown(document, executed, terminal);
      return;
    case 'queued':
    case 'running':
      printUnderWay(document, executed, terminal);
      return;
    case 'failed':
    case 'denied':
      printFailure(document, terminal);
      if (executed.runtime.isDurable)
        terminal.printStderr(
          `try again: ${nextCommands(executed, executed.runtime, executed.flags).retry(document.run_id)}`,
        );
      return;
    case 'cancelled':
      terminal.printStderr(`${terminal.styleStderr('red', 'cancelled')}: ${document.run_id}`);
  }
}

function outputText(document: RunDocument): string {
  return typeof document.output === 'string' ? document.output : exactText(document, 'output');
}

function printUnderWay(
  { run_id, status }: RunDocument,
  executed: ExecutedRun,
  { printStderr }: Terminal,
): void {
  const { resume } = nextCommands(executed, executed.runtime, executed.flags);
  const how =
    status === 'queued'
      ? 'a worker will start it'
      : `if the process that executed it is gone, continue with: ${resume(run_id)}`;
  printStderr(`${status}: ${run_id} was started before and has not ended; ${how}`);
}

function printSetDown(
  { status, run_id, error, suspended, waits_until }: RunDocument,
  executed: ExecutedRun,
  { printStderr, styleStderr }: Terminal,
): void {
  const why =
    error === undefined ? `until ${waits_until}` : `[${error.code}] ${escapeInvisible(error.message)}`;
  const resume = nextCommands(executed, executed.runtime, executed.flags).resume(run_id);
  printStderr(`${styleStderr('yellow', status)}: ${why}; resume: ${resume}`);
  const due = suspended?.due_at ?? waits_until;
  if (due !== undefined) printStderr(`hint: \`signalbox work\` resumes it automatically, from ${due} on.`);
}

async function printPending(
  document: RunDocument,
  executed: ExecutedRun,
  { printStderr }: Terminal,
): Promise<void> {
  const { runtime, flags } = executed;
  const commands = nextCommands(executed, runtime, flags);
  for (const { id } of document.pending) {
    const pending = await runtime.pending.show(id);
    printStderr(questionText(questionOfDocument(pending)));
    if (runtime.isDurable) printStderr(choicesText(id, commands, pending.choices));
  }
  if (runtime.isDurable)
    printStderr(resumeText(document.run_id, commands, { isLast: document.pending.length > 0 }));
  else printLost(printStderr);
}

/** Warns that a pending run in a memory store cannot be resumed. */
export function printLost(tell: Terminal['printStderr']): void {
  tell(memoryStoreText('decide at once with --interactive'));
}

function printFailure(document: RunDocument, { printStderr, styleStderr }: Terminal): void {
  const { status, error, steps } = document;
  const word = styleStderr('red', status);
  if (error === undefined) {
    printStderr(`${word}: ${document.run_id}`);
    return;
  }
  const { code, message, hint } = error;
  const step = steps.find((each) => each.error?.code === code && each.error.message === message);
  printStderr(
    `${word}: ${step === undefined ? '' : `step "${step.step}": `}[${code}] ${escapeInvisible(message)}`,
  );
  if (hint !== '') printStderr(`hint: ${escapeInvisible(hintWithPage(error))}`);
}
