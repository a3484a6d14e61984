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
import type { AskedExchange, Ending, Message, Reply } from '../transport.ts';
import { Inbox, type InboxOptions } from './inbox.ts';
import { encodeNotification, encodeRequest, withMeta } from './json-rpc.ts';
import type { WaitingRequest } from './waiting-requests.ts';

/** A message in flight: a request until it is answered, a notification until it is written. */
export interface InFlight<Outcome> {
  /** Rejects with SERVER_EXIT; a request also with REPLY_MALFORMED or OUTPUT_LIMIT. */
  readonly outcome: Promise<Outcome>;
  /**
   * Withdraws unsent bytes and drops a late reply. If late, ends a process that answers nobody. Returns a hint, if any.
   */
  abandon(isLate: boolean): string | undefined;
}

export interface Session {
  readonly process: WatchedProcess;
  /** Settles when no more replies can come and everything in flight has failed. */
  readonly closed: Promise<void>;
  readonly inFlight: number;
  /** The exchange ends with a reply, an error of `request`, PROCESS_TIMEOUT or ABORTED. */
  ask(message: Message, asked: AskedExchange): void;
  /** Throws SERVER_BUSY if too much is unsent, SERVER_EXIT if the session has ended. */
  request(message: Message): InFlight<Reply>;
  notify(message: Message): InFlight<void>;
  endStdin(): void;
}

interface SessionStart extends InboxOptions {
  readonly process: WatchedProcess;
}

