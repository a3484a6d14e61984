import { extname } from 'node:path';
import { type Fault, RuntimeError, toFault, toRuntimeError } from '../../../base/errors.ts';
import type { Answer, Change } from './change.ts';
import { startThread } from './thread.ts';

/** Makes changes durable. */
export interface Writer {
  /** All of them in one transaction. Rejects, and nothing is kept, with what SQLite says or STORE_FAILED. */
  commit(changes: readonly Change[]): Promise<readonly Answer[]>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** A writer on a thread of its own, which may end before its time. */
export interface ThreadWriter extends Writer {
  hasEnded(): boolean;
}

/** Which thread writes: `own` a thread of its own, `main` this one, `auto` this one until others would have to wait for it. */
export type WriterChoice = 'auto' | 'main' | 'own';

/**
 * Writes with `main` at first, since a thread takes longer to start than a short run takes and each way to it and
 * back costs time; and with a thread of its own as soon as several runs write at once, or the disk is slow. A
 * thread that cannot be started or has ended is done without.
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

/** For so long nothing else that waits for this thread notices; and so often a disk may be slow for once. */
const SLOW_MS = 4;
const FEW = 5;

/** STORE_FAILED: whether the changes under way were made is not known. */
function endedThreadError(location: string, why: string): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `the thread that writes the state store ${location} ended: ${why}`,
    {
      hint: 'What was under way may or may not have been kept; resume the run.',
    },
  );
}

/**
 * Starts a thread that writes to the file. It keeps the process alive only while it has something to write.
 * Rejects with STORE_FAILED.
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
      // Some of them may be on the disk, so none may be tried again.
      if (reply instanceof RuntimeError) return changes.map(() => ({ refusal: toFault(reply) }));
      if (reply.status === 'done') return reply.answers;
      const { code, message, hint, details } =
        reply.status === 'failed' ? reply.fault : endedThreadError(data.file, reply.status);
      throw new RuntimeError(code, message, { hint, ...(details && { details }) });
    },
    close: thread.close,
  };
}

/** What the thread that writes is started with. */
export interface ThreadData {
  readonly file: string;
  /** The file that was opened, so that the thread does not write to one that has taken its place. */
  readonly identity: string;
  /** How long other processes may be in the way, in ms. */
  readonly waitMs: number;
}

/** Changes to make, or nothing: the end. */
type ThreadRequest = readonly Change[] | null;

/** The answers of a list of changes, in its order. */
export interface ThreadDone {
  readonly answers: readonly Answer[];
}

/** What comes back: once that it is ready, then for each request its answers or why nothing was kept. */
type ThreadReply =
  | { readonly status: 'ready' }
  | ({ readonly status: 'done' } & ThreadDone)
  | { readonly status: 'failed'; readonly fault: Fault };
