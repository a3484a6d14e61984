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
import { askHook } from '../capability/hook.ts';
import { isCancelledAnswer } from '../capability/invoke.ts';
import type { Group } from './group.ts';
import { allowed, type DecidedBy, HookChain } from './hook-chain.ts';
import {
  type FilterBatch,
  type FilterLink,
  type FollowerLink,
  type ForeignLink,
  type GateOptions,
  handles,
  isFilter,
  type Link,
  stepsAt,
} from './links.ts';

export type { ForeignLink, GateOptions, Link, NativeLink } from './links.ts';

/** The decision of a chain, and the event as its filters left it. */
export interface ChainResult {
  readonly decision: Decision;
  readonly event: HookEvent;
  /** The answer of a hook that answered in the place of the work itself. */
  readonly respond?: Respond | undefined;
  /** At a `stop` event: the hooks that forced a further model call. */
  readonly forcedBy?: readonly DecidedBy[];
}

/**
 * Passes an event through every hook of its phase, in the order of the file. Filters are asked one after
 * another, each with the event as the last one left it, until one neither allows nor modifies; those that never
 * modify it are asked together. Observers and shadows get the event as it is at their position, also after a
 * denial, and are not awaited. Never rejects.
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
    if ('group' in step) await passGroup(step, chain, options);
    else if ('batch' in step)
      await passBatch(step, chain, options, (link, told) => notify(link, told, options));
    else if (isFilter(step)) {
      if (chain.isStopped || !handles(step, chain.event)) continue;
      const answer = await ask(step, chain.event, chain, options);
      if (answer.verdict !== 'allow' && answer.verdict !== 'modify') await stop(step, answer, chain, options);
    } else notify(step, chain.event, options);
  }
  const { event: finalEvent, respond, forcedBy } = chain;
  return { decision: chain.decide(), event: finalEvent, respond, forcedBy };
}

/** Whether some filter will be asked about the event. */
export function isFiltered(links: readonly Link[], event: HookEvent): boolean {
  return stepsAt(links, event.phase).some((step) => {
    if (!('group' in step)) return 'batch' in step || isFilter(step);
    const { dialect } = step.group;
    return step.group.pointsAt(event).some((point) => dialect.points[point]?.isFilter === true);
  });
}

/** Asks a filter; the chain takes what it affirms, or refuses it. Never rejects. */
function ask(link: FilterLink, event: NativeEvent, chain: HookChain, options: GateOptions): Promise<Answer> {
  const accept = (affirmed: Allow | Modify) => chain.takeAnswer(byOf(link), affirmed, options.check);
  const { call, signal, onAnswer, onHear } = options;
  if (onAnswer !== undefined) return askAndTell(link, { event, signal }, options, accept);
  onHear?.(link.name);
  return askHook(link.listener.port, { input: event, call, signal }, accept);
}

async function askAndTell(...question: Parameters<typeof askFilter>): Promise<Answer> {
  const { answer, tell } = await askFilter(...question);
  tell();
  return answer;
}

/** Ends the chain with the answer, unless it is a question that somebody answers. */
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

/**
 * Passes the event through each of the dialect's points that it reaches, in the dialect's order. Never
 * rejects.
 */
async function passGroup({ group }: ForeignLink, chain: HookChain, options: GateOptions): Promise<void> {
  for (const point of group.pointsAt(chain.event)) {
    try {
      await passPoint(group, { point, chain, options });
    } catch (thrown) {
      const error = toFault(thrown);
      const reason = `the hooks of ${point} could not be asked: ${error.message}`;
      group.warn(group.dialect.name, reason);
      chain.stop({ hook: null, dialect: group.dialect.name }, answers.deny(reason, { error }));
    }
  }
}

interface PointOptions {
  readonly point: string;
  readonly chain: HookChain;
  readonly options: GateOptions;
}

async function passPoint(group: Group, { point, chain, options }: PointOptions): Promise<void> {
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
  if (!isAsked) {
    await group.notify(hookCall);
    return;
  }
  const { hook, answer } = await group.ask(hookCall);
  await takeGroupAnswer(chain, { group, hookCall, hook, answer }, options);
}

interface GroupAnswer {
  readonly group: Group;
  readonly hookCall: Parameters<Group['ask']>[0];
  readonly hook: string | null;
  readonly answer: Answer;
}

/**
 * Applies the group's answer to the chain. An answer that does not fit the event becomes a denial of its
 * hook.
 */
async function takeGroupAnswer(
  chain: HookChain,
  { group, hookCall, hook, answer }: GroupAnswer,
  options: GateOptions,
): Promise<void> {
  const { dialect } = group;
  const by = { hook, dialect: dialect.name, isApproval: hook !== null };
  if (isCancelledAnswer(answer)) {
    chain.stop(by, answer);
    return;
  }
  try {
    const pipelineAnswer = dialect.toNeutralAnswer(chain.event, hookCall, answer);
    if (pipelineAnswer.verdict === 'allow' || pipelineAnswer.verdict === 'modify') {
      chain.takeAnswer(by, pipelineAnswer, options.check);
    } else if (pipelineAnswer.verdict === 'ask') {
      const { replace, reason, metadata } = pipelineAnswer;
      if (replace !== undefined)
        chain.takeAnswer(by, { verdict: 'modify', replace, reason, metadata }, options.check);
      await resolveQuestion(chain, { by, answer: pipelineAnswer }, options);
    } else {
      chain.stop(by, pipelineAnswer);
    }
  } catch (thrown) {
    const error = toFault(thrown);
    const reason = `hook "${hook ?? dialect.name}" gave no verdict: ${error.message}`;
    group.warn(hook ?? dialect.name, reason);
    chain.stop(by, answers.deny(reason, { error }));
  }
}

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
async function askFilter(
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
async function passBatch(
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

/** A filter's `ask` answer, and the filter. */
interface HookAsk {
  readonly by: DecidedBy;
  readonly answer: Ask;
}

/**
 * Resolves a filter's question: by an earlier approval, by hooks that answer for the person, or it stops the
 * chain.
 */
export async function resolveQuestion(
  chain: HookChain,
  { by, answer }: HookAsk,
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

/**
 * The answer that hooks gave for the person; undefined if they leave it to the person (an allow without a
 * hook).
 */
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
