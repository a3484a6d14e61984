import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { abortedError, sleep, waitForSettled } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import { closedError } from '../oneshot.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';
import type { Handshake, Transport } from '../transport.ts';
import { type Dispatch, dispatch } from './dispatch.ts';
import { performHandshake, withStage } from './handshake.ts';
import { createRestartTracker } from './restart-tracker.ts';
import { openSession, type Session } from './session.ts';

/** A transport to one process. */
export interface ServerTransport extends Transport {
  /** How many exchanges are not settled yet. */
  readonly load: number;
  /** Whether its circuit would refuse an exchange now. */
  readonly isRefusing: boolean;
}

/**
 * One long-lived process that answers JSON-RPC. It starts on first use, is started again when it dies, and
 * loses only the requests that were in flight. With a handshake, each process begins with it.
 */
export function openServer(
  binding: Binding,
  context: ProcessContext,
  handshake?: Handshake,
): ServerTransport {
  const { name } = binding;
  const restarts = createRestartTracker(binding.restart);
  const closing = new AbortController();
  const notWrittenError = (timeoutMs: number) =>
    new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not read a notification within ${timeoutMs} ms`);
  let current: Promise<Session> | undefined;
  /** The session, once it can be used and as long as its process lives. */
  let ready: Session | undefined;
  /** How many messages wait for a session; what comes later must not overtake them. */
  let unsent = 0;
  let startCount = 0;
  /** Sessions that are not closed yet; outputs may outlive their process for a while. */
  const open = new Set<Session>();

  const onSessionEnd = (dead: Promise<Session>) => {
    if (current === dead) {
      current = undefined;
      ready = undefined;
    }
    if (closing.signal.aborted) return;
    if (restarts.recordDeath()) {
      const { circuitPauseMs: pauseMs } = binding.restart;
      context.emit({ type: 'circuit.opened', name, deaths: restarts.deaths, pauseMs });
    }
  };
  const startSession = async (): Promise<Session> => {
    const delayMs = restarts.startDelayMs();
    if (delayMs > 0) await sleep(delayMs, closing.signal);
    if (closing.signal.aborted) throw closedError(name);
    const process = await startServer(binding, context, handshake);
    startCount += 1;
    if (startCount > 1) {
      context.emit({ type: 'process.restarted', name, pid: process.pid, deaths: restarts.deaths });
    }
    let isReady = handshake === undefined;
    const session = openSession(binding, context, {
      process,
      // The handshake's own reply does not count: a server that dies of every request completes it each time.
      onGoodReply: () => isReady && restarts.recordSuccess(),
      mayAnswerNotifications: handshake !== undefined,
    });
    open.add(session);
    session.closed.then(() => open.delete(session));
    if (handshake !== undefined)
      await performHandshake(session, handshake, { binding, closing: closing.signal });
    isReady = true;
    return session;
  };
  const acquire = (): Promise<Session> => {
    if (current !== undefined) return current;
    // Stored before anything is awaited: simultaneous first calls must share one process.
    const starting = startSession();
    current = starting;
    starting.then(
      (session) => {
        if (current === starting) ready = session;
        return session.process.ended.then(() => onSessionEnd(starting));
      },
      () => onSessionEnd(starting),
    );
    return starting;
  };

  const dispatchInOrder = async <Outcome>(request: Dispatch<Outcome>): Promise<Outcome> => {
    let isUnsent = true;
    unsent += 1;
    const leave = () => {
      if (isUnsent) unsent -= 1;
      isUnsent = false;
    };
    const send = (session: Session) => {
      leave();
      return request.send(session);
    };
    try {
      return await dispatch({ ...request, send }, acquire(), { binding, handshake });
    } finally {
      leave();
    }
  };
  const send = async <Outcome>(request: Dispatch<Outcome>, expectsReply: boolean): Promise<Outcome> => {
    if (closing.signal.aborted) throw closedError(name);
    if (request.signal?.aborted) throw abortedError(name, request.signal);
    const admission = restarts.admit();
    if (admission === 'refused') throw circuitError(name, restarts.deaths);
    if (admission === 'admitted') return await dispatchInOrder(request);
    try {
      const outcome = await dispatchInOrder(request);
      if (!expectsReply) restarts.trialUndecided();
      return outcome;
    } catch (thrown) {
      // A caller that gives up tells nothing of the server.
      if (toRuntimeError(thrown).code === 'ABORTED') restarts.trialUndecided();
      throw thrown;
    } finally {
      restarts.trialFailed();
    }
  };

  return {
    get load() {
      return unsent + (ready?.inFlight ?? 0);
    },
    get isRefusing() {
      return restarts.isRefusing;
    },
    exchange: (message, signal) => {
      const isStraight = unsent === 0 && !closing.signal.aborted && !restarts.isTripped && !signal?.aborted;
      if (ready !== undefined && isStraight) return ready.exchange(message, signal);
      return send({ message, signal, send: (session) => session.request(message) }, true);
    },
    notify: (message, signal) =>
      send(
        { message, signal, send: (session) => session.notify(message), createError: notWrittenError },
        false,
      ),
    startCount: () => startCount,
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
  handshake: Handshake | undefined,
): Promise<WatchedProcess> {
  try {
    return await startProcess(binding, context, null);
  } catch (thrown) {
    throw handshake === undefined ? thrown : withStage(toRuntimeError(thrown), 'start');
  }
}

/** End of stdin, grace, SIGTERM to the group, grace, SIGKILL. */
async function stop(session: Session, graceMs: number): Promise<void> {
  session.endStdin();
  if (!(await waitForSettled(session.process.ended, graceMs))) await session.process.terminate();
  await session.closed;
}

function circuitError(name: string, deaths: number): RuntimeError {
  return new RuntimeError(
    'SERVER_CIRCUIT_OPEN',
    `the server "${name}" died ${deaths} times in a row and is left alone for now`,
  );
}
