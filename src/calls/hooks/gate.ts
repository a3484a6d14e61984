import type {
  Allow,
  Answer,
  Decision,
  HookEvent,
  Modify,
  NativeEvent,
  Respond,
} from '../../contract/hook.ts';
import { askHook } from '../capability/hook.ts';
import { askFilter, passBatch } from './filter-batch.ts';
import { passGroup } from './group-gate.ts';
import { allowed, type DecidedBy, HookChain } from './hook-chain.ts';
import { resolveQuestion } from './hook-question.ts';
import type { FilterLink, FollowerLink, GateOptions, Link } from './link.ts';
import { handles, isFilter, stepsAt } from './steps.ts';

export type { ForeignLink, GateOptions, Link, NativeLink } from './link.ts';

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
