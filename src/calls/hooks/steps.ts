import { type EventPhase, type HookEvent, type NativeEvent, phasesOf } from '../../contract/hook.ts';
import type { FilterBatch, FilterLink, FollowerLink, ForeignLink, Link, NativeLink } from './link.ts';

/** What happens at a phase, one step after another. */
export type Step = ForeignLink | FilterLink | FollowerLink | FilterBatch;

/** The steps of a phase, in the order of the links. They are put together once for each list of links. */
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

/** Whether any hook may hear of a phase; what only hooks read is not made where none does. */
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

/** Whether the hook is declared for the kind and phase of the event, and its entry does not leave the event out. */
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

/** Whether a native hook is asked and obeyed. */
export function isFilter(link: Link): link is FilterLink {
  return !('group' in link) && link.listener.mode === 'filter';
}