export function openSession(binding: Binding, context: ProcessContext, start: SessionStart): Session {
  const { process: child } = start;
  const inbox = new Inbox(binding, context.emit, start, context.scrubber);
  const lines = createLineSplitter(
    { maxBytes: binding.maxOutputBytes, prefixBytes: LONG_LINE_PREFIX },
    inbox,
  );
  const outbox = child.stdin && new Outbox(child.stdin);
  const pendingNotifications = new Set<(error: RuntimeError) => void>();
  let isStopping = false;
  let exit: RuntimeError | undefined;
  let hasNoOutput = true;
  let isLookedAt = false;
  const isServerOnly = start.mayAnswerNotifications;

  // Each message has a timeout whose timer keeps Node alive.
  child.keepAlive(false);
  readInTurns(child.stdout(), (chunk) => {
    hasNoOutput = false;
    lines.push(chunk);
  });
  const over = waitForSessionEnd(binding, child, () => isStopping).then(async (ended) => {
    lines.end();
    const error = await describeSessionEnd(binding, child, ended);
    const isOneshot = hasNoOutput && ended.exitCode === 0 && !isServerOnly;
    const failed = isOneshot ? withHint(error, oneshotHint) : error;
    exit = isStopping ? unansweredError(binding.name) : failed;
    inbox.requests.failAll(exit);
    for (const reject of pendingNotifications) reject(exit);
    child.release();
  });

  const send = (
    { method, body, requireStart, takesMeta, trace, onProgress }: Message,
    ending: Ending,
  ): WaitingRequest => {
    if (exit !== undefined) throw exit;
    requireStart?.();
    const box = requireRoom(binding, outbox);
    const params = trace === undefined || !takesMeta ? body : withMeta(body, trace);
    // A text that is too long throws before the request waits.
    const text = encodeRequest(inbox.requests.nextId, method, params);
    const waiting = inbox.requests.add(ending, onProgress);
    waiting.text = text;
    box.send(waiting);
    return waiting;
  };
  /** Ends a process that works only on abandoned requests, since all other requests would wait for it. */
  const endIfStuck = async ({ answeredBefore }: WaitingRequest) => {
    const hasAnswered = () => exit !== undefined || inbox.requests.answered > answeredBefore;
    if (isLookedAt || hasAnswered()) return;
    isLookedAt = true;
    const isStuck = await isComputing(child.pid);
    isLookedAt = false;
    if (!isStuck || hasAnswered()) return;
    const message = 'it was still computing when its answer timed out, and is restarted';
    context.emit({ type: 'note', name: binding.name, level: 'warn', message });
    await child.terminate();
  };
  const abandon = (request: WaitingRequest, isLate: boolean) => {
    if (isLate) void endIfStuck(request);
    outbox?.withdraw(request);
    inbox.requests.abandon(request.id);
    return noReplyHint({ hasNoise: request.hasNoise, hasNoOutput, isServerOnly });
  };
  const limits = openLimits(binding, abandon);

  return {
    process: child,
    closed: over,
    get inFlight() {
      return inbox.requests.size;
    },
    endStdin: () => {
      isStopping = true;
      child.keepAlive(true);
      // After the lines that were sent in this turn.
      process.nextTick(() => child.stdin?.end());
    },
    ask: (message, asked) => {
      let waiting: WaitingRequest | undefined;
      try {
        waiting = send(message, asked);
        limits.begin(waiting, message.timeoutMs, asked.signal);
      } catch (error) {
        if (waiting === undefined) asked.onError(error);
        else {
          // Its reply must not end the exchange a second time.
          abandon(waiting, false);
          waiting.reject(error);
        }
      }
    },
    request: (message) => {
      const { promise: outcome, resolve: onReply, reject: onError } = Promise.withResolvers<Reply>();
      const waiting = send(message, { onReply, onError });
      // An abandoned request has no listener; its rejection must not be unhandled.
      outcome.catch(() => {});
      return { outcome, abandon: (isLate) => abandon(waiting, isLate) };
    },
    notify: ({ method, body }) => {
      if (exit !== undefined) throw exit;
      const box = requireRoom(binding, outbox);
      const { promise: outcome, resolve, reject } = Promise.withResolvers<void>();
      outcome.catch(() => {}).finally(() => pendingNotifications.delete(reject));
      pendingNotifications.add(reject);
      const line: QueuedLine = { text: encodeNotification(method, body), onWritten: resolve };
      box.send(line);
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

/** Why a server that ended, or closed its stdout, answers no more. */
export async function describeSessionEnd(
  { sandbox }: Binding,
  child: WatchedProcess,
  ended: SessionEnd,
): Promise<RuntimeError> {
  const stderr = child.stderr();
  const error = child.limitFault(ended) ?? child.startFault() ?? exitError(ended, stderr);
  return sandbox === null ? error : await inSandbox(error, sandbox, stderr);
}

async function inSandbox(error: RuntimeError, sandbox: Sandbox, stderr: string): Promise<RuntimeError> {
  const { markSandbox } = await import('../sandbox/launch.ts');
  const { hint = error.hint, ...mark } = markSandbox(sandbox, { stdout: new Uint8Array(), stderr });
  const { code, message, details, cause } = error;
  return new RuntimeError(code, message, { hint, details: { ...details, sandbox: mark }, cause });
}

const LONG_LINE_PREFIX = 4096;

/** Throws SERVER_BUSY if more than `maxOutputBytes` are unsent. */
function requireRoom({ name, maxOutputBytes }: Binding, outbox: Outbox | null): Outbox {
  if (outbox === null) throw new RuntimeError('INTERNAL', `"${name}" was started without a stdin`);
  if (outbox.hasRoom(maxOutputBytes)) return outbox;
  throw new RuntimeError(
    'SERVER_BUSY',
    `"${name}" has not read ${outbox.pendingBytes} bytes of earlier requests`,
  );
}

interface SessionEnd extends ExitStatus {
  readonly closedStdout: boolean;
}

/** Ends a process that closed its stdout. Reads outputs for at most `drainMs`. Never rejects. */
export async function waitForSessionEnd(
  binding: Binding,
  child: WatchedProcess,
  isStopping: () => boolean,
): Promise<SessionEnd> {
  const closed = whenClosed(child.stdout());
  await Promise.race([child.ended, closed]);
  // A process that closed its stdout exits at once or not at all; a stopping one gets its grace.
  const isStillRunning = !(await waitForSettled(child.ended, EXIT_AFTER_STDOUT_MS)) && !isStopping();
  if (isStillRunning) child.killGroup();
  const ended = await child.ended;
  await drain(Promise.all([closed, child.stderrClosed]), binding.drainMs);
  if (binding.leftovers === 'kill') child.killGroup();
  return { ...ended, closedStdout: isStillRunning };
}

const EXIT_AFTER_STDOUT_MS = 100;

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
    lastLineOf(stderr) === '' ? 'It wrote nothing to stderr. It is restarted on the next call.' : undefined;
  return withStderr(new RuntimeError('SERVER_EXIT', message, { hint, details }), stderr);
}

interface Limits {
  begin(request: WaitingRequest, timeoutMs: number | undefined, signal: AbortSignal | undefined): void;
}

/** Uses one timer for all requests with the same timeout. */
function openLimits(
  { name, timeoutMs: usualMs }: Binding,
  abandon: (request: WaitingRequest, isLate: boolean) => string | undefined,
): Limits {
  const open = (timeoutMs: number) =>
    new DeadlineList<WaitingRequest>(timeoutMs, (request) => {
      const hint = abandon(request, true);
      request.reject(withHint(timeoutError(name, timeoutMs), hint));
    });
  const usual = open(usualMs);
  const others = new Map<number, typeof usual>();
  const listOf = (timeoutMs: number) => {
    const known = others.get(timeoutMs);
    if (known !== undefined) return known;
    const list = open(timeoutMs);
    if (others.size < MOST_LISTS) others.set(timeoutMs, list);
    return list;
  };
  return {
    begin: (request, timeoutMs = usualMs, signal) => {
      const list = timeoutMs === usualMs ? usual : listOf(timeoutMs);
      list.start(request);
      request.limitedBy = list;
      if (signal === undefined) return;
      request.forgetSignal = whenAborted(signal, () => {
        abandon(request, false);
        request.reject(abortedError(name, signal));
      });
    },
  };
}

/** Timeouts come from a point or its entry, so a few lists are enough; others get one list per request. */
const MOST_LISTS = 16;

interface QueuedLine {
  /** Empty once it is written or withdrawn. */
  text: string;
  readonly onWritten: (() => void) | undefined;
}

/** Writes one line or up to BATCH_LENGTH at once, so that unwritten lines can be withdrawn. */
class Outbox {
  readonly #stream: Writable;
  #queue: QueuedLine[] = [];
  #queuedLength = 0;
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
    // A UTF-16 unit has at most three bytes, so the exact count is rarely needed.
    return this.#writingBytes + 3 * this.#queuedLength <= maxBytes || this.pendingBytes <= maxBytes;
  }

  send(line: QueuedLine): void {
    this.#queue.push(line);
    this.#count(line.text, 1);
    if (!this.#isBusy) {
      this.#isBusy = true;
      // After the promises of this turn, which may send more.
      process.nextTick(() => this.#writeBatch());
    }
  }

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
    // Latin-1 is written without a conversion.
    const encoding = this.#writingBytes === text.length ? 'latin1' : 'utf8';
    this.#stream.write(text, encoding, (error) => {
      this.#writingBytes = 0;
      if (!error) for (const { onWritten } of batch) onWritten?.();
      this.#writeBatch();
    });
  }

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

/** The capacity of a pipe. */
const BATCH_LENGTH = 64 * 1024;
