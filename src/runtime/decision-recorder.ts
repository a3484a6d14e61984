import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toRuntimeError } from '../base/errors.ts';
import { stringifyJson } from '../base/json/json.ts';
import { within } from '../base/time/async.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { KeepCall, ModelExchange } from '../contract/decision.ts';
import type { DecisionMade, Emit, OperationContext } from '../contract/event.ts';
import type { ChatMessage } from '../contract/provider.ts';
import type { Scrubber } from '../contract/scrub.ts';
import type { NewDecision, NewGap, NewModelCall } from '../store/decision-store.ts';
import type { Store } from '../store/store.ts';
import type { LazyDecisions } from './lazy-store.ts';

export interface DecisionRecorder {
  readonly listen: (decision: DecisionMade) => void;
  /** Undefined unless messages are recorded. */
  readonly keepCall: KeepCall | undefined;
  /** Stores what waits, for a few seconds at most. Never rejects. */
  close(): Promise<void>;
}

export interface RecorderOptions {
  readonly config: Pick<RuntimeConfig, 'name'> & {
    readonly decisions: NonNullable<RuntimeConfig['decisions']>;
  };
  readonly store: LazyDecisions;
  /** Its open calls protect the records of their runs from pruning. */
  readonly openState: () => Promise<Store>;
  readonly emit: Emit;
  readonly scrubber: Scrubber;
}

/**
 * Opens the recorder. Its queue is bounded, and callers never wait: what does not fit is dropped, counted and stored as
 * a gap. If the store fails, emits one note, and tries again until it works.
 */
export function openDecisionRecorder(options: RecorderOptions): DecisionRecorder {
  const { config, store, emit, scrubber } = options;
  const { name, decisions } = config;
  const queue = createQueue();
  let writing: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = RETRY_MS;
  let isNoted = false;
  let isClosing = false;
  const note = (message: string) => {
    if (!isNoted) emit({ type: 'note', name, level: 'warn', message });
    isNoted = true;
  };
  /** Stores batches until none is left. False if the store failed. */
  const write = async (): Promise<boolean> => {
    try {
      while (queue.count() > 0) {
        const batch = queue.first();
        const opened = await store.open();
        if (batch.decisions.length > 0) await opened.add(batch.decisions);
        if (batch.calls.length > 0) await opened.addCalls(batch.calls.map((call) => toRow(call, scrubber)));
        queue.remove(batch);
        // Callers get their turn between two batches.
        await nextTurn();
      }
      [isNoted, retryMs] = [false, RETRY_MS];
      return true;
    } catch (error) {
      note(`decisions are not recorded at the moment: ${toRuntimeError(error).message}`);
      await store.reopen();
      return false;
    }
  };
  const flush = (): Promise<boolean> => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  };
  const flushLater = (ms: number) => {
    if (isClosing || timer !== undefined || writing !== undefined) return;
    timer = setTimeout(async () => {
      if (await flush()) return flushAgain();
      retryMs = Math.min(2 * retryMs, MOST_RETRY_MS);
      flushLater(retryMs);
      // A store that fails does not keep the process alive.
      timer?.unref();
    }, ms);
  };
  const flushAgain = () => {
    if (queue.count() > 0) flushLater(FLUSH_MS);
  };
  const add = (item: QueueItem) => {
    if (queue.add(item)) flushLater(FLUSH_MS);
    else note('decisions come faster than they can be stored, so some are not recorded');
  };
  const pruning = startPruning(options);
  return {
    listen: (decision) => add({ decision: toNewDecision(decision), size: SIZE_OF_DECISION }),
    keepCall: decisions.content
      ? (exchange) => add({ call: { ...exchange, id: randomUUID(), at: Date.now() }, size: sizeOf(exchange) })
      : undefined,
    close: async () => {
      isClosing = true;
      pruning.stop();
      const end = async () => {
        await writing;
        if (queue.count() > 0) await flush();
      };
      await within(CLOSE_MS, end());
      const left = queue.count();
      isNoted = false;
      if (left > 0) note(`${left} decisions and model calls were not recorded`);
    },
  };
}

const FLUSH_MS = 50;
const RETRY_MS = 500;
const MOST_RETRY_MS = 30_000;
const CLOSE_MS = 5_000;

interface WaitingCall extends ModelExchange {
  readonly id: string;
  readonly at: number;
}

type QueueItem = { readonly size: number } & (
  | { readonly decision: NewDecision | NewGap }
  | { readonly call: WaitingCall }
);

interface Batch {
  readonly items: number;
  readonly decisions: readonly (NewDecision | NewGap)[];
  readonly calls: readonly WaitingCall[];
}

