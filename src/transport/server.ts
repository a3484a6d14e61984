import type { Binding } from '../binding/binding.ts';
import { RuntimeError } from '../errors.ts';
import { type Deadline, settlesWithin, sleep, startDeadline } from './deadline.ts';
import { closedError } from './oneshot.ts';
import { type ProcessContext, startProcess } from './process.ts';
import { createRestarts } from './restart.ts';
import { openSession, type Session } from './session.ts';
import type { Message, RpcReply, Transport } from './transport.ts';

/**
 * One long-lived process that answers JSON-RPC. It starts on first use, is started again when it dies, and
 * loses only the requests that were in flight.
 */
export function openServer(binding: Binding, context: ProcessContext): Transport {
  const { name } = binding;
  const restarts = createRestarts(binding.restart);
  const closing = new AbortController();
  let current: Promise<Session> | undefined;
  let lives = 0;
  /** Sessions that can be ended; the outputs of one may outlive its process for a while. */
  const open = new Set<Session>();

  const forgetStart = (dead: Promise<Session>) => {
    if (current === dead) current = undefined;
    if (closing.signal.aborted) return;
    if (restarts.died()) {
      const { circuitPauseMs: pauseMs } = binding.restart;
      context.emit({ type: 'circuit.opened', name, deaths: restarts.deaths, pauseMs });
    }
  };
  const startSession = async (): Promise<Session> => {
    const delayMs = restarts.startDelayMs();
    if (delayMs > 0) await sleep(delayMs, closing.signal);
    if (closing.signal.aborted) throw closedError(name);
    const process = await startProcess(binding, context, null);
    lives += 1;
    if (lives > 1) {
      context.emit({ type: 'process.restarted', name, pid: process.pid, deaths: restarts.deaths });
    }
    const session = openSession(binding, context, { process, onGoodReply: restarts.succeeded });
    open.add(session);
    session.over.then(() => open.delete(session));
    return session;
  };
  const acquire = (): Promise<Session> => {
    if (current !== undefined) return current;
    // Stored before anything is awaited: simultaneous first calls must share one process.
    const starting = startSession();
    current = starting;
    starting.then(
      (session) => session.process.ended.then(() => forgetStart(starting)),
      () => forgetStart(starting),
    );
    return starting;
  };

  return {
    exchange: async (message, signal) => {
      if (closing.signal.aborted) throw closedError(name);
      const leave = restarts.admit();
      if (leave === 'refused') throw circuitError(name, restarts.deaths);
      const deadline = startDeadline(name, binding.timeoutMs, signal);
      try {
        return await ask(acquire(), message, deadline);
      } finally {
        deadline.clear();
        if (leave === 'trial') restarts.trialFailed();
      }
    },
    warm: () => {
      acquire().catch(() => {});
    },
    close: async () => {
      closing.abort();
      await current?.catch(() => undefined);
      await Promise.all([...open].map((session) => stop(session, binding.graceMs)));
    },
  };
}

async function ask(session: Promise<Session>, message: Message, deadline: Deadline): Promise<RpcReply> {
  const { request } = await Promise.race([session, deadline.expired]);
  const inFlight = request(message);
  try {
    return await Promise.race([inFlight.reply, deadline.expired]);
  } catch (error) {
    const hint = inFlight.forget();
    throw hint !== undefined && error instanceof RuntimeError && error.code === 'PROCESS_TIMEOUT'
      ? new RuntimeError(error.code, error.message, { hint, cause: error })
      : error;
  }
}

/** End of stdin, grace, SIGTERM to the group, grace, SIGKILL. */
async function stop(session: Session, graceMs: number): Promise<void> {
  session.end();
  if (!(await settlesWithin(session.process.ended, graceMs))) await session.process.terminate();
  await session.over;
}

function circuitError(name: string, deaths: number): RuntimeError {
  return new RuntimeError(
    'SERVER_CIRCUIT_OPEN',
    `the server "${name}" died ${deaths} times in a row and is left alone for now`,
  );
}
