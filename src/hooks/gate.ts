import { askHook } from '../capability/hook.ts';
import type { Decision, HookEvent, NativeEvent, Respond } from '../contract/hook.ts';
import { startStopwatch } from '../time/stopwatch.ts';
import { passGroup } from './group-gate.ts';
import { type DecidedBy, HookChain } from './hook-chain.ts';
import { resolveQuestion } from './hook-question.ts';
import type { GateOptions, Link, NativeLink } from './link.ts';

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
 * another, each with the event as the last one left it, until one neither allows nor modifies. Observers and
 * shadows get the event as it is at their position, also after a denial, and are not awaited. Never rejects.
 */
export async function passGate(
  links: readonly Link[],
  event: HookEvent,
  options: GateOptions,
): Promise<ChainResult> {
  const chain = new HookChain(event);
  for (const link of links) {
    if ('group' in link) await passGroup(link, chain, options);
    else await passNative(link, chain, options);
  }
  const { event: finalEvent, respond, forcedBy } = chain;
  return { decision: chain.decide(), event: finalEvent, respond, forcedBy };
}

/** Whether some filter will be asked about the event. */
export function isFiltered(links: readonly Link[], event: HookEvent): boolean {
  return links.some((link) => {
    if (!('group' in link)) return link.listener.mode === 'filter' && handles(link, event);
    const { dialect } = link.group;
    return link.group.pointsAt(event).some((point) => dialect.points[point]?.isFilter === true);
  });
}

async function passNative(link: NativeLink, chain: HookChain, options: GateOptions): Promise<void> {
  const { event } = chain;
  if (!handles(link, event)) return;
  const { listener } = link;
  const { call, signal, check, filtersOnly, onAnswer, onHear } = options;
  if (listener.mode !== 'filter') {
    if (filtersOnly === true) return;
    onHear?.(link.name);
    listener.follower.enqueue(event, call);
    return;
  }
  if (chain.isStopped) return;
  onHear?.(link.name);
  const watch = startStopwatch();
  const by = { hook: link.name, dialect: link.dialect };
  const answer = await watch.run(() =>
    askHook(listener.port, { input: event, call, signal }, (affirmed) =>
      chain.takeAnswer(by, affirmed, check),
    ),
  );
  onAnswer?.(link.name, answer.verdict, watch.read());
  if (answer.verdict === 'ask') await resolveQuestion(chain, { by, answer }, options);
  else if (answer.verdict !== 'allow' && answer.verdict !== 'modify') chain.stop(by, answer);
}

/** Whether the hook is declared for the kind and phase of the event. */
export function handles({ kind, phases }: NativeLink, event: HookEvent): event is NativeEvent {
  return kind === event.hook && phases.some((phase) => phase === event.phase);
}
