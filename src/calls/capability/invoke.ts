import { isUtf8 } from 'node:buffer';
import { type Fault, isCancelled, RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { Json } from '../../base/json/json.ts';
import { type QueueClock, startStopwatch, type Timing, wholeMs } from '../../base/time/stopwatch.ts';
import type { Capability, Emit } from '../../contract/event.ts';
import type { Answer, Deny } from '../../contract/hook.ts';
import { currentOperation } from '../../contract/operation.ts';
import {
  noopScrubber,
  type Scrubber,
  scrubError,
  scrubMessages,
  withMessagesOf,
} from '../../contract/scrub.ts';
import type { TraceContext } from '../../contract/trace.ts';
import type { Codec, Decoded } from '../../dialects/dialect.ts';
import type { Binding } from '../../process/binding.ts';
import type { AskedExchange, Message, ProcessReply, Reply, Transport } from '../../process/transport.ts';

export interface Port<Input, Output> {
  readonly binding: Binding;
  readonly transport: Transport;
  readonly codec: Codec<Input, Output>;
  readonly emit: Emit;
  readonly scrubber?: Scrubber | undefined;
}

export interface Invocation<Input> {
  readonly input: Input;
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  readonly onReply?: ((reply: Reply) => void) | undefined;
}

/**
 * Encodes the input, exchanges it and decodes the reply. The clock records the wait for a slot; the default is the
 * stopwatch around the call. Throws RuntimeError only.
 */
export async function invoke<Input, Output extends object>(
  port: Port<Input, Output>,
  invocation: Invocation<Input>,
  clock?: QueueClock,
): Promise<Output> {
  try {
    const { input, signal } = invocation;
    return takeReply(
      port,
      await port.transport.exchange(port.codec.encode(input), signal, clock),
      invocation,
    );
  } catch (error) {
    throw scrubError(toRuntimeError(error), port.scrubber ?? noopScrubber);
  }
}

/** Takes a value as soon as it is there. */
export interface Next<Value> {
  next(value: Value): void;
  /** Takes what `next` throws. Does not throw. */
  fail(thrown: unknown): void;
}

/** What becomes of an exchange. */
export interface Continuation<Output> {
  onOutput(output: Output): void;
  onFault(fault: Fault): void;
  /** Takes what the other two throw. Does not throw. */
  fail(thrown: unknown): void;
}

interface ExchangeOptions {
  readonly clock?: QueueClock | undefined;
  /** The trace that the process continues. Default: that of the current operation. */
  readonly trace?: TraceContext | undefined;
}

/** Like `invoke`, but returns the result of `onFault` for a fault. Rejects only with what that throws. */
export function invokeOr<Input, Output extends object, Result = Output>(
  port: Port<Input, Output>,
  invocation: Invocation<Input>,
  { onFault, ...options }: ExchangeOptions & { readonly onFault: (fault: Fault) => Result },
): Promise<Output | Result> {
  return new Promise((resolve, reject) => {
    const takeFault = (fault: Fault) => resolve(onFault(fault));
    const next: Continuation<Output> = { onOutput: resolve, onFault: takeFault, fail: reject };
    invokeThen(port, invocation, next, options);
  });
}

/** Like `invoke`, but continues when the exchange ends, maybe in another async context. No promise stands in between. */
export function invokeThen<Input, Output extends object>(
  port: Port<Input, Output>,
  invocation: Invocation<Input>,
  next: Continuation<Output>,
  { clock, trace }: ExchangeOptions = {},
): void {
  const exchange = new Exchange(port, invocation, next);
  try {
    const { signal } = invocation;
    const message = withTrace(port.codec.encode(invocation.input), trace);
    exchange.clock = clock;
    // A reply comes in the async context of the server, and notes of it are events.
    if (!port.emit.hasListener && port.transport.ask?.(message, exchange)) return;
    port.transport.exchange(message, signal, clock).then(
      (reply) => exchange.onReply(reply),
      (error) => exchange.onError(error),
    );
  } catch (error) {
    exchange.onError(error);
  }
}

/** Decodes the reply of one exchange, and passes what it means to the caller. */
class Exchange<Input, Output extends object> implements AskedExchange {
  readonly signal: AbortSignal | undefined;
  clock: QueueClock | undefined;
  readonly #port: Port<Input, Output>;
  readonly #invocation: Invocation<Input>;
  readonly #next: Continuation<Output>;

  constructor(port: Port<Input, Output>, invocation: Invocation<Input>, next: Continuation<Output>) {
    this.signal = invocation.signal;
    this.#port = port;
    this.#invocation = invocation;
    this.#next = next;
  }

  onReply(reply: Reply): void {
    let output: Output;
    try {
      output = takeReply(this.#port, reply, this.#invocation);
    } catch (error) {
      this.onError(error);
      return;
    }
    try {
      this.#next.onOutput(output);
    } catch (thrown) {
      this.#next.fail(thrown);
    }
  }

  onError(error: unknown): void {
    const { scrubber = noopScrubber } = this.#port;
    try {
      this.#next.onFault(toFault(scrubError(toRuntimeError(error), scrubber)));
    } catch (thrown) {
      this.#next.fail(thrown);
    }
  }
}

/** A recording has only the method and the body of a message. */
export function withTrace(message: Message, trace: TraceContext | undefined): Message {
  return trace === undefined ? message : { ...message, trace };
}

function takeReply<Input, Output extends object>(
  { binding, codec, emit, scrubber = noopScrubber }: Port<Input, Output>,
  reply: Reply,
  { input, onReply }: Invocation<Input>,
): Output {
  onReply?.(reply);
  const { output, notes } = readReply(reply, scrubber, (given) => codec.decode(given, input));
  for (const { level, message } of notes) emit({ type: 'note', name: binding.name, level, message });
  return output;
}

interface TrackedCall {
  /** Runs a part of the call and counts its queue times as those of the call. */
  run<Result>(work: () => Result): Result;
  readonly clock: QueueClock;
  /** Emits `call.finished` and returns the duration in whole milliseconds. */
  finish(end: {
    readonly status: string;
    readonly error?: { readonly code: string; readonly message: string } | undefined;
  }): Timing;
}

export function trackCall(
  emit: Emit,
  capability: Capability,
  { name, call }: { readonly name: string; readonly call: string },
): TrackedCall {
  const watch = startStopwatch();
  const { operation } = currentOperation();
  const about = { capability, name, call, ...(operation !== undefined && { operation }) };
  emit({ type: 'call.started', ...about });
  return {
    run: (work) => watch.run(work),
    clock: watch,
    finish: ({ status, error }) => {
      const took = wholeMs(watch.read());
      emit({ type: 'call.finished', ...about, status, ...took, ...(error && { error }) });
      return took;
    },
  };
}

/**
 * Reads a reply and hides secrets in its messages, even if an excerpt cuts a secret; data stays exact. Throws the
 * scrubbed error of `read`, and REPLY_MALFORMED for a reply that is nested too deeply.
 */
export function readReply<Output extends object>(
  reply: Reply,
  scrubber: Scrubber,
  read: (reply: Reply) => Decoded<Output>,
): Decoded<Output> {
  requireFollowable(reply);
  const hidden = redactReply(reply, scrubber);
  return hidden === reply ? readClean(reply, scrubber, read) : readTwice(reply, hidden, { scrubber, read });
}

function requireFollowable(reply: Reply): void {
  const isTooDeep =
    reply.via === 'rpc'
      ? isJsonTooDeep(reply.result) || isJsonTooDeep(reply.error)
      : isTextTooDeep(jsonTextOf(reply));
  if (!isTooDeep) return;
  throw new RuntimeError('REPLY_MALFORMED', `the reply is nested more than ${MAX_JSON_DEPTH} levels deep`);
}

function isJsonTooDeep(json: Json | undefined): boolean {
  return json !== undefined && isTextTooDeep(json.text);
}

function jsonTextOf({ stdout }: ProcessReply): string {
  if (stdout.length <= MAX_JSON_DEPTH) return '';
  // UTF-8 brackets and quotes are the same bytes in Latin-1. A reply that begins with another byte is plain text.
  const text = Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength).toString('latin1');
  return /^\W{0,8}[[{]/.test(text) ? text : '';
}

/** Even without secrets in the reply, the codec's messages may contain the name of a credential. */
function readClean<Output extends object>(
  reply: Reply,
  scrubber: Scrubber,
  read: (reply: Reply) => Decoded<Output>,
): Decoded<Output> {
  try {
    return scrubDecoded(read(reply), scrubber);
  } catch (thrown) {
    throw scrubError(toRuntimeError(thrown), scrubber);
  }
}

function readTwice<Output extends object>(
  reply: Reply,
  hidden: Reply,
  { scrubber, read }: { readonly scrubber: Scrubber; readonly read: (reply: Reply) => Decoded<Output> },
): Decoded<Output> {
  const exact = attempt(() => read(reply));
  const clean = attempt(() => read(hidden));
  if (!exact.ok) {
    const { error } = clean.ok || clean.error.code !== exact.error.code ? exact : clean;
    throw scrubError(error, scrubber);
  }
  const { output } = exact.value;
  const { notes } = clean.ok ? clean.value : exact.value;
  return scrubDecoded(
    { output: clean.ok ? withMessagesOf(output, clean.value.output) : output, notes },
    scrubber,
  );
}

function scrubDecoded<Output extends object>(decoded: Decoded<Output>, scrubber: Scrubber): Decoded<Output> {
  const { output, notes } = decoded;
  const clean = scrubMessages(output, scrubber);
  if (clean === output && notes.length === 0) return decoded;
  return {
    output: clean,
    notes: notes.map((note) => ({ ...note, message: scrubber.text(note.message) })),
  };
}

export function redactReply(reply: Reply, scrubber: Scrubber): Reply {
  if (reply.via === 'rpc') {
    const { result, error } = reply;
    const cleanResult = redactJson(result, scrubber);
    const cleanError = redactJson(error, scrubber);
    if (cleanResult === result && cleanError === error) return reply;
    return {
      via: 'rpc',
      ...(cleanResult !== undefined && { result: cleanResult }),
      ...(cleanError !== undefined && { error: cleanError }),
    };
  }
  const { stdout } = reply;
  const bytes = Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength);
  if (!isUtf8(bytes)) return reply;
  const text = bytes.toString();
  const shown = scrubber.values(text);
  return shown === text ? reply : { ...reply, stdout: Buffer.from(shown) };
}

function redactJson(json: Json | undefined, scrubber: Scrubber): Json | undefined {
  if (json === undefined) return undefined;
  const shown = scrubber.values(json.text);
  return shown === json.text ? json : new Json(shown);
}

type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: RuntimeError };

function attempt<Value>(work: () => Value): Attempt<Value> {
  try {
    return { ok: true, value: work() };
  } catch (thrown) {
    return { ok: false, error: toRuntimeError(thrown) };
  }
}

export interface CancelSignals {
  readonly signal?: AbortSignal | undefined;
  readonly closing?: AbortSignal | undefined;
}

/**
 * Returns the reply or fault of a peer. Throws ABORTED or RUNTIME_CLOSED after a cancellation, because the outcome may
 * be the result of the cancellation.
 */
export function requireNotCancelled(
  reply: Reply | RuntimeError,
  { signal, closing }: CancelSignals,
): Reply | RuntimeError {
  if (reply instanceof RuntimeError && isCancelled(reply)) throw reply;
  if (signal?.aborted) throw new RuntimeError('ABORTED', 'the caller cancelled before there was an answer');
  if (closing?.aborted)
    throw new RuntimeError('RUNTIME_CLOSED', 'the runtime was closed before there was an answer');
  return reply;
}

export function isCancelledAnswer(answer: Answer): answer is Deny {
  return answer.verdict === 'deny' && isCancelled(answer.error);
}
