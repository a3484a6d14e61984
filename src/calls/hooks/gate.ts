import { toFault } from '../../base/errors.ts';
import { startStopwatch } from '../../base/time/stopwatch.ts';
import {
  type Allow,
  type Answer,
  type Ask,
  answers,
  type Decision,
  type HookEvent,
  type Modify,
  type NativeEvent,
  type Respond,
} from '../../contract/hook.ts';
import { createHookContext } from '../../contract/turn.ts';
import { askHook, askHookThen, type HookQuestion } from '../capability/hook.ts';
import { isCancelledAnswer, type Next } from '../capability/invoke.ts';
import type { Group } from './group.ts';
import { allowed, type DecidedBy, HookChain } from './hook-chain.ts';
import {
  type FilterBatch,
  type FilterLink,
  type FollowerLink,
  type GateOptions,
  handles,
  isFilter,
  type Link,
  stepsAt,
} from './links.ts';

export type { ForeignLink, GateOptions, Link, NativeLink } from './links.ts';

export interface ChainResult {
  readonly decision: Decision;
  readonly event: HookEvent;
  readonly respond?: Respond | undefined;
  readonly forcedBy?: readonly DecidedBy[];
}

/**
 * Passes an event through every hook of its phase, in file order. Each filter gets the event as the previous one left
 * it, until one neither allows nor modifies; filters that never modify run concurrently. Observers and shadows get the
 * event at their position, even after a denial, and are not awaited. Never rejects.
 */
export async function passGate(
  links: readonly Link[],
  event: HookEvent,
  options: GateOptions,
): Promise<ChainResult> {
  const steps = stepsAt(links, event.phase);
  if (steps.length === 0) return { decision: allowed, event, respond: undefined, forcedBy: [] };
  const chain = new HookChain(event);
  for (const step of steps) {
    if ('group' in step) await passGroup(step.group, chain, options);
    else if ('batch' in step) await passBatch(step.batch, chain, options);
    else if (!isFilter(step)) notify(step, chain.event, options);
    else if (!chain.isStopped && handles(step, chain.event)) {
      const accept = (affirmed: Allow | Modify) => chain.takeAnswer(byOf(step), affirmed, options.check);
      const asked = { event: chain.event, signal: options.signal, accept };
      const { answer, tell } = await askFilter(step, asked, options);
      tell();
      if (answer.verdict !== 'allow' && answer.verdict !== 'modify') await stop(step, answer, chain, options);
    }
  }
  return resultOf(chain);
}

function resultOf(chain: HookChain): ChainResult {
  const { event, respond, forcedBy } = chain;
  return { decision: chain.decide(), event, respond, forcedBy };
}

/**
 * Like `passGate`, but without a promise, for an event that only one filter receives. Returns false, and does nothing,
 * if other hooks receive it.
 */
export function passOnlyFilter(
  links: readonly Link[],
  event: HookEvent,
  options: GateOptions,
  { next, fail }: Next<ChainResult>,
): boolean {
  const steps = stepsAt(links, event.phase);
  const [step] = steps;
  if (step === undefined || steps.length > 1 || 'batch' in step || !isFilter(step)) return false;
  const chain = new HookChain(event);
  if (!handles(step, event)) {
    next(resultOf(chain));
    return true;
  }
  const { call, signal } = options;
  const accept = (affirmed: Allow | Modify) => chain.takeAnswer(byOf(step), affirmed, options.check);
  const end = () => next(resultOf(chain));
  options.onHear?.(step.name);
  const onAnswer = (answer: Answer) => {
    if (answer.verdict === 'allow' || answer.verdict === 'modify') end();
    else stop(step, answer, chain, options).then(end).catch(fail);
  };
  askHookThen(step.listener.port, { input: event, call, signal, accept }, { next: onAnswer, fail });
  return true;
}

export function isFiltered(links: readonly Link[], event: HookEvent): boolean {
  return stepsAt(links, event.phase).some((step) => {
    if (!('group' in step)) return 'batch' in step || isFilter(step);
    const { dialect } = step.group;
    return step.group.pointsAt(event).some((point) => dialect.points[point]?.isFilter === true);
  });
}

async function stop(
  link: FilterLink,
  answer: Exclude<Answer, Allow | Modify>,
  chain: HookChain,
  options: GateOptions,
): Promise<void> {
  if (answer.verdict === 'ask') await resolveQuestion(chain, { by: byOf(link), answer }, options);
  else chain.stop(byOf(link), answer);
}

function byOf({ name, dialect }: FilterLink): DecidedBy {
  return { hook: name, dialect };
}

function notify(link: FollowerLink, event: HookEvent, { call, filtersOnly, onHear }: GateOptions): void {
  const { listener } = link;
  if (filtersOnly === true || !handles(link, event)) return;
  onHear?.(link.name);
  listener.follower.enqueue(event, call);
}

async function passGroup(group: Group, chain: HookChain, options: GateOptions): Promise<void> {
  const { name } = group.dialect;
  for (const point of group.pointsAt(chain.event)) {
    try {
      await passPoint(group, point, chain, options);
    } catch (thrown) {
      const error = toFault(thrown);
      const reason = `the hooks of ${point} could not run: ${error.message}`;
      group.warn(name, reason);
      chain.stop({ hook: null, dialect: name }, answers.deny(reason, { error }));
    }
  }
}

