import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { compare, type Exact, type Root } from '../../base/json/decimal.ts';
import { abortedError } from '../../base/time/deadline.ts';
import { currentFence, type Fence, fenced } from '../../base/time/fence.ts';
import { startStopwatch, type Timing, unwatched, wholeMs } from '../../base/time/stopwatch.ts';
import { type EvalOutcome, type EvalRequest, type Threshold, unscored } from '../../contract/eval.ts';
import { currentOperation, keepContext } from '../../contract/operation.ts';
import type { Reply } from '../../process/transport.ts';
import { type Invocation, invoke, invokeOr, type Port, trackCall } from './invoke.ts';

export interface TimedOutcome extends Timing {
  readonly outcome: EvalOutcome;
  readonly stderr: string;
}

/** Requests a score from an eval. Every fault gives an unscored outcome, never 0. Never rejects. */
export async function runEval(
  port: Port<EvalRequest, EvalOutcome>,
  invocation: Invocation<EvalRequest>,
): Promise<TimedOutcome> {
  const call = trackCall(port.emit, 'eval', { name: port.binding.name, call: invocation.call });
  let stderr = '';
  const onReply = (reply: Reply) => {
    if (reply.via === 'process') stderr = reply.stderr;
  };
  const outcome = await invokeOr(port, { ...invocation, onReply }, { onFault, clock: call.clock });
  const took = call.finish({
    status: outcome.status,
    error: outcome.status === 'unscored' ? outcome.error : undefined,
  });
  return { outcome, ...took, stderr };
}

function onFault(fault: Fault): EvalOutcome {
  return unscored(fault.message, fault);
}

export interface EvalBatches {
  /**
   * Never rejects: a fault of the exchange makes every case in it unscored. `alone`: sends the case at once, in its own
   * exchange. Time before the exchange gets its slot is queue time; the rest is that of the whole exchange.
   */
  score(invocation: Invocation<EvalRequest> & { readonly alone?: boolean }): Promise<TimedOutcome>;
}

export interface EvalBatchOptions {
  readonly size: number;
  /** The number of concurrent exchanges. Cases that arrive meanwhile wait here, where their batch can grow. */
  readonly slots: number;
}

interface Asked extends Invocation<EvalRequest> {
  readonly since: number;
  readonly fence: Fence | undefined;
  readonly inContext: ReturnType<typeof keepContext>;
  settle(outcome: TimedOutcome): void;
  isSettled(): boolean;
  onAbort: () => void;
}

type BatchPort = Port<readonly EvalRequest[], readonly EvalOutcome[]>;

export function openEvalBatches(port: BatchPort, { size, slots }: EvalBatchOptions): EvalBatches {
  const waiting = new Set<Asked>();
  let sending = 0;
  const send = (batch: readonly Asked[]) => {
    sending += 1;
    void sendFor(batch[0], () => exchange(port, batch)).then(() => {
      sending -= 1;
      sendFull();
    });
  };
  const sendWhile = (isReady: () => boolean) => {
    while (sending < slots && isReady()) send(takeFirst(waiting, size));
  };
  const sendFull = () => {
    sendWhile(() => waiting.size >= size);
    if (waiting.size > 0 && sending < slots) linger.extend();
  };
  const linger = newLinger(() => sendWhile(() => waiting.size > 0));
  return {
    score: ({ alone = false, ...invocation }) =>
      ask(port, invocation, (asked) => {
        if (alone) {
          send([asked]);
          return;
        }
        waiting.add(asked);
        asked.onAbort = () => waiting.delete(asked);
        sendFull();
      }),
  };
}

function ask(
  { binding: { name }, emit }: BatchPort,
  invocation: Invocation<EvalRequest>,
  start: (asked: Asked) => void,
): Promise<TimedOutcome> {
  const { call, signal } = invocation;
  const { operation } = currentOperation();
  const about = { capability: 'eval', name, call, ...(operation !== undefined && { operation }) } as const;
  const { promise, resolve } = Promise.withResolvers<TimedOutcome>();
  let isSettled = false;
  const asked: Asked = {
    ...invocation,
    since: performance.now(),
    fence: currentFence(),
    inContext: keepContext(),
    isSettled: () => isSettled,
    onAbort: () => {},
    settle: (timed) => {
      if (isSettled) return;
      isSettled = true;
      signal?.removeEventListener('abort', abort);
      const { outcome, durationMs, queueMs } = timed;
      const error = outcome.status === 'unscored' ? outcome.error : undefined;
      const end = { status: outcome.status, durationMs, queueMs, ...(error && { error }) };
      emit({ type: 'call.finished', ...about, ...end });
      resolve(timed);
    },
  };
  const abort = () => {
    const waitedMs = Math.round(performance.now() - asked.since);
    asked.settle(toTimed(failure(abortedError(name, signal)), { durationMs: 0, queueMs: waitedMs }));
    asked.onAbort();
  };
  emit({ type: 'call.started', ...about });
  if (signal?.aborted) abort();
  else {
    signal?.addEventListener('abort', abort, { once: true });
    start(asked);
  }
  return promise;
}

