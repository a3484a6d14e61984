import type { Step } from './pipeline.ts';

/** All nested steps, handlers included, except those inside a nested loop, whose items hold their views. */
export function nestedSteps(step: Step): readonly Step[] {
  return childSteps(step).flatMap(withNestedSteps);
}

function withNestedSteps(step: Step): readonly Step[] {
  const handlers = step.onError.kind === 'handle' ? step.onError.steps : [];
  return [
    step,
    ...(step.forEach === undefined ? nestedSteps(step) : []),
    ...handlers.flatMap(withNestedSteps),
  ];
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