async function passPoint(group: Group, point: string, chain: HookChain, options: GateOptions): Promise<void> {
  const { dialect } = group;
  const { event } = chain;
  const { call, signal, hookContext: outerContext = createHookContext(call), onAnswer, onHear } = options;
  const hookContext = {
    ...outerContext,
    forcedTurns: outerContext.forcedTurnsByDialect?.[dialect.name] ?? outerContext.forcedTurns,
  };
  const isAsked = dialect.points[point]?.isFilter === true;
  if (isAsked ? chain.isStopped : options.filtersOnly === true) return;
  const payload = dialect.describe(point, event, hookContext);
  const { hook: kind, phase } = event;
  const hookCall = { point, payload, hookContext, call, kind, phase, signal, onAnswer, onHear };
  if (!isAsked) return await group.notify(hookCall);

  const { hook, answer: given } = await group.ask(hookCall);
  const by = { hook, dialect: dialect.name, isApproval: hook !== null };
  if (isCancelledAnswer(given)) return chain.stop(by, given);
  try {
    const answer = dialect.toNeutralAnswer(event, hookCall, given);
    if (answer.verdict === 'allow' || answer.verdict === 'modify') {
      chain.takeAnswer(by, answer, options.check);
    } else if (answer.verdict === 'ask') {
      const { replace, reason, metadata } = answer;
      if (replace !== undefined)
        chain.takeAnswer(by, { verdict: 'modify', replace, reason, metadata }, options.check);
      await resolveQuestion(chain, { by, answer }, options);
    } else {
      chain.stop(by, answer);
    }
  } catch (thrown) {
    const error = toFault(thrown);
    const reason = `hook "${hook ?? dialect.name}" gave no verdict: ${error.message}`;
    group.warn(hook ?? dialect.name, reason);
    chain.stop(by, answers.deny(reason, { error }));
  }
}

interface FilterAnswer {
  readonly answer: Answer;
  readonly tell: () => void;
}

type Asked = { readonly event: NativeEvent } & Pick<HookQuestion, 'signal' | 'isWithdrawn' | 'accept'>;

async function askFilter(link: FilterLink, asked: Asked, options: GateOptions): Promise<FilterAnswer> {
  const { onAnswer } = options;
  if (onAnswer === undefined) return { answer: await ask(link, asked, options), tell: () => {} };
  const watch = startStopwatch();
  const answer = await watch.run(() => ask(link, asked, options));
  const took = watch.read();
  return { answer, tell: () => onAnswer(link.name, answer.verdict, took) };
}

function ask(
  { name, listener }: FilterLink,
  { event, ...asked }: Asked,
  { call, onHear }: GateOptions,
): Promise<Answer> {
  onHear?.(name);
  return askHook(listener.port, { input: event, call, ...asked });
}

/**
 * Calls filters that never modify concurrently and judges their answers in file order, as if they had run one by one.
 * Withdraws the questions after one that ends the chain. Never rejects.
 */
async function passBatch(batch: FilterBatch['batch'], chain: HookChain, options: GateOptions): Promise<void> {
  let rest = batch;
  while (rest.length > 0 && !chain.isStopped) rest = await askTogether(rest, chain, options);
  for (const link of rest) if (!isFilter(link)) notify(link, chain.event, options);
}

async function askTogether(
  batch: FilterBatch['batch'],
  chain: HookChain,
  options: GateOptions,
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
      if (!isFilter(link)) notify(link, chain.event, options);
      else if (answered !== undefined) {
        const { answer, tell } = await answered;
        tell();
        if (answer.verdict === 'allow' || answer.verdict === 'modify')
          chain.takeAnswer(byOf(link), answer, options.check);
        else await stop(link, answer, chain, options);
      }
      if (chain.isStopped || chain.event !== event) return batch.slice(passed);
    }
    return [];
  } finally {
    if (passed < asked.length) questions.withdraw();
    questions.close();
  }
}

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

/**
 * Resolves a filter's question with an earlier approval or with hooks that answer for the person. Otherwise the
 * question stops the chain.
 */
export async function resolveQuestion(
  chain: HookChain,
  { by, answer }: { readonly by: DecidedBy; readonly answer: Ask },
  options: GateOptions,
): Promise<void> {
  const hook = by.hook ?? '';
  const { event } = chain;
  if (options.isApproved?.(hook, event)) {
    chain.takeApproved(answer);
    return;
  }
  const decision = await options.onAsk?.({ hook, reason: answer.reason, event });
  const hookAnswer = decision && answerFromDecision(decision);
  if (hookAnswer === undefined) {
    chain.stop(by, answer);
  } else if (hookAnswer.verdict === 'allow' || hookAnswer.verdict === 'modify') {
    chain.takeApproved(answer);
    chain.takeAnswer(decidedByOf(decision), hookAnswer, options.check);
  } else {
    chain.stop(decidedByOf(decision), hookAnswer);
  }
}

/** Undefined if the hooks leave the answer to the person, such as an allow without a hook. */
function answerFromDecision({
  verdict,
  hook,
  reason,
  replace,
  abort,
  metadata,
  error,
}: Decision): Exclude<Answer, Ask | { verdict: 'respond' }> | undefined {
  const beside = { metadata, ...(error && { error }) };
  switch (verdict) {
    case 'deny':
      return answers.deny(reason, beside);
    case 'abort':
      return answers.abort(reason, abort ?? 'turn', beside);
    case 'modify':
      return replace === null ? undefined : answers.modify(replace, { metadata, reason });
    case 'allow':
      return hook === null ? undefined : answers.allow({ metadata, reason });
    case 'ask':
    case 'respond':
      return undefined;
  }
}

function decidedByOf(decision: Decision | undefined): DecidedBy {
  return { hook: decision?.hook ?? null, dialect: decision?.dialect ?? '', isApproval: true };
}
