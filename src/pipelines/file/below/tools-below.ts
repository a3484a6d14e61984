import type { Pipeline, Step } from '../pipeline.ts';

/** The tools that steps of the pipeline call, and of those that it runs; those that models may call are left out. */
export function toolsBelow({ steps, finally: last }: Pipeline): ReadonlySet<string> {
  return new Set([...steps, ...last].flatMap(toolsOf));
}

function toolsOf(step: Step): string[] {
  const handlers = step.onError.kind === 'handle' ? step.onError.steps.flatMap(toolsOf) : [];
  switch (step.kind) {
    case 'tool':
      return [step.tool, ...handlers];
    case 'pipeline':
      return [...toolsBelow(step.pipeline), ...handlers];
    case 'parallel':
      return [...step.steps.flatMap(toolsOf), ...handlers];
    case 'steps':
      return [...[...step.steps, ...step.otherwise].flatMap(toolsOf), ...handlers];
    default:
      return handlers;
  }
}

/** The variables of the environment that the pipeline needs, and those that it runs. */
export function envBelow({ env, steps, finally: last }: Pipeline): readonly string[] {
  return [...new Set([...env, ...pipelinesIn([...steps, ...last]).flatMap(envBelow)])];
}

/** The pipeline and all that it runs, each once, by their files. */
export function everyPipeline(
  pipeline: Pipeline,
  found = new Map<string, Pipeline>(),
): Map<string, Pipeline> {
  if (found.has(pipeline.file)) return found;
  found.set(pipeline.file, pipeline);
  for (const each of pipelinesIn([...pipeline.steps, ...pipeline.finally])) everyPipeline(each, found);
  return found;
}

function pipelinesIn(steps: readonly Step[]): Pipeline[] {
  return steps.flatMap((step) => {
    const handlers = step.onError.kind === 'handle' ? pipelinesIn(step.onError.steps) : [];
    const inner = 'steps' in step ? step.steps : [];
    const otherwise = 'otherwise' in step ? step.otherwise : [];
    const own = step.kind === 'pipeline' ? [step.pipeline] : [];
    return [...own, ...pipelinesIn([...inner, ...otherwise]), ...handlers];
  });
}
