import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { type Json, stringifyJson } from '../../base/json/json.ts';
import { parseParted } from '../../base/json/parted.ts';
import { ifPresent, object } from '../../base/json/record.ts';
import { number, oneOf, text } from '../../base/json/shape.ts';
import { sleep } from '../../base/time/deadline.ts';
import { toolsBelow } from '../file/below.ts';
import type { Collect, ForEach, Step, WhileLoop } from '../file/pipeline.ts';
import { pauseBefore, type Retry } from '../file/retry.ts';
import { mergeSuspended, RunSuspended } from '../state/journal.ts';
import { fault, findRecord, journalStep, plainRecord } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { combineOutcomes, failedStep, type StepOutcome, skippedStep } from '../state/step-outcome.ts';
import { evaluateIn, forkScope, type StepContext } from '../state/step-scope.ts';
import { isSuspension } from '../state/suspension.ts';
import { transientFault } from '../suspend/transient-fault.ts';

type RunPart = (placed: StepContext) => Promise<StepOutcome>;

export async function runForEach(
  run: RunContext,
  { step, name, scope, loop, part }: StepContext & { readonly loop: ForEach; readonly part: RunPart },
): Promise<StepOutcome> {
  const items = evaluateIn(scope, loop.items);
  if (!Array.isArray(items)) {
    throw new RuntimeError(
      'EXPRESSION_FAILED',
      `\`for_each\` is ${stringifyJson(items)}, which is not a list`,
    );
  }
  const isInside = (path: string) => path.startsWith(`${name}[`);
  const failFast = loop.failFast ? openFailFast(run, { name, isInside }) : undefined;
  const signal = failFast ? AbortSignal.any([scope.signal, failFast.signal]) : scope.signal;
  const parts = createParts(loop.collect);
  const work = async (item: unknown, index: number): Promise<void> => {
    const itemName = `${name}[${index}]`;
    if (failFast?.hasFailed() && run.journal.find(itemName) === undefined) return;
    const variables = { ...scope.variables, item, index };
    const own = forkScope(scope, { variables, prefix: `${itemName}/`, signal });
    try {
      const outcome = { failedAt: itemName, ...(await part({ step, name: itemName, scope: own })) };
      parts.add(index, outcome);
      await failFast?.note(outcome);
    } catch (error) {
      if (failFast?.isCutOff(error) !== true) throw error;
    }
    run.journal.forget?.(itemName);
  };
  await mapConcurrently(items, loop.concurrency, work).catch((error: unknown) => {
    if (failFast?.isCutOff(error) !== true) throw error;
  });
  return failFast?.outcome(parts.members(items.length)) ?? parts.combine(items.length);
}

/** A journaled iteration does not evaluate its condition again. Throws EXPRESSION_FAILED and the errors of `part`. */
export async function runWhile(
  run: RunContext,
  { step, name, scope, loop, part }: StepContext & { readonly loop: WhileLoop; readonly part: RunPart },
): Promise<StepOutcome> {
  const parts = createParts(loop.collect);
  let last: unknown = null;
  for (let index = 0; ; index += 1) {
    const roundName = `${name}[${index}]`;
    const variables = { ...scope.variables, index, last };
    const own = forkScope(scope, { variables, prefix: `${roundName}/` });
    if (run.journal.find(roundName) === undefined) {
      const holds = evaluateIn(own, loop.condition);
      if (typeof holds !== 'boolean') {
        const message = `\`while\` is ${stringifyJson(holds)}, neither true nor false`;
        throw new RuntimeError('EXPRESSION_FAILED', message);
      }
      if (!holds) return parts.combine(index);
      if (index >= loop.max) return exhausted(name, loop, parts.members(index));
    }
    const outcome = { failedAt: roundName, ...(await part({ step, name: roundName, scope: own })) };
    parts.add(index, outcome);
    if (outcome.status === 'failed' || outcome.status === 'denied') return parts.combine(index + 1);
    last = parseParted(outcome.view);
    run.journal.forget?.(roundName);
  }
}

