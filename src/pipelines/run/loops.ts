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

/** Runs a step once for each item of a list. Throws EXPRESSION_FAILED, and what `part` throws. */
export async function runForEach(
  run: RunContext,
  { step, name, scope, loop, part }: StepContext & { readonly loop: ForEach; readonly part: RunPart },
): Promise<StepOutcome> {
  const items = evaluateIn(scope, loop.items);
  if (!Array.isArray(items)) {
    throw new RuntimeError('EXPRESSION_FAILED', `\`for_each\` is ${stringifyJson(items)}, which is no list`);
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
    // What waited for a person before another item failed.
    if (failFast?.isCutOff(error) !== true) throw error;
  });
  return failFast?.outcome(parts.members(items.length)) ?? parts.combine(items.length);
}

/**
 * Runs a step again and again while its condition holds. A run that was kept is not asked about again. Throws
 * EXPRESSION_FAILED, and what `part` throws.
 */
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
  /** Whether all failures are by faults that may be gone later. */
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
    /** The members of the view of a loop of so many runs. */
    members,
    /** One outcome for all: that of the first that failed, else ok. */
    combine: (count: number) =>
      combineOutcomes(
        failure === undefined
          ? []
          : [isTransient ? failure.outcome : { ...failure.outcome, transient: undefined }],
        members(count),
      ),
  };
}

/**
 * The outcome of the last attempt at a step. When the next attempt begins is kept before the wait for it, so that a run
 * that is killed meanwhile waits no longer, and makes no attempt twice. Throws what `attempt` throws, and ABORTED.
 */
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
    // Nothing is waited for where nothing may be done.
    run.journal.requireWritable?.(next.name);
    await pause(known.due_at - (await now()), { atMostMs: pauseBefore(retry, retries + 1), placed });
  }
}

/** When the next attempt begins, ms since 1970, and why. */
const retryRecord = plainRecord('retry', object({ due_at: number, code: text }));

/** A no of a hook or a person stands, and a call that may have acted is not made again. */
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
  const said = `[${code}] ${message}; it is tried again in ${when} (${often})`;
  run.emit({ type: 'note', name, level: 'warn', message: said });
}

/** Waits, whatever the clock has been set to meanwhile. Throws ABORTED when the scope ends first. */
async function pause(
  leftMs: number,
  { atMostMs, placed: { name, scope } }: { readonly atMostMs: number; readonly placed: StepContext },
): Promise<void> {
  const pauseMs = Math.min(leftMs, atMostMs);
  if (pauseMs > 0 && !scope.signal.aborted) await sleep(pauseMs, scope.signal);
  if (scope.signal.aborted)
    throw new RuntimeError('ABORTED', `step "${name}" was given up before it was tried again`);
}

/** What ends the other items of a loop, or branches of a parallel step, when one of them has failed. */
export interface FailFast {
  /** Aborted when one has failed. */
  readonly signal: AbortSignal;
  /** Whether one has failed, in this execution or before. */
  hasFailed(): boolean;
  /** Whether what was thrown comes of another one’s failure, and is none of its own. */
  isCutOff(thrown: unknown): boolean;
  /**
   * Notes an outcome, the first failure durably before anything is cut off: whoever goes on with the run knows that nothing
   * else is to be begun. Throws STORE_FAILED.
   */
  note(outcome: StepOutcome | undefined): Promise<void>;
  /** The outcome of the whole when one has failed, with these members of its view. */
  outcome(members: Readonly<Record<string, unknown>>): StepOutcome | undefined;
}

interface FailFastOptions {
  /** The path of the loop or parallel step. */
  readonly name: string;
  /** Whether a path stands inside it. */
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
    // Nobody is left to hear of these decisions.
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
 * Maps the items in order, at most `concurrency` at once, and returns the results in order. An item that
 * throws RunPaused keeps its slot, so no further item starts once all slots are paused. After any other error
 * no further item starts; the error is thrown once the items in flight have ended.
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
