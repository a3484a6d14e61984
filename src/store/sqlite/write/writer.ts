import { extname } from 'node:path';
import { type Fault, RuntimeError, toFault, toRuntimeError } from '../../../base/errors.ts';
import type { Answer, Change } from './change.ts';
import { startThread } from './thread.ts';

export interface Writer {
  /**
   * Makes the changes in one transaction. Rejects with the error of SQLite or STORE_FAILED, and then nothing is stored.
   */
  commit(changes: readonly Change[]): Promise<readonly Answer[]>;
  close(): Promise<void>;
}

export interface ThreadWriter extends Writer {
  hasEnded(): boolean;
}

/** `own`: a separate thread; `main`: this thread; `auto`: this thread until others would have to wait for it. */
export type WriterChoice = 'auto' | 'main' | 'own';

/**
 * Writes on this thread at first, because starting a thread takes longer than a short run. Switches to a separate
 * thread when several runs write at once, or the disk is slow. Continues here if the thread fails to start or ends.
 */
export function createWriter(
  main: Writer,
  startThread: () => Promise<ThreadWriter>,
  choice: Exclude<WriterChoice, 'main'>,
): Writer {
  let starting: Promise<void> | undefined;
  let thread: ThreadWriter | undefined;
  let slowCommits = 0;
  const start = async () => {
    try {
      thread = await startThread();
    } catch (error) {
      if (choice === 'own') throw error;
    }
  };
  const commitHere: Writer['commit'] = async (changes) => {
    const startedAt = performance.now();
    try {
      return await main.commit(changes);
    } finally {
      if (performance.now() - startedAt > SLOW_MS) slowCommits += 1;
    }
  };
  return {
    commit: async (changes) => {
      if (choice === 'own' || slowCommits > FEW || areOfSeveralRuns(changes)) starting ??= start();
      if (choice === 'own') await starting;
      return thread === undefined || thread.hasEnded()
        ? await commitHere(changes)
        : await thread.commit(changes);
    },
    close: async () => {
      await starting?.catch(() => {});
      await thread?.close();
      await main.close();
    },
  };
}

function areOfSeveralRuns(changes: readonly Change[]): boolean {
  return changes.some(({ runId }) => runId !== changes[0]?.runId);
}

/** A shorter block of this thread goes unnoticed. FEW: how many slow commits are tolerated. */
const SLOW_MS = 4;
const FEW = 5;

/** STORE_FAILED: it is unknown whether the active changes were made. */
function endedThreadError(location: string, why: string): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `the thread that writes the state store ${location} ended: ${why}`,
    {
      hint: 'Changes that were in progress may or may not be stored; resume the run.',
    },
  );
}

/**
 * Starts a thread that writes to the file. It keeps the process alive only while it writes. Rejects with STORE_FAILED.
 */
export async function startThreadWriter(data: ThreadData): Promise<ThreadWriter> {
  const thread = await startThread<ThreadRequest, ThreadReply>({
    address: new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url),
    ...{ name: 'signalbox-store', data, endedError: (why) => endedThreadError(data.file, why) },
  });
  return {
    hasEnded: thread.hasEnded,
    commit: async (changes) => {
      const reply = await thread.ask(changes).catch(toRuntimeError);
      // Some changes may be on the disk, so none may be retried.
      if (reply instanceof RuntimeError) return changes.map(() => ({ refusal: toFault(reply) }));
      if (reply.status === 'done') return reply.answers;
      const { code, message, hint, details } =
        reply.status === 'failed' ? reply.fault : endedThreadError(data.file, reply.status);
      throw new RuntimeError(code, message, { hint, ...(details && { details }) });
    },
    close: thread.close,
  };
}

export interface ThreadData {
  readonly file: string;
  /** Identifies the opened file, so that the thread does not write to one that replaced it. */
  readonly identity: string;
  readonly waitMs: number;
}

type ThreadRequest = readonly Change[] | null;

export interface ThreadDone {
  readonly answers: readonly Answer[];
}

type ThreadReply =
  | { readonly status: 'ready' }
  | ({ readonly status: 'done' } & ThreadDone)
  | { readonly status: 'failed'; readonly fault: Fault };
