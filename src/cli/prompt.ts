import { createInterface, type Interface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { toRuntimeError } from '../base/errors.ts';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import type { Desk } from '../console/remote.ts';
import { isQuestion, type PendingChoice, type PendingRecord } from '../contract/approval.ts';
import { parseJson } from './input.ts';
import type { Invocation } from './invocation.ts';
import { jsonLine, questionOfRecord, questionText } from './show/pending.ts';
import type { RunProgress } from './show/run-progress.ts';
import type { Terminal } from './terminal.ts';

export interface PromptContext {
  readonly invocation: Invocation;
  readonly runtime: Desk;
  readonly progress: RunProgress;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/**
 * Decides pending calls at the terminal, one after another. Resolves to whether a decision was stored. Throws
 * STORE_FAILED.
 */
export function openPrompt(context: PromptContext): (pending: PendingRecord) => Promise<boolean> {
  let last: Promise<unknown> = Promise.resolve();
  return (pending) => {
    const current = last.then(() => promptFor(pending, context));
    last = current.catch(() => {});
    return current;
  };
}

async function promptFor(pending: PendingRecord, context: PromptContext): Promise<boolean> {
  const { progress, terminal } = context;
  progress.pause();
  try {
    const isDecided = await withAnswers(context, async (readAnswer) => {
      terminal.printStderr(questionText(questionOfRecord(pending)));
      return await promptUntilDecided(pending, context, readAnswer);
    });
    return isDecided ?? false;
  } finally {
    progress.resume();
  }
}

/** Asks a person at the terminal. Undefined if the command is interrupted. */
export async function withAnswers<Result>(
  { invocation, terminal, signal }: Pick<PromptContext, 'invocation' | 'terminal' | 'signal'>,
  work: (readAnswer: ReadAnswer) => Promise<Result>,
): Promise<Result | undefined> {
  const { stdin: input, stderr: output } = invocation;
  if (signal.aborted) return undefined;
  const lines = createInterface({ input, output, terminal: true, prompt: '' });
  // In raw mode the terminal sends no SIGINT.
  lines.on('SIGINT', invocation.interrupt);
  let isOver = false;
  const closed = new Promise<undefined>((resolve) => {
    lines.once('close', () => {
      if (!isOver) terminal.writeStderr('\n');
      resolve(undefined);
    });
  });
  const readAnswer: ReadAnswer = async (words, initial = '') => {
    const answer = lines.question(words, { signal });
    lines.write(initial);
    // After Ctrl-D the question never resolves.
    return await Promise.race([answer, closed]);
  };
  try {
    await dropTypedAhead(lines, signal);
    return await work(readAnswer);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    isOver = true;
    lines.close();
  }
}

const choiceWords: Readonly<Record<PendingChoice, string>> = {
  approve: '[a]pprove',
  edit: '[e]dit the arguments',
  respond: 're[s]pond',
  answer: 'an[s]wer',
  reject: '[r]eject',
};

type ReadAnswer = (words: string, given?: string) => Promise<string | undefined>;

async function dropTypedAhead(lines: Interface, signal: AbortSignal): Promise<void> {
  await sleep(100, undefined, { signal });
  lines.write(null, { ctrl: true, name: 'u' });
}

async function promptUntilDecided(
  pending: PendingRecord,
  context: PromptContext,
  readAnswer: ReadAnswer,
): Promise<boolean> {
  const { terminal, invocation } = context;
  const { pending: calls } = context.runtime;
  const by = invocation.userName();
  const readText = async (words: string, given?: string) => {
    const text = await readAnswer(words, given);
    return text?.trim() === '' ? undefined : text;
  };
  const { choicesOf } = await import('../runtime/runtime.ts');
  const choices = choicesOf(pending);
  for (;;) {
    const word = await readAnswer(`${choices.map((choice) => choiceWords[choice]).join(', ')} or [l]ater? `);
    try {
      switch (word?.trim().toLowerCase()) {
        case 'a':
        case 'approve':
          await calls.approve(pending.id, { by });
          return true;
        case 'e':
        case 'edit': {
          const args = await readText('arguments: ', jsonLine(pending.args.text));
          if (args === undefined) break;
          await calls.approve(pending.id, { by, args });
          return true;
        }
        case 's':
        case 'respond':
        case 'answer': {
          const text = await readText(isQuestion(pending) ? 'answer, as JSON: ' : 'result, as JSON: ');
          if (text === undefined) break;
          await calls.respond(pending.id, { by, result: parseJson('the result', text) });
          return true;
        }
        case 'r':
        case 'reject': {
          const reason = await readText('reason: ');
          if (reason === undefined) break;
          await calls.reject(pending.id, { by, reason: reason.trim() });
          return true;
        }
        case 'l':
        case 'later':
        case undefined:
          return false;
      }
    } catch (error) {
      const { code, message } = toRuntimeError(error);
      terminal.printStderr(`[${code}] ${escapeInvisible(message)}`);
      if (code === 'PENDING_DECIDED' || code === 'PENDING_EXPIRED') return true;
      if (code !== 'ARGS_INVALID' && code !== 'RESULT_INVALID' && code !== 'USAGE') throw error;
    }
  }
}
