import type { Step } from './pipeline.ts';

/** All nested steps, handlers included, except those inside a nested loop, whose items hold their views. */
export function nestedSteps(step: Step): readonly Step[] {
  return childSteps(step).flatMap(withNestedSteps);
}

/** Whether it runs many times, each under a path of its own. */
export function isLoop({ forEach, whileLoop }: Step): boolean {
  return forEach !== undefined || whileLoop !== undefined;
}

function withNestedSteps(step: Step): readonly Step[] {
  const handlers = step.onError.kind === 'handle' ? step.onError.steps : [];
  return [step, ...(isLoop(step) ? [] : nestedSteps(step)), ...handlers.flatMap(withNestedSteps)];
}

function childSteps(step: Step): readonly Step[] {
  switch (step.kind) {
    case 'parallel':
      return step.steps;
    case 'steps':
      return [...step.steps, ...step.otherwise];
    default:
      return [];
  }
}
