import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import {
  abortedError,
  type Deadline,
  sleep,
  startDeadline,
  waitForSettled,
} from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';
import { closedError, withHint } from '../oneshot.ts';
import { type ProcessContext, startProcess, type WatchedProcess } from '../process.ts';
import type { AskedExchange, Handshake, Message, Reply, Transport } from '../transport.ts';
import { circuitError, createRestartTracker } from './restarts.ts';
import { type InFlight, openSession, type Session } from './session.ts';

export interface ServerTransport extends Transport {
  readonly load: number;
  readonly isRefusing: boolean;
}

/** Starts on first use and restarts after it dies; only in-flight requests are lost. The handshake comes first. */
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
  /** Undefined while closing. */
  let ready: Session | undefined;
  /** Messages waiting for a session. Later messages must not overtake them. */
  let unsent = 0;
  let startCount = 0;
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
      // The handshake's own reply does not count: a server that dies on every request still completes it.
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
    // Stored before the first await: simultaneous first calls must share one process.
    const starting = startSession();
    current = starting;
    starting.then(
      (session) => {
        if (current === starting && !closing.signal.aborted) ready = session;
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
      // An aborted call says nothing about the server.
      if (toRuntimeError(thrown).code === 'ABORTED') restarts.trialUndecided();
      throw thrown;
    } finally {
      restarts.trialFailed();
    }
  };

  const ask = (message: Message, asked: AskedExchange): boolean => {
    if (ready === undefined || unsent > 0 || restarts.isTripped || asked.signal?.aborted) return false;
    ready.ask(message, asked);
    return true;
  };

  return {
    get load() {
      return unsent + (ready?.inFlight ?? 0);
    },
    get isRefusing() {
      return restarts.isRefusing;
    },
    exchange: (message, signal) => {
      const { promise, resolve: onReply, reject: onError } = Promise.withResolvers<Reply>();
      if (ask(message, { signal, onReply, onError })) return promise;
      return send({ message, signal, send: (session) => session.request(message) }, true);
    },
    ask,
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
      ready = undefined;
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

async function stop(session: Session, graceMs: number): Promise<void> {
  session.endStdin();
  if (!(await waitForSettled(session.process.ended, graceMs))) await session.process.terminate();
  await session.closed;
}

async function performHandshake(
  session: Session,
  handshake: Handshake,
  { binding, closing }: { readonly binding: Binding; readonly closing: AbortSignal },
): Promise<void> {
  const outcome = await requestHandshake(session, handshake, { binding, closing }).catch((thrown) =>
    toRuntimeError(thrown),
  );
  if (closing.aborted) throw closedError(binding.name);
  const refusal = findRefusal(handshake, outcome);
  if (refusal === undefined) return;
  session.process.killGroup();
  throw withStage(refusal, 'hello');
}

async function requestHandshake(
  session: Session,
  { message }: Handshake,
  { binding, closing }: { readonly binding: Binding; readonly closing: AbortSignal },
): Promise<Reply> {
  const { name } = binding;
  const timeoutMs = message.timeoutMs ?? binding.timeoutMs;
  const createError = () =>
    new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer its greeting within ${timeoutMs} ms`);
  const deadline = startDeadline({ name, timeoutMs, signal: closing, createError });
  try {
    return await awaitOutcome(session.request(message), deadline);
  } finally {
    deadline.clear();
  }
}

/** Returns the error of `check`, which also sees malformed replies, else that of a missing reply. */
function findRefusal({ check }: Handshake, outcome: Reply | RuntimeError): RuntimeError | undefined {
  try {
    return check(outcome) ?? (isNoReply(outcome) ? outcome : undefined);
  } catch (thrown) {
    return toRuntimeError(thrown);
  }
}

function isNoReply(outcome: Reply | RuntimeError): outcome is RuntimeError {
  return outcome instanceof RuntimeError && outcome.code !== 'REPLY_MALFORMED';
}

function withStage(error: RuntimeError, stage: 'start' | 'hello'): RuntimeError {
  const { code, message, hint, details } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, stage }, cause: error });
}

interface Dispatch<Outcome> {
  readonly message: Message;
  readonly signal: AbortSignal | undefined;
  readonly send: (session: Session) => InFlight<Outcome>;
  readonly createError?: ((timeoutMs: number) => RuntimeError) | undefined;
}

interface DispatchTarget {
  readonly binding: Binding;
  readonly handshake: Handshake | undefined;
}

/** The timeout covers the server's start; with a handshake it starts afterwards. PROCESS_START if that is late. */
async function dispatch<Outcome>(
  request: Dispatch<Outcome>,
  session: Promise<Session>,
  { binding, handshake }: DispatchTarget,
): Promise<Outcome> {
  const { name } = binding;
  const { message, signal, send, createError } = request;
  const timeoutMs = message.timeoutMs ?? binding.timeoutMs;
  const readySession =
    handshake &&
    (await waitUntilReady(session, {
      name,
      signal,
      timeoutMs: timeoutMs + handshakeTimeoutMs(handshake, binding),
    }));
  const deadline = startDeadline({ name, timeoutMs, signal, createError });
  try {
    return await awaitOutcome(
      send(readySession ?? (await Promise.race([session, deadline.expired]))),
      deadline,
    );
  } finally {
    deadline.clear();
  }
}

function handshakeTimeoutMs({ message }: Handshake, binding: Binding): number {
  return message.timeoutMs ?? binding.timeoutMs;
}

/** Rejects with PROCESS_START, not PROCESS_TIMEOUT, if the handshake is late. */
async function waitUntilReady(
  session: Promise<Session>,
  limit: { readonly name: string; readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<Session> {
  const expiry = (timeoutMs: number) =>
    new RuntimeError(
      'PROCESS_START',
      `"${limit.name}" could not be started: it was not ready within ${timeoutMs} ms`,
      {
        details: { stage: 'start' },
      },
    );
  const ready = startDeadline({ ...limit, createError: expiry });
  try {
    return await Promise.race([session, ready.expired]);
  } finally {
    ready.clear();
  }
}

async function awaitOutcome<Outcome>(inFlight: InFlight<Outcome>, deadline: Deadline): Promise<Outcome> {
  try {
    return await Promise.race([inFlight.outcome, deadline.expired]);
  } catch (error) {
    const late = error instanceof RuntimeError && error.code === 'PROCESS_TIMEOUT' ? error : undefined;
    const hint = inFlight.abandon(late !== undefined);
    throw late === undefined ? error : withHint(late, hint);
  }
}
