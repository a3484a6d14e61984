import type { Binding } from '../../binding/binding.ts';
import { RuntimeError } from '../../errors.ts';
import { hintOfNoReply, oneshotHint, withHint } from '../hints.ts';
import { unansweredError } from '../oneshot.ts';
import type { ProcessContext, WatchedProcess } from '../process.ts';
import { createLineSplitter } from '../read.ts';
import type { Message, RpcReply } from '../transport.ts';
import { Inbox, type InboxRules } from './inbox.ts';
import { encodeNotification, encodeRequest } from './jsonrpc.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { exitError, watchEnd } from './session-end.ts';

/** A message that is on its way: a request until it is answered, a notification until it is written. */
export interface InFlight<Outcome> {
  /** Rejects with SERVER_EXIT, that of a request also with REPLY_MALFORMED or OUTPUT_LIMIT. */
  readonly outcome: Promise<Outcome>;
  /** Stops waiting: bytes not yet begun are not sent, and a late reply is dropped. Returns a hint, if any. */
  forget(): string | undefined;
}

/** One life of a server process: many requests at once, matched by id. */
export interface Session {
  readonly process: WatchedProcess;
  /** Settles when no more replies can come and everything in flight has failed. */
  readonly over: Promise<void>;
  /** Throws SERVER_BUSY when too much is unsent, SERVER_EXIT when the session is over. */
  request(message: Message): InFlight<RpcReply>;
  /** Throws as `request` does. */
  notify(message: Message): InFlight<void>;
  /** Ends stdin, which asks the process to end by itself. */
  end(): void;
}

export interface Started extends InboxRules {
  readonly process: WatchedProcess;
}

/** Speaks JSON-RPC with a started process until it ends. */
export function openSession(binding: Binding, context: ProcessContext, started: Started): Session {
  const { process: child } = started;
  const inbox = new Inbox(binding, context.emit, started, context.scrubber);
  const lines = createLineSplitter(
    { maxBytes: binding.maxOutputBytes, prefixBytes: LONG_LINE_PREFIX },
    inbox,
  );
  const outbox = child.stdin && createOutbox(child.stdin);
  /** Told when a notification will never be written. */
  const unwritten = new Set<(error: RuntimeError) => void>();
  let isStopping = false;
  let exit: RuntimeError | undefined;
  let isSilent = true;
  const isServerOnly = started.mayAnswerNotifications;

  child.stdout.on('data', (chunk: Buffer) => {
    isSilent = false;
    lines.push(chunk);
  });
  const over = watchEnd(binding, child, () => isStopping).then((ended) => {
    lines.end();
    const error = exitError(binding.name, ended, child.stderr());
    const isOneshot = isSilent && ended.exitCode === 0 && !isServerOnly;
    const failed = isOneshot ? withHint(error, oneshotHint) : error;
    exit = isStopping ? unansweredError(binding.name) : failed;
    inbox.failAll(exit);
    for (const reject of unwritten) reject(exit);
    child.release();
  });

  return {
    process: child,
    over,
    end: () => {
      isStopping = true;
      child.stdin?.end();
    },
    request: ({ method, body }) => {
      if (exit !== undefined) throw exit;
      const { send } = requireRoom(binding, outbox);
      const { id, reply, sawNoise } = inbox.await();
      const withdraw = send(encodeRequest(id, method, body));
      return {
        outcome: reply,
        forget: () => {
          withdraw();
          inbox.forget(id);
          return hintOfNoReply({ sawNoise: sawNoise(), isSilent, isServerOnly });
        },
      };
    },
    notify: ({ method, body }) => {
      if (exit !== undefined) throw exit;
      const { send } = requireRoom(binding, outbox);
      const { promise: outcome, resolve, reject } = Promise.withResolvers<void>();
      outcome.catch(() => {}).finally(() => unwritten.delete(reject));
      unwritten.add(reject);
      const withdraw = send(encodeNotification(method, body), resolve);
      return {
        outcome,
        forget: () => {
          withdraw();
          unwritten.delete(reject);
          return undefined;
        },
      };
    },
  };
}

const LONG_LINE_PREFIX = 4096;

/** The outbox, unless too much in it waits to be read. */
function requireRoom({ name, maxOutputBytes }: Binding, outbox: Outbox | null): Outbox {
  if (outbox === null) throw new RuntimeError('INTERNAL', `"${name}" was started without a stdin`);
  if (outbox.pendingBytes <= maxOutputBytes) return outbox;
  throw new RuntimeError(
    'SERVER_BUSY',
    `"${name}" has not read ${outbox.pendingBytes} bytes of earlier requests`,
  );
}
