import { RuntimeError } from '../../base/errors.ts';
import type { Sandbox } from '../binding/sandbox.ts';
import type { Binding } from '../binding.ts';
import { isComputing } from '../limits/family.ts';
import { unansweredError } from '../oneshot.ts';
import type { ProcessContext, WatchedProcess } from '../process.ts';
import { noReplyHint, oneshotHint, withHint } from '../server-hints.ts';
import { createLineSplitter, readInTurns } from '../stream-reader.ts';
import type { Message, RpcReply } from '../transport.ts';
import { Inbox, type InboxOptions } from './inbox.ts';
import { encodeNotification, encodeRequest } from './json-rpc.ts';
import { openLimits } from './limits.ts';
import { Outbox, type QueuedLine } from './outbox.ts';
import { exitError, waitForSessionEnd } from './session-end.ts';
import type { BegunRequest } from './waiting-requests.ts';

/** A message that is on its way: a request until it is answered, a notification until it is written. */
export interface InFlight<Outcome> {
  /** Rejects with SERVER_EXIT, that of a request also with REPLY_MALFORMED or OUTPUT_LIMIT. */
  readonly outcome: Promise<Outcome>;
  /**
   * Stops waiting: bytes not yet begun are not sent, and a late reply is dropped. Where its time is over, a process that
   * computes and answers nobody is ended. Returns a hint, if any.
   */
  abandon(isLate: boolean): string | undefined;
}

/** One life of a server process: many requests at once, matched by id. */
export interface Session {
  readonly process: WatchedProcess;
  /** Settles when no more replies can come and everything in flight has failed. */
  readonly closed: Promise<void>;
  /** How many requests wait for their replies. */
  readonly inFlight: number;
  /**
   * Sends a request and gives its reply, within the time limit of the message. Rejects as `request` throws and its
   * outcome rejects, with PROCESS_TIMEOUT, and with ABORTED.
   */
  exchange(message: Message, signal: AbortSignal | undefined): Promise<RpcReply>;
  /** Throws SERVER_BUSY when too much is unsent, SERVER_EXIT when the session is over. */
  request(message: Message): InFlight<RpcReply>;
  /** Throws as `request` does. */
  notify(message: Message): InFlight<void>;
  /** Ends stdin, which asks the process to end by itself. */
  endStdin(): void;
}

export interface SessionStart extends InboxOptions {
  readonly process: WatchedProcess;
}

