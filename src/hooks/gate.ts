import { askHook } from '../capability/hook.ts';
import type { Decision, HookEvent, NativeEvent, Respond } from '../contract/hook.ts';
import { startStopwatch } from '../time/stopwatch.ts';
import { type By, Chain } from './chain.ts';
import type { Link, NativeLink, Passage } from './link.ts';
import { passGroup } from './pass-group.ts';
import { takeQuestion } from './question.ts';

export type { ForeignLink, Link, NativeLink, Passage } from './link.ts';

/** What a chain came to, and the event as its filters left it. */
export interface Passed {
  readonly decision: Decision;
  readonly event: HookEvent;
  /** The answer of a hook that answered in the place of the work itself. */
  readonly respond?: Respond | undefined;
  /** Who has forced a further turn, at the end of one. */
  readonly forcedBy?: readonly By[];
}

/**
 * Takes an event through every hook of its moment, in the order of the file. Filters are asked one after
 * another, each seeing what the last one left, until one neither allows nor modifies; observers and shadows hear of
 * the event as it stands at their place, also behind a denial, and nobody waits for them. Never rejects.
 */
export async function passGate(links: readonly Link[], event: HookEvent, passage: Passage): Promise<Passed> {
  const chain = new Chain(event);
  for (const link of links) {
    if ('group' in link) await passGroup(link, chain, passage);
    else await passNative(link, chain, passage);
  }
  const { event: left, respond, forcedBy } = chain;
  return { decision: chain.decide(), event: left, respond, forcedBy };
}

/** Whether some filter will be asked about the event. */
export function isFiltered(links: readonly Link[], event: HookEvent): boolean {
  return links.some((link) => {
    if (!('group' in link)) return link.listener.mode === 'filter' && hears(link, event);
    const { dialect } = link.group;
    return link.group.pointsAt(event).some((point) => dialect.points[point]?.isAsked === true);
  });
}

async function passNative(link: NativeLink, chain: Chain, passage: Passage): Promise<void> {
  const { event } = chain;
  if (!hears(link, event)) return;
  const { listener } = link;
  const { call, signal, check, filtersOnly, onAnswer, onHear } = passage;
  if (listener.mode !== 'filter') {
    if (filtersOnly === true) return;
    onHear?.(link.name);
    listener.follower.tell(event, call);
    return;
  }
  if (chain.isStopped) return;
  onHear?.(link.name);
  const watch = startStopwatch();
  const by = { hook: link.name, dialect: link.dialect };
  const answer = await watch.run(() =>
    askHook(listener.port, { input: event, call, signal }, (affirmed) => chain.take(by, affirmed, check)),
  );
  onAnswer?.(link.name, answer.verdict, watch.read());
  if (answer.verdict === 'ask') await takeQuestion(chain, { by, answer }, passage);
  else if (answer.verdict !== 'allow' && answer.verdict !== 'modify') chain.stop(by, answer);
}

/** Whether the hook has a part in the event. */
export function hears({ kind, phases }: NativeLink, event: HookEvent): event is NativeEvent {
  return kind === event.hook && phases.some((phase) => phase === event.phase);
}
