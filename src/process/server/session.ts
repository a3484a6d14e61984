import type { Writable } from 'node:stream';
import { RuntimeError } from '../../base/errors.ts';
import { lastLineOf } from '../../base/text/phrases.ts';
import { whenAborted } from '../../base/time/async.ts';
import { abortedError, drain, timeoutError, waitForSettled } from '../../base/time/deadline.ts';
import { DeadlineList } from '../../base/time/deadline-list.ts';
import type { Binding, Sandbox } from '../binding.ts';
import type { ExitStatus } from '../launch/launch.ts';
import { isComputing } from '../limits/supervisor.ts';
import { noReplyHint, oneshotHint, unansweredError, withHint } from '../oneshot.ts';
import type { ProcessContext, WatchedProcess } from '../process.ts';
import { withStderr } from '../stderr.ts';
import { createLineSplitter, readInTurns, whenClosed } from '../stream-reader.ts';
import type { Message, RpcReply } from '../transport.ts';
import { Inbox, type InboxOptions } from './inbox.ts';
import { encodeNotification, encodeRequest } from './json-rpc.ts';
import type { BegunRequest, WaitingRequest } from './waiting-requests.ts';

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
  readonly inFlight: number;
  /**
   * Sends a request and gives its reply, within the time limit of the message. Rejects as `request` throws and its
   * outcome rejects, with PROCESS_TIMEOUT, and with ABORTED.
   */
  exchange(message: Message, signal: AbortSignal | undefined): Promise<RpcReply>;
  /** Throws SERVER_BUSY when too much is unsent, SERVER_EXIT when the session is over. */
  request(message: Message): InFlight<RpcReply>;
  notify(message: Message): InFlight<void>;
  endStdin(): void;
}

interface SessionStart extends InboxOptions {
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
  const { markSandbox } = await import('../sandbox/launch.ts');
  const { hint = error.hint, ...mark } = markSandbox(sandbox, { stdout: new Uint8Array(), stderr });
  const { code, message, details, cause } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, sandbox: mark }, cause });
}

interface SentRequest extends BegunRequest {
  readonly line: QueuedLine;
  readonly box: Outbox;
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

interface SessionEnd extends ExitStatus {
  /** The process closed its stdout and lived on, so it was killed. */
  readonly closedStdout: boolean;
}

/**
 * Waits for the end of the process, or of its stdout: a process that closed its stdout is of no more use.
 * Then reads its outputs to their end, at most `drainMs`. Never rejects.
 */
async function waitForSessionEnd(
  binding: Binding,
  child: WatchedProcess,
  isStopping: () => boolean,
): Promise<SessionEnd> {
  const closed = whenClosed(child.stdout);
  await Promise.race([child.ended, closed]);
  // A process that closed its stdout exits at once or not at all; one that was asked to end gets its grace.
  const isStillRunning = !(await waitForSettled(child.ended, EXIT_AFTER_STDOUT_MS)) && !isStopping();
  if (isStillRunning) child.killGroup();
  const ended = await child.ended;
  await drain(Promise.all([closed, child.stderrClosed]), binding.drainMs);
  if (binding.leftovers === 'kill') child.killGroup();
  return { ...ended, closedStdout: isStillRunning };
}

const EXIT_AFTER_STDOUT_MS = 100;

/** SERVER_EXIT, for the requests that were in flight when the server ended. */
function exitError(end: SessionEnd, stderr: string): RuntimeError {
  const { exitCode, signal } = end;
  const how = end.closedStdout
    ? 'closed its stdout and was killed'
    : signal === null
      ? `ended with exit code ${exitCode}`
      : `was ended by ${signal}`;
  const message = `the server ${how} while the request was in flight`;
  const details = { exit_code: exitCode, signal };
  const hint =
    lastLineOf(stderr) === ''
      ? 'It wrote nothing to stderr; it is started again on the next call.'
      : undefined;
  return withStderr(new RuntimeError('SERVER_EXIT', message, { hint, details }), stderr);
}

interface Ending {
  /** Default: the limit of the binding. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The limits of the requests to one life of a server. */
interface Limits {
  /**
   * Fails the request with PROCESS_TIMEOUT or ABORTED when its time is over or its caller gives up, unless it is settled
   * before. `abandon` stops the wait, and gives the hint for a request that timed out.
   */
  begin(request: WaitingRequest, ending: Ending, abandon: (isLate: boolean) => string | undefined): void;
}

/** The limits of requests by this binding: one timer for all that have the same time. */
function openLimits({ name, timeoutMs: usualMs }: Binding): Limits {
  const usual = new DeadlineList(usualMs);
  const others = new Map<number, DeadlineList>();
  const listOf = (timeoutMs: number) => {
    const known = others.get(timeoutMs);
    if (known !== undefined) return known;
    const list = new DeadlineList(timeoutMs);
    if (others.size < MOST_LISTS) others.set(timeoutMs, list);
    return list;
  };
  return {
    begin: (request, { timeoutMs = usualMs, signal }, abandon) => {
      const list = timeoutMs === usualMs ? usual : listOf(timeoutMs);
      const limit = list.start(() => {
        const hint = abandon(true);
        request.reject(withHint(timeoutError(name, timeoutMs), hint));
      });
      const forgetSignal =
        signal &&
        whenAborted(signal, () => {
          abandon(false);
          request.reject(abortedError(name, signal));
        });
      request.whenSettled(() => {
        list.clear(limit);
        forgetSignal?.();
      });
    },
  };
}

/** A message has the limit of its point or that of its entry; whoever gives each its own gets a list for each. */
const MOST_LISTS = 16;

interface QueuedLine {
  text: string;
  readonly onWritten: (() => void) | undefined;
}

/**
 * Lines on their way into a stream, in order. What is sent in one turn of the event loop, or while the reader is busy,
 * leaves in one write, of at most BATCH_LENGTH or one line, so that a line which is in no write yet can be taken back.
 */
class Outbox {
  readonly #stream: Writable;
  #queue: QueuedLine[] = [];
  #queuedLength = 0;
  /** The same in bytes, once somebody had to know. */
  #queuedBytes: number | undefined;
  #writingBytes = 0;
  #withdrawn = 0;
  #isBusy = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  get pendingBytes(): number {
    this.#queuedBytes ??= this.#queue.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    return this.#writingBytes + this.#queuedBytes;
  }