/** A JSON-RPC session over the streams of a started process, until the process ends. */
export function openSession(binding: Binding, context: ProcessContext, start: SessionStart): Session {
  const { process: child } = start;
  const inbox = new Inbox(binding, context.emit, start, context.scrubber);
  const lines = createLineSplitter(
    { maxBytes: binding.maxOutputBytes, prefixBytes: LONG_LINE_PREFIX },
    inbox,
  );
  const outbox = child.stdin && new Outbox(child.stdin);
  const limits = openLimits(binding);
  /** The reject functions of notifications that are not written yet. */
  const pendingNotifications = new Set<(error: RuntimeError) => void>();
  let isStopping = false;
  let exit: RuntimeError | undefined;
  let hasNoOutput = true;
  let isLookedAt = false;
  const isServerOnly = start.mayAnswerNotifications;

  // Each request and each notification has a limit of time, whose timer keeps Node alive meanwhile.
  child.keepAlive(false);
  readInTurns(child.stdout, (chunk) => {
    hasNoOutput = false;
    lines.push(chunk);
  });
  const over = waitForSessionEnd(binding, child, () => isStopping).then(async (ended) => {
    lines.end();
    const told = child.limitFault(ended) ?? child.startFault() ?? exitError(ended, child.stderr());
    const error = binding.sandbox === null ? told : await inSandbox(told, binding.sandbox, child.stderr());
    const isOneshot = hasNoOutput && ended.exitCode === 0 && !isServerOnly;
    const failed = isOneshot ? withHint(error, oneshotHint) : error;
    exit = isStopping ? unansweredError(binding.name) : failed;
    inbox.requests.failAll(exit);
    for (const reject of pendingNotifications) reject(exit);
    child.release();
  });

  const send = ({ method, body, requireStart }: Message): SentRequest => {
    if (exit !== undefined) throw exit;
    requireStart?.();
    const box = requireRoom(binding, outbox);
    const { waiting, reply } = inbox.requests.add();
    const line = box.send(encodeRequest(waiting.id, method, body));
    return { waiting, reply, line, box, answeredBefore: inbox.requests.answered };
  };
  /** Ends a process that does nothing but what nobody waits for any more: all other requests would wait for that too. */
  const endIfStuck = async ({ answeredBefore }: SentRequest) => {
    const hasAnswered = () => exit !== undefined || inbox.requests.answered > answeredBefore;
    if (isLookedAt || hasAnswered()) return;
    isLookedAt = true;
    const isStuck = await isComputing(child.pid);
    isLookedAt = false;
    if (!isStuck || hasAnswered()) return;
    const message = 'it still computed when the time for its answer was over, and is started again';
    context.emit({ type: 'note', name: binding.name, level: 'warn', message });
    await child.terminate();
  };
  /** Stops waiting for a reply; returns a hint about why there was none, if any. */
  const abandon = (sent: SentRequest, isLate: boolean) => {
    const { waiting, line, box } = sent;
    if (isLate) void endIfStuck(sent);
    box.withdraw(line);
    inbox.requests.abandon(waiting.id);
    return noReplyHint({ hasNoise: waiting.hasNoise, hasNoOutput, isServerOnly });
  };

  return {
    process: child,
    closed: over,
    get inFlight() {
      return inbox.requests.size;
    },
    endStdin: () => {
      isStopping = true;
      child.keepAlive(true);
      // Behind the lines that were sent in this turn.
      process.nextTick(() => child.stdin?.end());
    },
    exchange: (message, signal) => {
      let sent: SentRequest;
      try {
        sent = send(message);
      } catch (error) {
        return Promise.reject(error);
      }
      limits.begin(sent.waiting, { timeoutMs: message.timeoutMs, signal }, (isLate) => abandon(sent, isLate));
      return sent.reply;
    },
    request: (message) => {
      const sent = send(message);
      const outcome = sent.reply;
      // An abandoned request has no listener any more; its rejection must not count as unhandled.
      outcome.catch(() => {});
      return { outcome, abandon: (isLate) => abandon(sent, isLate) };
    },
    notify: ({ method, body }) => {
      if (exit !== undefined) throw exit;
      const box = requireRoom(binding, outbox);
      const { promise: outcome, resolve, reject } = Promise.withResolvers<void>();
      outcome.catch(() => {}).finally(() => pendingNotifications.delete(reject));
      pendingNotifications.add(reject);
      const line = box.send(encodeNotification(method, body), resolve);
      return {
        outcome,
        abandon: () => {
          box.withdraw(line);
          pendingNotifications.delete(reject);
          return undefined;
        },
      };
    },
  };
}

/** The error with the sandbox that the server ran in, and what may be done about it there. */
async function inSandbox(error: RuntimeError, sandbox: Sandbox, stderr: string): Promise<RuntimeError> {
  const { markSandbox } = await import('../sandbox/hint.ts');
  const { hint = error.hint, ...mark } = markSandbox(sandbox, { stdout: new Uint8Array(), stderr });
  const { code, message, details, cause } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, sandbox: mark }, cause });
}

/** A request that was queued, and the line that carries it. */
interface SentRequest extends BegunRequest {
  readonly line: QueuedLine;
  readonly box: Outbox;
  /** How many requests had been answered when it was sent. */
  readonly answeredBefore: number;
}

const LONG_LINE_PREFIX = 4096;

/** The outbox. Throws SERVER_BUSY when it holds more than `maxOutputBytes`, INTERNAL without a stdin. */
function requireRoom({ name, maxOutputBytes }: Binding, outbox: Outbox | null): Outbox {
  if (outbox === null) throw new RuntimeError('INTERNAL', `"${name}" was started without a stdin`);
  if (outbox.hasRoom(maxOutputBytes)) return outbox;
  throw new RuntimeError(
    'SERVER_BUSY',
    `"${name}" has not read ${outbox.pendingBytes} bytes of earlier requests`,
  );
}
