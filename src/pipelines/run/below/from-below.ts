import { RuntimeError } from '../../../base/errors.ts';
import type { Store } from '../../../store/store.ts';
import type { PipelineStep, Step } from '../../file/pipeline.ts';
import { findRecord } from '../../state/record.ts';
import { toCurrentSteps } from '../../state/retries.ts';
import { belowName, belowRecord } from '../../state/run-below.ts';
import { planRetry, type RetryRequest } from '../plan-retry.ts';

/**
 * Throws USAGE where a run cannot be retried from a step of a run below it: only one that failed or was denied goes on, and only from a
 * step that it has come to. Throws STORE_FAILED.
 */
export async function requireFromBelow(
  store: Store,
  { run, pipeline, steps, from }: RetryRequest,
): Promise<void> {
  const found = from === undefined ? undefined : findStep([...pipeline.steps, ...pipeline.finally], from);
  if (from === undefined || found === undefined) return;
  const { path, step } = found;
  // What the run has not come to is refused with it.
  planRetry({ run, pipeline, steps, from });
  const find = (name: string) => steps.current.get(name)?.outcome ?? undefined;
  let retries = 0;
  while (find(belowName(`${path}/retry-${retries + 1}`)) !== undefined) retries += 1;
  const attempt = retries === 0 ? path : `${path}/retry-${retries}`;
  const known = findRecord({ runId: run.id, find }, belowName(attempt), belowRecord);
  const below = known && (await store.findRun(known.run_id));
  if (below === undefined || (below.status !== 'failed' && below.status !== 'denied')) {
    const message = `the run of step "${path}" is ${below?.status ?? 'not there'}: one that failed or was denied goes on from a step of its own`;
    throw new RuntimeError('USAGE', message, { hint: `\`--from '${path}'\` runs the whole step again.` });
  }
  const request = {
    run: below,
    pipeline: step.pipeline,
    steps: toCurrentSteps(below.id, await store.listSteps(below.id)),
    from: from.slice(path.length + 1),
  };
  await requireFromBelow(store, request);
  planRetry(request);
}

/** The pipeline step that a path leads into, and its own path, with its item. */
function findStep(
  steps: readonly Step[],
  from: string,
): { readonly path: string; readonly step: PipelineStep } | undefined {
  const ids = from.split('/');
  for (const [place, part] of ids.slice(0, -1).entries()) {
    const id = part.replace(/\[\d+\]$/, '');
    const step = everyStep(steps).find((each) => each.id === id);
    if (step?.kind === 'pipeline') return { path: ids.slice(0, place + 1).join('/'), step };
  }
  return undefined;
}

function everyStep(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => {
    const handlers = step.onError.kind === 'handle' ? step.onError.steps : [];
    const inner = 'steps' in step ? step.steps : [];
    const otherwise = 'otherwise' in step ? step.otherwise : [];
    return [step, ...everyStep([...inner, ...otherwise, ...handlers])];
  });
}
