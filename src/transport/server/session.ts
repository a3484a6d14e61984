import type { Binding } from '../../binding/binding.ts';
import { RuntimeError } from '../../errors.ts';
import { unansweredError } from '../oneshot.ts';
import type { ProcessContext, WatchedProcess } from '../process.ts';
import { noReplyHint, oneshotHint, withHint } from '../server-hints.ts';
import { createLineSplitter } from '../stream-reader.ts';
import type { Message, RpcReply } from '../transport.ts';
import { Inbox, type InboxOptions } from './inbox.ts';
import { encodeNotification, encodeRequest } from './json-rpc.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { exitError, waitForSessionEnd } from './session-end.ts';

/** A message that is on its way: a request until it is answered, a notification until it is written. */
export interface InFlight<Outcome> {
  /** Rejects with SERVER_EXIT, that of a request also with REPLY_MALFORMED or OUTPUT_LIMIT. */
  readonly outcome: Promise<Outcome>;
  /** Stops waiting: bytes not yet begun are not sent, and a late reply is dropped. Returns a hint, if any. */
  abandon(): string | undefined;
}

/** One life of a server process: many requests at once, matched by id. */
export interface Session {
  readonly process: WatchedProcess;
  /** Settles when no more replies can come and everything in flight has failed. */
  readonly closed: Promise<void>;
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
  const outbox = child.stdin && createOutbox(child.stdin);
  /** The reject functions of notifications that are not written yet. */
  const pendingNotifications = new Set<(error: RuntimeError) => void>();
  let isStopping = false;
  let exit: RuntimeError | undefined;
  let hasNoOutput = true;
  const isServerOnly = start.mayAnswerNotifications;

  child.stdout.on('data', (chunk: Buffer) => {
    hasNoOutput = false;
    lines.push(chunk);
  });
  const over = waitForSessionEnd(binding, child, () => isStopping).then((ended) => {
    lines.end();
    const error = exitError(binding.name, ended, child.stderr());
    const isOneshot = hasNoOutput && ended.exitCode === 0 && !isServerOnly;
    const failed = isOneshot ? withHint(error, oneshotHint) : error;
    exit = isStopping ? unansweredError(binding.name) : failed;
    inbox.requests.failAll(exit);
    for (const reject of pendingNotifications) reject(exit);
    child.release();
  });

  return {
    process: child,
    closed: over,
    endStdin: () => {
      isStopping = true;
      child.stdin?.end();
    },
    request: ({ method, body }) => {
      if (exit !== undefined) throw exit;
      const { send } = requireRoom(binding, outbox);
      const { id, reply, hasNoise } = inbox.requests.add();
      const withdraw = send(encodeRequest(id, method, body));
      return {
        outcome: reply,
        abandon: () => {
          withdraw();
          inbox.requests.abandon(id);
          return noReplyHint({ hasNoise: hasNoise(), hasNoOutput, isServerOnly });
        },
      };
    },
    notify: ({ method, body }) => {
      if (exit !== undefined) throw exit;
      const { send } = requireRoom(binding, outbox);
      const { promise: outcome, resolve, reject } = Promise.withResolvers<void>();
      outcome.catch(() => {}).finally(() => pendingNotifications.delete(reject));
      pendingNotifications.add(reject);
      const withdraw = send(encodeNotification(method, body), resolve);
      return {
        outcome,
        abandon: () => {
          withdraw();
          pendingNotifications.delete(reject);
          return undefined;
        },
      };
    },
  };
}

const LONG_LINE_PREFIX = 4096;

/** The outbox. Throws SERVER_BUSY when it holds more than `maxOutputBytes`, INTERNAL without a stdin. */
function requireRoom({ name, maxOutputBytes }: Binding, outbox: Outbox | null): Outbox {
  if (outbox === null) throw new RuntimeError('INTERNAL', `"${name}" was started without a stdin`);
  if (outbox.pendingBytes <= maxOutputBytes) return outbox;
  throw new RuntimeError(
    'SERVER_BUSY',
    `"${name}" has not read ${outbox.pendingBytes} bytes of earlier requests`,
  );
}
