import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { RuntimeError } from '../../errors.ts';
import { inSlot } from '../../time/stopwatch.ts';
import type { Answers, Jobs, Kind, Order, Reply } from './job.ts';
import { openThread, type Thread } from './thread.ts';

/** `exceeded` says of the work what it did too much, such as `took longer than 1 s`. */
export type Bounded<Answer> = { readonly answer: Answer } | { readonly exceeded: string };

/**
 * Does a job beside this thread, after those that were asked for before, and gives it up after a second. Rejects
 * with ABORTED, and with INTERNAL when the work itself throws.
 */
export async function runBounded<K extends Kind>(
  kind: K,
  job: Jobs[K],
  signal: AbortSignal,
): Promise<Bounded<Answers[K]>> {
  const order = toOrder(kind, job);
  const settled = new AbortController();
  const givenUp = aborted(signal, settled.signal);
  const work = async () => (signal.aborted ? undefined : await ask(order, givenUp));
  const done = inSlot(work, (slotted) => queue.add(slotted));
  const reply = await Promise.race([done, givenUp]).finally(() => settled.abort());
  if (reply === undefined) {
    throw new RuntimeError('ABORTED', 'the check was aborted', { cause: signal.reason });
  }
  return readReply<K>(reply);
}

const queue = new PQueue({ concurrency: 1 });
let thread: Thread | undefined;
let idle: NodeJS.Timeout | undefined;

async function ask(order: Order, givenUp: Promise<undefined>): Promise<Reply> {
  clearTimeout(idle);
  if (thread === undefined || thread.isOver()) thread = await openThread();
  const asked = thread;
  const end = new AbortController();
  const reply = await Promise.race([asked.ask(order), passLimit(end.signal), givenUp]);
  end.abort();
  if (reply === undefined) {
    endThread();
    return { status: 'exceeded', exceeded: `took longer than ${LIMIT_MS / 1000} s` };
  }
  idle = setTimeout(endThread, IDLE_MS).unref();
  return reply;
}

/** Does not wait: what the thread is in the middle of may be nothing that can be interrupted. */
function endThread(): void {
  thread?.end();
  thread = undefined;
}

/** A thread costs thirty milliseconds to start, and some megabytes to keep. */
const IDLE_MS = 500;

const LIMIT_MS = 1000;
/** A thread that has had no processor has not taken long; it is given this many times the limit to get one. */
const PATIENCE = 10;

async function passLimit(signal: AbortSignal): Promise<undefined> {
  const before = process.cpuUsage();
  for (let limits = 0; limits < PATIENCE && !signal.aborted; limits++) {
    await sleep(LIMIT_MS, undefined, { signal }).catch(() => {});
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 >= LIMIT_MS / 2) break;
  }
  // The reply may be there already, unread because this thread was busy.
  await nextTurn();
}

/** Resolves when the caller gives up; nothing listens any more once it is `settled`. */
function aborted(signal: AbortSignal, settled: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: settled });
  });
}

function toOrder<K extends Kind>(kind: K, job: Jobs[K]): Order {
  return { kind, job } as Order;
}

/** The thread answers an order of one kind with the answer of that kind. */
function readReply<K extends Kind>(reply: Reply): Bounded<Answers[K]> {
  const { status, ...told } = reply as Reply<K>;
  if ('answer' in told) return { answer: told.answer };
  if ('exceeded' in told) return { exceeded: told.exceeded };
  throw new RuntimeError('INTERNAL', 'message' in told ? told.message : `the thread said ${status}`);
}
