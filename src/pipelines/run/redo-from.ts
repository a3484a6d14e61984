import type { StepRecord } from '../../store/store.ts';
import type { Step } from '../file/pipeline.ts';
import type { Redo } from '../state/retries.ts';

/**
 * What is done again from a step on: the step, those behind it, and the loops, groups and branches around it, of which other items and
 * branches are kept. Undefined when the run has not come to it.
 */
export function redoFrom(
  steps: readonly Step[],
  from: string,
  current: ReadonlyMap<string, StepRecord>,
): Redo[] | undefined {
  const hasBegun = [...current.keys()].some((path) => path === from || /^[/[]/.test(cutOff(path, from)));
  const hasBegunAt = (path: string) => current.has(`${path}/run`);
  const inList = (list: readonly Step[], prefix: string, isBranches = false): Redo[] | undefined => {
    for (const [index, step] of list.entries()) {
      const found = inStep(step, prefix);
      if (found !== undefined)
        return isBranches ? found : [...found, ...allOf(list.slice(index + 1), prefix)];
    }
    return undefined;
  };
  const inStep = (step: Step, prefix: string): Redo[] | undefined => {
    const path = `${prefix}${step.id}`;
    if (path === from) return hasBegun || isGroupOf(step, prefix) ? allOf([step], prefix) : undefined;
    if (step.onError.kind === 'handle') {
      // The step has failed as it has: only what follows from that is done again.
      const found = inList(step.onError.steps, prefix);
      if (found !== undefined) return found;
    }
    const around = { path, isDeep: false };
    const isBelow = (place: string) =>
      step.kind === 'pipeline' && hasBegunAt(place) && cutOff(from, `${place}/`) !== '';
    if (!isLoop(step)) {
      if (isBelow(path)) return [around];
      const found = inInner(step, prefix);
      return found && [around, ...found];
    }
    const item = /^\[\d+\]/.exec(cutOff(from, path))?.[0];
    if (item === undefined) return undefined;
    const itemPath = `${path}${item}`;
    if (itemPath === from) return hasBegun ? [around, { path: itemPath, isDeep: true }] : undefined;
    if (isBelow(itemPath)) return [around, { path: itemPath, isDeep: false }];
    const found = inInner(step, `${itemPath}/`);
    return found && [around, { path: itemPath, isDeep: false }, ...found];
  };
  const inInner = (step: Step, prefix: string): Redo[] | undefined =>
    inList(innerSteps(step), prefix, step.kind === 'parallel');
  /** A group keeps nothing under its own name before it ends. */
  const isGroupOf = (step: Step, prefix: string): boolean =>
    !isLoop(step) &&
    innerSteps(step).some((inner) => {
      const path = `${prefix}${inner.id}`;
      return (
        [...current.keys()].some((each) => each === path || /^[/[]/.test(cutOff(each, path))) ||
        isGroupOf(inner, prefix)
      );
    });
  return inList(steps, '');
}

/** What stands behind the beginning of a path; empty when it begins otherwise. */
function cutOff(path: string, beginning: string): string {
  return path.startsWith(beginning) ? path.slice(beginning.length) : '';
}

/** Whether the runs of a step have paths of their own. */
export function isLoop({ forEach, whileLoop }: Step): boolean {
  return forEach !== undefined || whileLoop !== undefined;
}

/** Steps with all inside them, wherever these are kept. */
export function allOf(steps: readonly Step[], prefix: string): Redo[] {
  return steps.flatMap((step) => [
    { path: `${prefix}${step.id}`, isDeep: true },
    ...(step.onError.kind === 'handle' ? allOf(step.onError.steps, prefix) : []),
    ...(isLoop(step) ? [] : allOf(innerSteps(step), prefix)),
  ]);
}

/** The steps directly inside a group or its alternative, or the branches of a parallel step. */
function innerSteps(step: Step): readonly Step[] {
  if (step.kind === 'parallel') return step.steps;
  return step.kind === 'steps' ? [...step.steps, ...step.otherwise] : [];
}
