import { RuntimeError } from '../../base/errors.ts';
import type { RunStatus } from '../../contract/run.ts';
import type { RunRecord, StepRecord, Store } from '../../store/store.ts';
import type { Pipeline, PipelineStep, Step } from '../file/pipeline.ts';
import { callRecord } from '../state/call-record.ts';
import { findRecord, readRecord } from '../state/record.ts';
import { type CurrentSteps, type Redo, redoRecord, retryName, toCurrentSteps } from '../state/retries.ts';
import { belowName, belowRecord } from '../state/run-below.ts';
import { type StepEntry, stepEntryOf } from '../state/step-outcome.ts';

export interface RetryRequest {
  readonly run: Pick<RunRecord, 'id' | 'status'>;
  readonly pipeline: Pipeline;
  readonly steps: CurrentSteps;
  readonly from: string | undefined;
}

/** Repeats as little of each failed step as possible. Throws USAGE if the run has not reached the step. */
function planRetry({ run, pipeline, steps, from }: RetryRequest): Redo[] {
  const failed = [
    ...findFailed({ run, current: steps.current }, pipeline.steps),
    // They follow any result of the steps.
    ...allOf(pipeline.finally, ''),
  ];
  if (from === undefined) return failed;
  const named = redoFrom(pipeline.steps, from, steps.current);
  if (named === undefined) throw noSuchStep(run.id, from, steps.current);
  return [...named, ...failed];
}

/** Repeats only what failed by the fault. Throws the errors of `planRetry`. */
export function planResume({ run, pipeline, steps }: Omit<RetryRequest, 'from'>): Redo[] {
  const kept = { run, current: steps.current };
  return [
    ...findFailed(kept, pipeline.steps),
    ...pipeline.finally.flatMap((step) => findFailed(kept, [step])),
  ];
}

interface KeptSteps {
  readonly run: RetryRequest['run'];
  readonly current: ReadonlyMap<string, StepRecord>;
}

function findFailed(kept: KeptSteps, steps: readonly Step[]): Redo[] {
  const redo: Redo[] = [];
  const paths = [...kept.current.keys()];
  const entryOf = (path: string): StepEntry | undefined => {
    const record = kept.current.get(path);
    return record && stepEntryOf(kept.run, record);
  };
  const hasFailed = (path: string) => ['failed', 'denied'].includes(entryOf(path)?.status ?? '');
  const hasEnded = (path: string) => entryOf(path) !== undefined;
  const inList = (list: readonly Step[], prefix: string): boolean =>
    list.some((step) => {
      const path = `${prefix}${step.id}`;
      if (!hasFailed(path) || step.onError.kind === 'continue') return false;
      if (step.onError.kind === 'handle' && step.onError.then === 'continue')
        return inList(step.onError.steps, prefix);
      again(step, path, prefix);
      return true;
    });
  const again = (step: Step, path: string, prefix: string) => {
    redo.push({ path, isDeep: false });
    // A handler runs again after the next failure.
    if (step.onError.kind === 'handle') redo.push(...allOf(step.onError.steps, prefix));
    if (isFailFast(step)) redo.push(...cutOffIn(paths, step, { path, prefix, hasEnded }));
    const items = isLoop(step) ? itemsOf(paths, path).filter(hasFailed) : [];
    for (const item of items) {
      redo.push({ path: item, isDeep: false });
      inside(step, item, `${item}/`);
    }
    if (!isLoop(step)) inside(step, path, prefix);
  };
  const inside = (step: Step, path: string, prefix: string) => {
    switch (step.kind) {
      case 'tool':
        redo.push(...lastCallOf(kept, path));
        return;
      case 'chat':
        redo.push(...lastModelCallOf(kept, path));
        return;
      case 'steps':
        inList(step.steps, prefix);
        inList(step.otherwise, prefix);
        return;
      case 'parallel':
        for (const branch of step.steps) inList([branch], prefix);
        return;
      case 'pipeline':
        // The nested run continues by itself from its own failure.
        return;
      default:
        redo.push({ path, isDeep: true });
    }
  };
  inList(steps, '');
  return redo;
}

function isFailFast(step: Step): boolean {
  return step.forEach?.failFast === true || (step.kind === 'parallel' && step.failFast);
}

interface CutOff {
  readonly path: string;
  readonly prefix: string;
  readonly hasEnded: (path: string) => boolean;
}

function cutOffIn(paths: readonly string[], step: Step, { path, prefix, hasEnded }: CutOff): Redo[] {
  const items = isLoop(step)
    ? paths.flatMap((each) =>
        each.startsWith(`${path}[`) ? [each.slice(0, each.indexOf(']', path.length) + 1)] : [],
      )
    : [];
  const branches = step.kind === 'parallel' && !isLoop(step) ? step.steps : [];
  return [
    { path: `${path}/cut`, isDeep: false },
    ...[...new Set(items)].filter((item) => !hasEnded(item)).map((item) => ({ path: item, isDeep: true })),
    ...branches.filter(({ id }) => !hasEnded(`${prefix}${id}`)).flatMap((branch) => allOf([branch], prefix)),
  ];
}

