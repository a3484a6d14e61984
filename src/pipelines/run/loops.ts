import { RuntimeError, toFault } from '../../base/errors.ts';
import { type Json, stringifyJson } from '../../base/json/json.ts';
import { parseParted } from '../../base/json/parted.ts';
import type { Collect, ForEach, WhileLoop } from '../file/pipeline.ts';
import type { RunContext } from '../state/run-context.ts';
import { combineOutcomes, failedStep, type StepOutcome, skippedStep } from '../state/step-outcome.ts';
import { evaluateIn, forkScope, type StepContext } from '../state/step-scope.ts';
import { openFailFast } from './fail-fast.ts';
import { mapConcurrently } from './map-concurrently.ts';

/** Runs the step once, as a part of its loop. */
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

/** What the runs of a loop came to, as far as its view has them. */
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
