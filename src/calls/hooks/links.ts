import type { Timing } from '../../base/time/stopwatch.ts';
import {
  type Answer,
  type Decision,
  type EventPhase,
  type HookEvent,
  type HookKind,
  type NativeEvent,
  type Phase,
  phasesOf,
} from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { FilterPort } from '../capability/hook.ts';
import type { Group } from './group.ts';
import type { EventCheck } from './hook-chain.ts';
import type { EventMatch } from './match.ts';
import type { ObserverQueue } from './observer-queue.ts';

export interface NativeLink {
  readonly name: string;
  readonly dialect: string;
  readonly kind: HookKind;
  readonly phases: readonly Phase[];
  readonly matches?: EventMatch | undefined;
  readonly listener: FilterLink['listener'] | FollowerLink['listener'];
}

export interface FilterLink extends NativeLink {
  readonly listener: { readonly mode: 'filter'; readonly port: FilterPort };
}

export interface FollowerLink extends NativeLink {
  readonly listener:
    | { readonly mode: 'observe'; readonly follower: ObserverQueue }
    | { readonly mode: 'shadow'; readonly follower: ObserverQueue; readonly port: FilterPort };
}

/** Consecutive filters that never modify the event and can run concurrently, with the followers between them. */
export interface FilterBatch {
  readonly batch: readonly (FilterLink | FollowerLink)[];
}

export interface ForeignLink {
  readonly group: Group;
}

export type Link = NativeLink | ForeignLink;

export interface GateOptions {
  readonly call: string;
  readonly signal?: AbortSignal | undefined;
  readonly hookContext?: HookContext | undefined;
  readonly check?: EventCheck | undefined;
  /** Whether a person approved this hook's question about the current event; the hook then allows. */
  readonly isApproved?: ((hook: string, event: HookEvent) => boolean) | undefined;
  /**
   * Called first with a filter's question, since hooks may answer for the person. A modify, or an allow with a hook,
   * answers it; deny and abort stop the event. Any other decision leaves the question to a person.
   */
  readonly onAsk?: ((asked: FilterQuestion) => Promise<Decision>) | undefined;
  readonly filtersOnly?: boolean | undefined;
  readonly onHear?: ((hook: string) => void) | undefined;
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], took: Timing) => void) | undefined;
}

interface FilterQuestion {
  readonly hook: string;
  readonly reason: string;
  readonly event: HookEvent;
}

type Step = ForeignLink | FilterLink | FollowerLink | FilterBatch;

export function stepsAt(links: readonly Link[], phase: EventPhase): readonly Step[] {
  if (links.length === 0) return nothing;
  let known = plans.get(links);
  if (known === undefined) {
    known = new Map();
    plans.set(links, known);
  }
  let steps = known.get(phase);
  if (steps === undefined) {
    steps = planSteps(links, phase);
    known.set(phase, steps);
  }
  return steps;
}

/** Whether any hook may receive a phase, so that callers can skip building its event. */
export function isHeard(links: readonly Link[], phase: EventPhase): boolean {
  return stepsAt(links, phase).length > 0;
}

const nothing: readonly Step[] = [];
const plans = new WeakMap<readonly Link[], Map<EventPhase, readonly Step[]>>();

function planSteps(links: readonly Link[], phase: EventPhase): readonly Step[] {
  const steps: Step[] = [];
  let batch: (FilterLink | FollowerLink)[] = [];
  const endBatch = () => {
    if (batch.filter(isFilter).length > 1) steps.push({ batch });
    else steps.push(...batch);
    batch = [];
  };
  for (const link of links) {
    if ('group' in link) {
      endBatch();
      steps.push(link);
    } else if (hasPhase(link, phase)) {
      const isAlone = isFilter(link) && link.listener.port.modifies !== false;
      if (isAlone) endBatch();
      if (isFilter(link) || isFollower(link)) batch.push(link);
      if (isAlone) endBatch();
    }
  }
  endBatch();
  return steps;
}

export function handles(link: NativeLink, event: HookEvent): event is NativeEvent {
  return link.kind === event.hook && hasPhase(link, event.phase) && link.matches?.(event) !== false;
}

function hasPhase({ kind, phases }: NativeLink, phase: EventPhase): boolean {
  const ofKind: readonly EventPhase[] = phasesOf[kind];
  return ofKind.includes(phase) && phases.some((each) => each === phase);
}

function isFollower(link: Link): link is FollowerLink {
  return !('group' in link) && link.listener.mode !== 'filter';
}

export function isFilter(link: Link): link is FilterLink {
  return !('group' in link) && link.listener.mode === 'filter';
}

export interface HookSet {
  readonly links: readonly Link[];
  hears(phase: EventPhase): boolean;
  filters(phase: EventPhase): boolean;
}

export function createHookSet(links: readonly Link[]): HookSet {
  return {
    links,
    hears: (phase) => isHeard(links, phase),
    filters: (phase) =>
      stepsAt(links, phase).some((step) => 'group' in step || 'batch' in step || isFilter(step)),
  };
}

/** Selects hooks by name, in the order of the links. Close them before the runtime. */
export function selectHooks(
  links: readonly Link[],
  names: ReadonlySet<string>,
): HookSet & { close(): Promise<void> } {
  const opened: Group[] = [];
  const selected = links.flatMap((link): readonly Link[] => {
    if (!('group' in link)) return names.has(link.name) ? [link] : [];
    const count = link.group.members.filter(({ entry }) => names.has(entry.name)).length;
    if (count === 0) return [];
    if (count === link.group.members.length) return [link];
    const group = link.group.restrict(names);
    opened.push(group);
    return [{ group }];
  });
  return {
    ...createHookSet(selected),
    close: async () => void (await Promise.all(opened.map((group) => group.close()))),
  };
}

export function namesOf(links: readonly Link[]): readonly string[] {
  return links.flatMap((link) =>
    'group' in link ? link.group.members.map(({ entry }) => entry.name) : [link.name],
  );
}