function itemsOf(paths: readonly string[], loop: string): string[] {
  return paths.filter((path) => path.startsWith(`${loop}[`) && /^\d+\]$/.test(path.slice(loop.length + 1)));
}

/** An approval is kept and the call made again. A rejected or expired call asks for a decision again. */
function lastCallOf({ run, current }: KeptSteps, path: string): Redo[] {
  const all = { path, isDeep: true };
  if (current.has(`${path}/retry-1`)) return [all];
  let round = 0;
  while (current.has(`${path}/call/ruling-${round + 1}`)) round += 1;
  const last = `${path}/call/ruling-${round}`;
  const record = current.get(last);
  if (round === 0 || record?.outcome == null) return [all];
  const { outcome } = readRecord(callRecord, record.outcome, { run: run.id, step: last });
  const isNo = outcome.status === 'failed' && ['REJECTED', 'PENDING_EXPIRED'].includes(outcome.error.code);
  return isNo ? [all] : [{ path: last, isDeep: false }];
}

/** Repeats only the last model call if it failed, else the whole chat. */
function lastModelCallOf({ current }: KeptSteps, path: string): Redo[] {
  const calls = [...current.keys()].filter(
    (name) => name.startsWith(`${path}/attempt-`) && /\/round-(?:\d+|more)$/.test(name),
  );
  const last = calls.at(-1);
  const record = last === undefined ? undefined : current.get(last);
  const hasFailed = record?.outcome?.skeleton.startsWith('{"error":') === true;
  return last !== undefined && hasFailed ? [{ path: last, isDeep: false }] : [{ path, isDeep: true }];
}

function noSuchStep(id: string, from: string, current: ReadonlyMap<string, StepRecord>): RuntimeError {
  const inside = [...current.keys()].find((path) => path.endsWith(`]/${from}`));
  return new RuntimeError('USAGE', `run ${id} did not reach a step "${from}"`, {
    hint:
      inside === undefined
        ? `\`signalbox runs show ${id}\` lists the steps that it reached.`
        : `It is inside a loop: name one item, such as ${inside}, or the loop.`,
  });
}

/** Keeps other items and branches of enclosing steps. Returns undefined if the run has not reached the step. */
function redoFrom(
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
      // The failed step stays failed; only its consequences are repeated.
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
  /** A group stores nothing under its own name before it ends. */
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

function cutOff(path: string, beginning: string): string {
  return path.startsWith(beginning) ? path.slice(beginning.length) : '';
}

function isLoop({ forEach, whileLoop }: Step): boolean {
  return forEach !== undefined || whileLoop !== undefined;
}

function allOf(steps: readonly Step[], prefix: string): Redo[] {
  return steps.flatMap((step) => [
    { path: `${prefix}${step.id}`, isDeep: true },
    ...(step.onError.kind === 'handle' ? allOf(step.onError.steps, prefix) : []),
    ...(isLoop(step) ? [] : allOf(innerSteps(step), prefix)),
  ]);
}

function innerSteps(step: Step): readonly Step[] {
  if (step.kind === 'parallel') return step.steps;
  return step.kind === 'steps' ? [...step.steps, ...step.otherwise] : [];
}

/** Returns whether the run is open again. `of`: the outermost run's retry. Throws USAGE, STORE_FAILED. */
export async function keepRetry(
  store: Store,
  request: RetryRequest,
  { status, of }: { readonly status: RunStatus; readonly of?: number },
): Promise<boolean> {
  const { run, steps, from } = request;
  const redo = planRetry(request);
  const at = Date.now();
  const record = redoRecord.write({
    redo,
    ...(of !== undefined && { of }),
    ...(from !== undefined && { from }),
  });
  // In this order: a process killed in between leaves a failed run, which can be retried.
  const [, stands] = await Promise.all([
    store.endStep(run.id, retryName(steps.retries + 1), record, at),
    store.setRunStatus(run.id, { status, reopens: true, at }),
  ]);
  return stands;
}

/** Throws USAGE if the nested run has not failed, or has not reached the step. Throws STORE_FAILED. */
export async function requireFromBelow(
  store: Store,
  { run, pipeline, steps, from }: RetryRequest,
): Promise<void> {
  const found = from === undefined ? undefined : findStep([...pipeline.steps, ...pipeline.finally], from);
  if (from === undefined || found === undefined) return;
  const { path, step } = found;
  planRetry({ run, pipeline, steps, from });
  const find = (name: string) => steps.current.get(name)?.outcome ?? undefined;
  let retries = 0;
  while (find(belowName(`${path}/retry-${retries + 1}`)) !== undefined) retries += 1;
  const attempt = retries === 0 ? path : `${path}/retry-${retries}`;
  const known = findRecord({ runId: run.id, find }, belowName(attempt), belowRecord);
  const below = known && (await store.findRun(known.run_id));
  if (below === undefined || (below.status !== 'failed' && below.status !== 'denied')) {
    const message = `the run of step "${path}" is ${below?.status ?? 'missing'}: only one that failed or was denied can be retried from one of its steps`;
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
