import { askHook } from '../capability/hook.ts';
import type { Allow, Answer, Modify, NativeEvent } from '../contract/hook.ts';
import { startStopwatch } from '../time/stopwatch.ts';
import type { HookChain } from './hook-chain.ts';
import { resolveQuestion } from './hook-question.ts';
import type { FilterBatch, FilterLink, GateOptions } from './link.ts';
import { handles } from './steps.ts';

/** What a filter is asked about, and until when. */
interface FilterCall {
  readonly event: NativeEvent;
  readonly signal: AbortSignal | undefined;
  /** Aborted when the answer does not matter any more. */
  readonly withdrawn?: AbortSignal;
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
  { event, signal, withdrawn }: FilterCall,
  { call, onAnswer, onHear }: GateOptions,
  accept?: (affirmed: Allow | Modify) => void,
): Promise<FilterAnswer> {
  onHear?.(name);
  const ask = () => askHook(listener.port, { input: event, call, signal, withdrawn }, accept);
  if (onAnswer === undefined) return { answer: await ask(), tell: () => {} };
  const watch = startStopwatch();
  const answer = await watch.run(ask);
  const took = watch.read();
  return { answer, tell: () => onAnswer(name, answer.verdict, took) };
}

/**
 * Asks filters that leave the event as it is, all at once, and judges their answers in the order of the file, as if
 * each had been asked after the one before. The questions behind one that ends the chain are withdrawn. Never rejects.
 */
export async function passBatch(
  { batch }: FilterBatch,
  chain: HookChain,
  options: GateOptions,
): Promise<void> {
  let rest = batch;
  while (rest.length > 0 && !chain.isStopped) rest = await askTogether(rest, chain, options);
}

/** Returns the filters that have to be asked again: whoever answered the question of one has changed the event. */
async function askTogether(
  batch: readonly FilterLink[],
  chain: HookChain,
  options: GateOptions,
): Promise<readonly FilterLink[]> {
  const { event } = chain;
  const withdrawal = new AbortController();
  const ending = followSignal(options.signal);
  const signals = { signal: ending.signal, withdrawn: withdrawal.signal };
  const asked = batch.flatMap((link) =>
    handles(link, event) ? [{ link, answered: askFilter(link, { event, ...signals }, options) }] : [],
  );
  try {
    for (const [index, { link, answered }] of asked.entries()) {
      await judge(chain, link, await answered, options);
      if (chain.isStopped) return [];
      if (chain.event !== event) return batch.slice(index + 1);
    }
    return [];
  } finally {
    withdrawal.abort();
    ending.abort();
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

/** A signal of our own, aborted with another one. */
function followSignal(other: AbortSignal | undefined) {
  const controller = new AbortController();
  const follow = () => controller.abort(other?.reason);
  if (other?.aborted) follow();
  other?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: () => {
      other?.removeEventListener('abort', follow);
      controller.abort();
    },
  };
}
