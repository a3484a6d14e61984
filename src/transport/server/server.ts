import type { Binding } from '../../binding/binding.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { abortedError, settlesWithin, sleep } from '../deadline.ts';
import { closedError } from '../oneshot.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';
import type { Greeting, Transport } from '../transport.ts';
import { type Errand, run } from './dispatch.ts';
import { atStage, greet } from './handshake.ts';
import { createRestarts } from './restart.ts';
import { openSession, type Session } from './session.ts';

/**
 * One long-lived process that answers JSON-RPC. It starts on first use, is started again when it dies, and
 * loses only the requests that were in flight. With a greeting, each life begins with it.
 */
export function openServer(binding: Binding, context: ProcessContext, greeting?: Greeting): Transport {
  const { name } = binding;
  const restarts = createRestarts(binding.restart);
  const closing = new AbortController();
  const unreadError = (timeoutMs: number) =>
    new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not read a notification within ${timeoutMs} ms`);
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
    const process = await startServer(binding, context, greeting);
    lives += 1;
    if (lives > 1) {
      context.emit({ type: 'process.restarted', name, pid: process.pid, deaths: restarts.deaths });
    }
    let isReady = greeting === undefined;
    const session = openSession(binding, context, {
      process,
      // A server that dies of every request greets well each time.
      onGoodReply: () => isReady && restarts.succeeded(),
      mayAnswerNotifications: greeting !== undefined,
    });
    open.add(session);
    session.over.then(() => open.delete(session));
    if (greeting !== undefined) await greet(session, greeting, { binding, closing: closing.signal });
    isReady = true;
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

  const send = async <Outcome>(errand: Errand<Outcome>, provesLife: boolean): Promise<Outcome> => {
    if (closing.signal.aborted) throw closedError(name);
    if (errand.signal?.aborted) throw abortedError(name, errand.signal);
    const leave = restarts.admit();
    if (leave === 'refused') throw circuitError(name, restarts.deaths);
    try {
      const outcome = await run(errand, acquire(), { binding, greeting });
      if (leave === 'trial' && !provesLife) restarts.trialUndecided();
      return outcome;
    } finally {
      if (leave === 'trial') restarts.trialFailed();
    }
  };

  return {
    exchange: (message, signal) =>
      send({ message, signal, send: (session) => session.request(message) }, true),
    notify: (message, signal) =>
      send({ message, signal, send: (session) => session.notify(message), expiry: unreadError }, false),
    lives: () => lives,
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

async function startServer(
  binding: Binding,
  context: ProcessContext,
  greeting: Greeting | undefined,
): Promise<WatchedProcess> {
  try {
    return await startProcess(binding, context, null);
  } catch (thrown) {
    throw greeting === undefined ? thrown : atStage(toRuntimeError(thrown), 'start');
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