function exhausted(
  name: string,
  { max }: WhileLoop,
  members: Readonly<Record<string, unknown>>,
): StepOutcome {
  const message = `the condition of step "${name}" still holds after ${max} runs`;
  return failedStep('failed', toFault(new RuntimeError('LOOP_EXHAUSTED', message)), members);
}

function createParts(collect: Collect) {
  const views: Json[] = [];
  let last = { index: -1, view: undefined as Json | undefined };
  let failure: { readonly index: number; readonly outcome: StepOutcome } | undefined;
  let isTransient = true;
  const members = (count: number): Readonly<Record<string, unknown>> => {
    if (collect === 'all')
      return { items: Array.from({ length: count }, (_, index) => views[index] ?? skippedStep.view) };
    return { count, ...(collect === 'last' && { last: last.view ?? null }) };
  };
  return {
    add: (index: number, outcome: StepOutcome): void => {
      if (collect === 'all') views[index] = outcome.view;
      if (collect === 'last' && index > last.index) last = { index, view: outcome.view };
      if (outcome.status !== 'failed' && outcome.status !== 'denied') return;
      if (outcome.transient === undefined) isTransient = false;
      if (failure === undefined || index < failure.index) failure = { index, outcome };
    },
    members,
    combine: (count: number) =>
      combineOutcomes(
        failure === undefined
          ? []
          : [isTransient ? failure.outcome : { ...failure.outcome, transient: undefined }],
        members(count),
      ),
  };
}

/** Stores the next attempt's time, so that a restart neither waits longer nor repeats an attempt. Throws ABORTED. */
export async function runRetried(
  run: RunContext,
  placed: StepContext,
  attempt: (placed: StepContext) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { step, name, scope } = placed;
  const { retry } = step;
  if (retry === undefined) return await attempt(placed);
  const { now = async () => Date.now() } = run.journal;
  for (let retries = 0; ; retries += 1) {
    const next = { name: `${name}/retry-${retries + 1}`, kind: retryRecord };
    let known = findRecord(run.journal, next.name, retryRecord);
    if (known === undefined) {
      const isAgain = (came: Pick<StepOutcome, 'status' | 'error'>) =>
        retries < retry.max && isRetried(run, step, came);
      const handles = (error: Fault) =>
        isAgain({ status: 'failed', error }) || scope.handles?.(error) === true;
      const outcome = await attempt({ ...placed, scope: { ...scope, handles }, retries });
      if (!isAgain(outcome)) return outcome;
      known = await journalStep(run.journal, next, async () => {
        const pauseMs = pauseBefore(retry, retries + 1);
        tell(run, placed, { outcome, pauseMs, retries, retry });
        return { due_at: (await now()) + pauseMs, code: outcome.error?.code ?? '' };
      });
    }
    // A run that cannot store outcomes must not wait.
    run.journal.requireWritable?.(next.name);
    await pause(known.due_at - (await now()), { atMostMs: pauseBefore(retry, retries + 1), placed });
  }
}

/** `due_at` is in ms since 1970. */
const retryRecord = plainRecord('retry', object({ due_at: number, code: text }));

/** Denials, rejections and calls that may have acted are not retried. */
function isRetried(
  run: RunContext,
  step: Step,
  { status, error }: Pick<StepOutcome, 'status' | 'error'>,
): boolean {
  if (status !== 'failed' || error === undefined) return false;
  const calls =
    step.kind === 'tool' ? [step.tool] : step.kind === 'pipeline' ? toolsBelow(step.pipeline) : [];
  for (const tool of calls) if (run.tools.get(tool)?.idempotent === false) return false;
  return step.retry?.on.includes(error.code) === true;
}

interface Retrying {
  readonly outcome: StepOutcome;
  readonly pauseMs: number;
  readonly retries: number;
  readonly retry: Retry;
}

