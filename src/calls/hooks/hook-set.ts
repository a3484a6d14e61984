import type { EventPhase } from '../../contract/hook.ts';
import type { Group } from './group.ts';
import type { Link } from './link.ts';
import { isFilter, isHeard, stepsAt } from './steps.ts';

/** Some of the hooks of a runtime, as a chain of their own. */
export interface HookSet {
  readonly links: readonly Link[];
  /** Whether any hook hears of a phase. */
  hears(phase: EventPhase): boolean;
  /** Whether a hook could stop or change an event of a phase. */
  filters(phase: EventPhase): boolean;
}

/** The hooks of these links. */
export function createHookSet(links: readonly Link[]): HookSet {
  return {
    links,
    hears: (phase) => isHeard(links, phase),
    filters: (phase) =>
      stepsAt(links, phase).some((step) => 'group' in step || 'batch' in step || isFilter(step)),
  };
}

/** The hooks of these names, in the order of the links; to be closed before the runtime is. */
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

/** The names of all hooks of the links. */
export function namesOf(links: readonly Link[]): readonly string[] {
  return links.flatMap((link) =>
    'group' in link ? link.group.members.map(({ entry }) => entry.name) : [link.name],
  );
}
