import { createInterface, type Interface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingRecord } from '../../contract/approval.ts';
import { toRuntimeError } from '../../errors.ts';
import type { Runtime } from '../../runtime/open-runtime.ts';
import { visible } from '../../text/escape-invisible.ts';
import { parseJson } from './input.ts';
import { jsonLine, questionOfRecord, questionText } from './show/pending.ts';
import type { Story } from './show/progress.ts';
import type { Terminal } from './terminal.ts';
import { userName } from './user-name.ts';

export interface AskContext {
  readonly runtime: Runtime;
  readonly story: Story;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/**
 * Asks whoever sits at the terminal about a call, one call at a time, and has the decision kept. Says whether
 * one was taken; Ctrl-C takes none. Throws STORE_FAILED.
 */
export function openAsk(context: AskContext): (pending: PendingRecord) => Promise<boolean> {
  let last: Promise<unknown> = Promise.resolve();
  return (pending) => {
    const mine = last.then(() => askAbout(pending, context));
    last = mine.catch(() => {});
    return mine;
  };
}

async function askAbout(pending: PendingRecord, context: AskContext): Promise<boolean> {
  const { story, terminal, signal } = context;
  if (signal.aborted) return false;
  story.hold();
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true, prompt: '' });
  // A terminal that is read key by key sends no signal.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  let isOver = false;
  const closed = new Promise<undefined>((resolve) => {
    lines.once('close', () => {
      if (!isOver) terminal.whisper('\n');
      resolve(undefined);
    });
  });
  const question: Ask = async (words, given = '') => {
    const answer = lines.question(words, { signal });
    lines.write(given);
    // After Ctrl-D no answer comes any more.
    return await Promise.race([answer, closed]);
  };
  try {
    await dropTypedAhead(lines, signal);
    terminal.tell(questionText(questionOfRecord(pending)));
    return await decide(pending, context, question);
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    isOver = true;
    lines.close();
    story.release();
  }
}

/** Undefined when the terminal was closed. `given` stands there to be edited. */
type Ask = (words: string, given?: string) => Promise<string | undefined>;

/** What was typed before the question could be read is no answer to it. */
async function dropTypedAhead(lines: Interface, signal: AbortSignal): Promise<void> {
  await sleep(100, undefined, { signal });
  lines.write(null, { ctrl: true, name: 'u' });
}

/** Until a decision stands or is put off. */
async function decide(pending: PendingRecord, context: AskContext, question: Ask): Promise<boolean> {
  const { terminal } = context;
  for (;;) {
    const word = await question('[a]pprove, [e]dit the arguments, re[s]pond, [r]eject or [l]ater? ');
    try {
      switch (word?.trim().toLowerCase()) {
        case 'a':
        case 'approve':
          await context.runtime.pending.approve(pending.id, { by: userName() });
          return true;
        case 'e':
        case 'edit':
          if (await approveEdited(pending, context, question)) return true;
          break;
        case 's':
        case 'respond':
          if (await respond(pending, context, question)) return true;
          break;
        case 'r':
        case 'reject':
          if (await reject(pending, context, question)) return true;
          break;
        case 'l':
        case 'later':
        case undefined:
          return false;
      }
    } catch (error) {
      const { code, message } = toRuntimeError(error);
      terminal.tell(`[${code}] ${visible(message)}`);
      if (code === 'PENDING_DECIDED' || code === 'PENDING_EXPIRED') return true;
      if (code !== 'ARGS_INVALID' && code !== 'RESULT_INVALID' && code !== 'USAGE') throw error;
    }
  }
}

/** False: an empty answer takes the choice back. */
async function approveEdited(pending: PendingRecord, { runtime }: AskContext, ask: Ask): Promise<boolean> {
  const args = await ask('arguments: ', jsonLine(pending.args.text));
  if (args === undefined || args.trim() === '') return false;
  await runtime.pending.approve(pending.id, { by: userName(), args });
  return true;
}

async function respond({ id }: PendingRecord, { runtime }: AskContext, ask: Ask): Promise<boolean> {
  const text = await ask('result, as JSON: ');
  if (text === undefined || text.trim() === '') return false;
  await runtime.pending.respond(id, { by: userName(), result: parseJson('the result', text) });
  return true;
}

async function reject({ id }: PendingRecord, { runtime }: AskContext, ask: Ask): Promise<boolean> {
  const reason = await ask('reason: ');
  if (reason === undefined || reason.trim() === '') return false;
  await runtime.pending.reject(id, { by: userName(), reason: reason.trim() });
  return true;
}