function createQueue() {
  let waiting: QueueItem[] = [];
  let size = 0;
  const dropped = { decisions: 0, model_calls: 0 };
  const push = (item: QueueItem) => {
    waiting.push(item);
    size += item.size;
  };
  const addGaps = () => {
    for (const what of ['decisions', 'model_calls'] as const) {
      if (dropped[what] > 0) push({ decision: { what, dropped: dropped[what], at: Date.now() }, size: 0 });
      dropped[what] = 0;
    }
  };
  return {
    count: () => waiting.length + dropped.decisions + dropped.model_calls,
    /** False if it is dropped. */
    add: (item: QueueItem): boolean => {
      if (waiting.length >= MOST_WAITING || size + item.size > MOST_SIZE) {
        dropped['call' in item ? 'model_calls' : 'decisions'] += 1;
        return false;
      }
      addGaps();
      push(item);
      return true;
    },
    first: (): Batch => {
      if (waiting.length === 0) addGaps();
      let last = 0;
      for (let total = 0; last < Math.min(waiting.length, MOST_TOGETHER); last += 1) {
        total += waiting[last]?.size ?? 0;
        if (last > 0 && total > MOST_SIZE_TOGETHER) break;
      }
      const items = waiting.slice(0, last);
      return {
        items: items.length,
        decisions: items.flatMap((item) => ('decision' in item ? [item.decision] : [])),
        calls: items.flatMap((item) => ('call' in item ? [item.call] : [])),
      };
    },
    remove: ({ items }: Batch) => {
      for (const item of waiting.slice(0, items)) size -= item.size;
      waiting = waiting.slice(items);
    },
  };
}

const MOST_WAITING = 10_000;
const MOST_TOGETHER = 500;
/** In characters. A longer model call is dropped. */
const MOST_SIZE = 128 * 2 ** 20;
const MOST_SIZE_TOGETHER = 2 ** 20;
const SIZE_OF_DECISION = 1_500;

/** About as many characters as the messages have as JSON. */
function sizeOf({ request, answers }: ModelExchange): number {
  return [...request.messages, ...answers].reduce(
    (size, message) =>
      size + message.content.length + (message['parts'] === undefined ? 200 : message.content.length),
    request.system_prompt.length,
  );
}

function toNewDecision(decision: DecisionMade): NewDecision {
  const { hook, dialect, kind, phase, mode, verdict, call: event, reason, error, durationMs } = decision;
  return {
    ...{ hook, dialect, kind, phase, mode, verdict, event, durationMs },
    // The message of a fault may quote the traffic.
    reason: error === undefined ? cut(reason) : '',
    error: error?.code ?? null,
    ...originOf(decision),
    at: Date.now(),
  };
}

function originOf({ operationKind, operation, run, step }: OperationContext) {
  return {
    operation: operationKind ?? '',
    operationId: operation ?? null,
    run: run ?? null,
    step: step ?? null,
  };
}

function cut(text: string): string {
  return text.length <= LONGEST_REASON ? text : `${text.slice(0, LONGEST_REASON - 1)}…`;
}

const LONGEST_REASON = 1_000;

function toRow({ request, answers, origin, run, id, at }: WaitingCall, scrubber: Scrubber): NewModelCall {
  const { system_prompt: system, messages, provider_id: provider, model } = request;
  const first: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }];
  // In the next request the answer has no `finish_reason`.
  const given = answers.map(({ finish_reason: _, role, content, ...others }) => ({
    role,
    content,
    ...others,
  }));
  const all = [...first, ...messages, ...given];
  return {
    ...{ id, at, provider, model },
    messages: all.map((message) => scrubber.values(stringifyJson(message))),
    answers: answers.length,
    ...originOf(run === undefined ? origin : { ...origin, run }),
  };
}

function startPruning({ config, store, openState }: RecorderOptions): { readonly stop: () => void } {
  const { keepMs: keep } = config.decisions;
  let isStopped = false;
  const prune = async () => {
    const opened = await store.find();
    const age = { now: Date.now(), keep };
    if (opened === undefined || !(await opened.hasOlder(age))) return;
    const runs = await runsWithOpenCalls(await openState());
    while (!isStopped && (await opened.prune(age, runs))) await nextTurn();
  };
  // What cannot be removed now is removed later.
  const start = () => void prune().catch(() => {});
  const timer = setInterval(start, Math.min(PRUNE_EVERY_MS, Math.max(keep, 1_000))).unref();
  return {
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

const PRUNE_EVERY_MS = 600_000;

async function runsWithOpenCalls(store: Store): Promise<string[]> {
  const runs = new Set<string>();
  for (let after: number | undefined; ; ) {
    const found = await store.pagePendings({ status: 'open', after, limit: PAGE }, Date.now());
    for (const { record } of found) runs.add(record.runId).add(record.parent?.root ?? record.runId);
    after = found.at(-1)?.place;
    if (found.length < PAGE) return [...runs];
  }
}

const PAGE = 500;