  hasRoom(maxBytes: number): boolean {
    // A unit has at most three bytes, so that most often none has to be counted.
    return this.#writingBytes + 3 * this.#queuedLength <= maxBytes || this.pendingBytes <= maxBytes;
  }

  /** Queues a line. `onWritten` is called when its last byte is written, and never if it is not. */
  send(text: string, onWritten?: () => void): QueuedLine {
    const line = { text, onWritten };
    this.#queue.push(line);
    this.#count(text, 1);
    if (!this.#isBusy) {
      this.#isBusy = true;
      // Behind the promises of this turn, which may send more.
      process.nextTick(() => this.#writeBatch());
    }
    return line;
  }

  /** Takes a line back unless its writing has begun. */
  withdraw(line: QueuedLine): void {
    if (line.text === '') return;
    this.#count(line.text, -1);
    line.text = '';
    this.#withdrawn += 1;
    if (this.#withdrawn * 2 > this.#queue.length) this.#forgetWithdrawn();
  }

  #writeBatch(): void {
    this.#forgetWithdrawn();
    const batch = this.#takeBatch();
    if (batch.length === 0 || !this.#stream.writable) {
      this.#isBusy = false;
      return;
    }
    let text = '';
    for (const line of batch) {
      text += line.text;
      line.text = '';
    }
    this.#count(text, -1);
    this.#writingBytes = Buffer.byteLength(text);
    this.#stream.write(text, (error) => {
      this.#writingBytes = 0;
      if (!error) for (const { onWritten } of batch) onWritten?.();
      this.#writeBatch();
    });
  }

  /** The lines of the next write. */
  #takeBatch(): readonly QueuedLine[] {
    const all = this.#queue;
    if (this.#queuedLength <= BATCH_LENGTH) {
      this.#queue = [];
      return all;
    }
    let length = 0;
    const end = all.findIndex(({ text }) => {
      length += text.length;
      return length > BATCH_LENGTH;
    });
    return all.splice(0, Math.max(end, 1));
  }

  #count(text: string, sign: 1 | -1): void {
    this.#queuedLength += sign * text.length;
    if (this.#queuedLength === 0) this.#queuedBytes = undefined;
    else if (this.#queuedBytes !== undefined) this.#queuedBytes += sign * Buffer.byteLength(text);
  }

  #forgetWithdrawn(): void {
    if (this.#withdrawn === 0) return;
    this.#queue = this.#queue.filter(({ text }) => text !== '');
    this.#withdrawn = 0;
  }
}

/** As much as a pipe holds. */
const BATCH_LENGTH = 64 * 1024;