/** Outside every stopwatch: the time is not that of a single case. */
function sendFor<Result>(first: Asked | undefined, work: () => Result): Result {
  const sent = () => unwatched(() => fenced(first?.fence, work));
  return first === undefined ? sent() : first.inContext(sent);
}

async function exchange(port: BatchPort, batch: readonly Asked[]): Promise<void> {
  const sentAt = performance.now();
  const watch = startStopwatch();
  let stderr = '';
  const outcomes = await watch.run(() =>
    askAll(port, batch, (given) => {
      stderr = given;
    }),
  );
  const { durationMs, queueMs } = watch.read();
  for (const [at, asked] of batch.entries()) {
    const outcome = outcomes[at] ?? failure(new Error('the batch has no outcome for this case'));
    const timing = { durationMs, queueMs: queueMs + sentAt - asked.since };
    // Stderr belongs to the exchange, so only the first case keeps it.
    asked.settle(toTimed(outcome, wholeMs(timing), at === 0 ? stderr : ''));
  }
}

async function askAll(
  port: BatchPort,
  batch: readonly Asked[],
  onStderr: (text: string) => void,
): Promise<readonly EvalOutcome[]> {
  const allGone = new AbortController();
  for (const asked of batch) {
    asked.onAbort = () => {
      if (batch.every((each) => each.isSettled())) allGone.abort(asked.signal?.reason);
    };
  }
  try {
    return await invoke(port, {
      input: batch.map(({ input }) => input),
      call: batch[0]?.call ?? '',
      signal: allGone.signal,
      onReply: (reply) => {
        if (reply.via === 'process') onStderr(reply.stderr);
      },
    });
  } catch (thrown) {
    const shared = failure(thrown, batch.length);
    return batch.map(() => shared);
  }
}

function failure(thrown: unknown, cases = 1): EvalOutcome {
  const fault = toFault(thrown);
  const message = cases === 1 ? fault.message : `${fault.message} (one request for ${cases} cases)`;
  return unscored(message, { ...fault, message });
}

function toTimed(outcome: EvalOutcome, timing: Timing, stderr = ''): TimedOutcome {
  return { outcome, ...timing, stderr };
}

function takeFirst(items: Set<Asked>, most: number): Asked[] {
  const taken: Asked[] = [];
  for (const item of items) {
    if (item.fence !== (taken[0] ?? item).fence) continue;
    items.delete(item);
    taken.push(item);
    if (taken.length === most) break;
  }
  return taken;
}

interface Linger {
  extend(): void;
}

/** Calls `onPause` when nothing has arrived for `pauseMs`, at the latest `mostMs` after the first arrival. */
export function newLinger(onPause: () => void, { pauseMs = 5, mostMs = 100 } = {}): Linger {
  let arrivals = 0;
  let isWaiting = false;
  const wait = (seen: number, since: number) => {
    setTimeout(() => {
      if (arrivals > seen && performance.now() - since < mostMs) {
        wait(arrivals, since);
        return;
      }
      isWaiting = false;
      onPause();
    }, pauseMs);
  };
  return {
    extend() {
      arrivals += 1;
      if (isWaiting) return;
      isWaiting = true;
      wait(arrivals, performance.now());
    },
  };
}

/** Without bounds the minimum is 1.0; a lone maximum implies no minimum. An unscored outcome never passes. */
export function meetsThreshold(outcome: EvalOutcome, threshold: Threshold = {}): boolean {
  return outcome.status === 'scored' && isScoreWithin(outcome.score, threshold);
}

export function isScoreWithin(score: number | Exact, { min_score: min, max_score: max }: Threshold): boolean {
  return isWithin(score, { min: min ?? (max === undefined ? 1 : undefined), max });
}

/** Both bounds are inclusive and compared as decimals, without rounding. */
export function isWithin(
  value: number | Exact | Root,
  { min, max }: { readonly min?: number | undefined; readonly max?: number | undefined },
): boolean {
  return (min === undefined || compare(value, min) >= 0) && (max === undefined || compare(value, max) <= 0);
}

/** Throws USAGE if a bound is not a number in 0..1, or if the minimum is above the maximum. */
export function requireThreshold(threshold: Threshold): void {
  const { min_score: min, max_score: max } = threshold;
  for (const [name, bound] of Object.entries({ min_score: min, max_score: max })) {
    if (bound === undefined || (typeof bound === 'number' && bound >= 0 && bound <= 1)) continue;
    throw new RuntimeError('USAGE', `${name} must be a number from 0 to 1, not ${JSON.stringify(bound)}`);
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new RuntimeError('USAGE', `min_score ${min} is above max_score ${max}`);
  }
}