function tell(run: RunContext, { name }: StepContext, { outcome, pauseMs, retries, retry }: Retrying): void {
  const { code, message } = outcome.error ?? {};
  const when = pauseMs < 1000 ? `${pauseMs} ms` : `${Math.round(pauseMs / 100) / 10} s`;
  const often = `${retries + 1} of ${retry.max}`;
  const said = `[${code}] ${message}; retrying in ${when} (${often})`;
  run.emit({ type: 'note', name, level: 'warn', message: said });
}

/** Changes of the clock do not affect the wait. Throws ABORTED if the scope ends first. */
async function pause(
  leftMs: number,
  { atMostMs, placed: { name, scope } }: { readonly atMostMs: number; readonly placed: StepContext },
): Promise<void> {
  const pauseMs = Math.min(leftMs, atMostMs);
  if (pauseMs > 0 && !scope.signal.aborted) await sleep(pauseMs, scope.signal);
  if (scope.signal.aborted)
    throw new RuntimeError('ABORTED', `step "${name}" was cancelled before its retry`);
}

/** Ends the other items of a loop, or branches of a parallel step, after a failure. */
export interface FailFast {
  readonly signal: AbortSignal;
  /** Includes failures in an earlier execution. */
  hasFailed(): boolean;
  /** Whether the error only results from another failure. */
  isCutOff(thrown: unknown): boolean;
  /** Stores the first failure before it aborts the others, so that a resumed run starts none. Throws STORE_FAILED. */
  note(outcome: StepOutcome | undefined): Promise<void>;
  /** The combined outcome with these view members; undefined without a failure. */
  outcome(members: Readonly<Record<string, unknown>>): StepOutcome | undefined;
}

interface FailFastOptions {
  readonly name: string;
  readonly isInside: (path: string) => boolean;
}

export function openFailFast(run: RunContext, { name, isInside }: FailFastOptions): FailFast {
  const place = { name: `${name}/cut`, kind: cutRecord };
  const cut = new AbortController();
  let first = findRecord(run.journal, place.name, cutRecord);
  let noting: Promise<void> | undefined;
  if (first !== undefined) cut.abort();
  const noteFirst = async ({ status, error, failedAt = name, transient }: StepOutcome) => {
    first = await journalStep(run.journal, place, async () => ({
      status: status === 'denied' ? ('denied' as const) : ('failed' as const),
      failed_at: failedAt,
      error: error ?? { code: 'INTERNAL' as const, message: '', hint: '' },
      ...(transient && { transient }),
    }));
    cut.abort();
    // No one waits for these decisions any more.
    await run.journal.withdraw?.(isInside, `${failedAt} failed, which ends the others`);
  };
  return {
    signal: cut.signal,
    hasFailed: () => first !== undefined,
    isCutOff: (thrown) =>
      first !== undefined && (thrown instanceof RunSuspended || !isSuspension(run, thrown)),
    note: async (outcome) => {
      if (outcome?.status !== 'failed' && outcome?.status !== 'denied') return;
      noting ??= noteFirst(outcome);
      await noting;
    },
    outcome: (members) =>
      first && {
        ...failedStep(first.status, first.error, members),
        ...{ failedAt: first.failed_at, transient: first.transient },
      },
  };
}

const cutRecord = plainRecord(
  'failure that ended the others',
  object({
    ...{ status: oneOf('failed', 'denied'), failed_at: text, error: fault },
    transient: ifPresent(transientFault),
  }),
);

/**
 * Returns results in order. An item that throws RunPaused keeps its slot; any other error is thrown once the running
 * items have ended.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const thrown: unknown[] = [];
  const remaining = items.entries();
  const worker = async () => {
    for (const [index, item] of remaining) {
      try {
        results[index] = await work(item, index);
      } catch (error) {
        thrown.push(error);
        if (error instanceof RunSuspended) return;
      }
      if (thrown.some(isFailure)) return;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, items.length)) }, worker));
  const suspended = thrown.filter((each) => each instanceof RunSuspended);
  if (thrown.length > 0) throw thrown.find(isFailure) ?? mergeSuspended(suspended);
  return results;
}

function isFailure(thrown: unknown): boolean {
  return !(thrown instanceof RunSuspended);
}
