import type { RunDocument } from '../../../contract/run.ts';
import type { Runtime } from '../../../runtime/open-runtime.ts';
import { visible } from '../../../text/escape-invisible.ts';
import { exactText } from '../exact-text.ts';
import { nextCommands } from '../next-command.ts';
import type { RecordingFlags } from '../recording.ts';
import type { Terminal } from '../terminal.ts';
import { choicesText, lostText, questionOfDocument, questionText, resumeText } from './pending.ts';

/** Where a run was carried out, and with which recordings. */
export interface Place {
  readonly runtime: Runtime;
  readonly flags: RecordingFlags;
}

/** Shows people what a run came to: its output on stdout, all else on stderr. Throws STORE_FAILED. */
export async function showRun(document: RunDocument, place: Place, terminal: Terminal): Promise<void> {
  switch (document.status) {
    case 'completed':
      terminal.printValue(outputText(document));
      return;
    case 'pending':
      await showWaiting(document, place, terminal);
      return;
    case 'failed':
    case 'denied':
      showFailure(document, terminal);
      return;
    case 'cancelled':
      terminal.tell(`${terminal.tint('red', 'cancelled')}: ${document.run_id}`);
  }
}

/** A text as it is, anything else as its JSON, digit for digit. */
function outputText(document: RunDocument): string {
  return typeof document.output === 'string' ? document.output : exactText(document, 'output');
}

async function showWaiting(document: RunDocument, place: Place, { tell }: Terminal): Promise<void> {
  const { runtime, flags } = place;
  const commands = nextCommands(runtime.file, flags);
  for (const { id } of document.pending) {
    tell(questionText(questionOfDocument(await runtime.pending.show(id))));
    if (runtime.isDurable) tell(choicesText(id, commands));
  }
  if (runtime.isDurable) tell(resumeText(document.run_id, commands, { isLast: document.pending.length > 0 }));
  else tellLost(tell);
}

/** Says that a run that waits cannot go on any more. */
export function tellLost(tell: Terminal['tell']): void {
  tell(lostText('decide on the spot with --interactive'));
}

function showFailure(document: RunDocument, { tell, tint }: Terminal): void {
  const { status, error, steps } = document;
  const word = tint('red', status);
  if (error === undefined) {
    tell(`${word}: ${document.run_id}`);
    return;
  }
  const { code, message, hint } = error;
  const step = steps.find((each) => each.error?.code === code && each.error.message === message);
  tell(`${word}: ${step === undefined ? '' : `step "${step.step}": `}[${code}] ${visible(message)}`);
  if (hint !== '') tell(`hint: ${visible(hint)}`);
}
