import { startStopwatch } from '../../base/time/stopwatch.ts';
import type { Allow, Answer, HookEvent, Modify, NativeEvent } from '../../contract/hook.ts';
import { askHook } from '../capability/hook.ts';
import type { HookChain } from './hook-chain.ts';
import { resolveQuestion } from './hook-question.ts';
import type { FilterBatch, FilterLink, FollowerLink, GateOptions } from './link.ts';
import { handles, isFilter } from './steps.ts';

/** What a filter is asked about, and until when. */
interface FilterCall {
  readonly event: NativeEvent;
  readonly signal: AbortSignal | undefined;
  /** Whether the answer does not matter any more. */
  readonly isWithdrawn?: () => boolean;
}

/** What a filter answered. */
interface FilterAnswer {
  readonly answer: Answer;
  /** Says so to whoever wants to know how long it took. */
  readonly tell: () => void;
}

/** Asks one filter. `accept` takes what it affirmed, or throws to refuse it. Never rejects. */
export async function askFilter(
  { name, listener }: FilterLink,
  { event, signal, isWithdrawn }: FilterCall,
  { call, onAnswer, onHear }: GateOptions,
  accept?: (affirmed: Allow | Modify) => void,
): Promise<FilterAnswer> {
  onHear?.(name);
  const ask = () => askHook(listener.port, { input: event, call, signal, isWithdrawn }, accept);
  if (onAnswer === undefined) return { answer: await ask(), tell: () => {} };
  const watch = startStopwatch();
  const answer = await watch.run(ask);
  const took = watch.read();
  return { answer, tell: () => onAnswer(name, answer.verdict, took) };
}

/**
 * Asks filters that leave the event as it is, all at once, and judges their answers in the order of the file, as if
 * each had been asked after the one before. The questions behind one that ends the chain are withdrawn. `notify` tells
 * who stands between them of the event as it is there. Never rejects.
 */
export async function passBatch(
  { batch }: FilterBatch,
  chain: HookChain,
  options: GateOptions,
  notify: (follower: FollowerLink, event: HookEvent) => void,
): Promise<void> {
  let rest = batch;
  while (rest.length > 0 && !chain.isStopped) rest = await askTogether(rest, chain, { options, notify });
  for (const link of rest) if (!isFilter(link)) notify(link, chain.event);
}

interface Asking {
  readonly options: GateOptions;
  readonly notify: (follower: FollowerLink, event: HookEvent) => void;
}

/** Returns those behind the one that ended the chain, or whose question was answered with another event. */
async function askTogether(
  batch: FilterBatch['batch'],
  chain: HookChain,
  { options, notify }: Asking,
): Promise<FilterBatch['batch']> {
  const { event } = chain;
  const questions = openQuestions(options.signal);
  const asked = batch.map((link) =>
    isFilter(link) && handles(link, event)
      ? { link, answered: askFilter(link, { event, ...questions.call }, options) }
      : { link, answered: undefined },
  );
  let passed = 0;
  try {
    for (const { link, answered } of asked) {
      passed += 1;
      if (!isFilter(link)) notify(link, chain.event);
      else if (answered !== undefined) await judge(chain, link, await answered, options);
      if (chain.isStopped || chain.event !== event) return batch.slice(passed);
    }
    return [];
  } finally {
    if (passed < asked.length) questions.withdraw();
    questions.close();
  }
}

async function judge(
  chain: HookChain,
  { name: hook, dialect }: FilterLink,
  { answer, tell }: FilterAnswer,
  options: GateOptions,
): Promise<void> {
  const by = { hook, dialect };
  tell();
  if (answer.verdict === 'ask') await resolveQuestion(chain, { by, answer }, options);
  else if (answer.verdict === 'allow' || answer.verdict === 'modify')
    chain.takeAnswer(by, answer, options.check);
  else chain.stop(by, answer);
}

/** Questions that end with the caller’s signal, or when they are withdrawn. */
function openQuestions(caller: AbortSignal | undefined) {
  const controller = new AbortController();
  let isWithdrawn = false;
  const end = () => controller.abort(caller?.reason);
  if (caller?.aborted) end();
  caller?.addEventListener('abort', end, { once: true });
  return {
    call: { signal: controller.signal, isWithdrawn: () => isWithdrawn },
    withdraw: () => {
      isWithdrawn = true;
      controller.abort();
    },
    close: () => caller?.removeEventListener('abort', end),
  };
}
