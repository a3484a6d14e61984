import { RuntimeError, toFault } from '../../errors.ts';
import { DEEPEST, isTextTooDeep } from '../../json/depth.ts';
import { Json, parseLossless, stringifyJson } from '../../json/json.ts';
import { runChat } from '../chat/chat.ts';
import type { GroupStep, ParallelStep, Step } from '../file/model.ts';
import type { RunContext } from '../state/run-context.ts';
import { branchOff, evaluateIn, note, type Scope } from '../state/scope.ts';
import { startClock } from '../state/step-clock.ts';
import {
  broken,
  brokenBy,
  done,
  readStepEntry,
  type StepOutcome,
  skipped,
  writeStepEntry,
} from '../state/step-outcome.ts';
import { setsDown } from '../state/suspend.ts';
import { atOnce } from './at-once.ts';
import { runEvalStep } from './eval.ts';
import { runToolStep } from './tool.ts';

/**
 * Runs steps in order, each under its condition, loop, timeout and on_error. Gives the outcome that stopped
 * them, if one did. Throws what sets the run down: RunPaused, and RuntimeError ABORTED and STORE_FAILED.
 */
export async function runSteps(
  run: RunContext,
  steps: readonly Step[],
  scope: Scope,
): Promise<StepOutcome | undefined> {
  for (const step of steps) {
    const outcome = await runStep(run, step, scope);
    note(scope, step.id, outcome);
    if (outcome.status !== 'failed' && outcome.status !== 'denied') continue;
    const at = outcome.failedAt ?? `${scope.prefix}${step.id}`;
    const stop = await afterFailure(run, step, { scope, outcome: { ...outcome, failedAt: at }, at });
    if (stop !== undefined) return stop;
  }
  return undefined;
}

interface Failure {
  readonly scope: Scope;
  readonly outcome: StepOutcome;
  /** The path of the innermost step that failed. */
  readonly at: string;
}

async function afterFailure(
  run: RunContext,
  { onError }: Step,
  { scope, outcome, at }: Failure,
): Promise<StepOutcome | undefined> {
  if (onError.kind === 'continue') return undefined;
  if (onError.kind === 'stop') return outcome;
  const { code = 'INTERNAL', message = '', hint = '' } = outcome.error ?? {};
  // As it is called where the handler stands, which may be inside a loop.
  const step = at.startsWith(scope.prefix) ? at.slice(scope.prefix.length) : at;
  const more = { ...scope.more, error: { code, message, hint, step } };
  // The same views: what a handler came to is seen by the steps that follow.
  const stop = await runSteps(run, onError.steps, { ...scope, more });
  return stop ?? (onError.then === 'stop' ? outcome : undefined);
}

async function runStep(run: RunContext, step: Step, scope: Scope): Promise<StepOutcome> {
  const name = `${scope.prefix}${step.id}`;
  return await journaled(run, { step, name, scope }, async () => {
    if (step.condition !== undefined && !isTrue(evaluateIn(scope, step.condition))) {
      return step.kind === 'steps' && step.otherwise.length > 0
        ? await runGroup(run, step.otherwise, scope)
        : skipped;
    }
    return step.forEach === undefined
      ? await runOnce(run, { step, name, scope })
      : await runLoop(run, { step, name, scope }, step.forEach);
  });
}

/** A step in its place. */
export interface Placed {
  readonly step: Step;
  /** Its path. */
  readonly name: string;
  readonly scope: Scope;
}

async function journaled(
  run: RunContext,
  placed: Placed & { readonly item?: boolean },
  work: () => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { step, name, scope, item = false } = placed;
  const kind = step.forEach !== undefined && !item ? 'for_each' : step.kind;
  if (run.journal.find(name) !== undefined) restore(run, step, scope);
  // Nothing is begun when the time of a step around it is over, or the run is to be set down.
  else if (scope.signal.aborted) throw new RuntimeError('ABORTED', `step "${name}" was not begun`);
  const about = { run: run.journal.runId, step: name, kind } as const;
  const entry = await run.journal.step(
    name,
    async () => {
      run.emit({ type: 'step.started', ...about });
      const startedAt = performance.now();
      const outcome = await unlessSetDown(run, async () => requireLegible(await work()));
      const durationMs = Math.round(performance.now() - startedAt);
      const { status, error } = outcome;
      run.emit({ type: 'step.finished', ...about, status, durationMs, ...(error && { error }) });
      return writeStepEntry({ ...outcome, kind, durationMs });
    },
    { holdsSteps: true },
  );
  return readStepEntry(entry) ?? brokenBy(new Error(`the journal's entry of ${name} is no step's`));
}

/** Throws RESULT_INVALID for what no expression could read: a result that is nested too deeply. */
function requireLegible(outcome: StepOutcome): StepOutcome {
  if (!isTextTooDeep(outcome.view.text)) return outcome;
  throw new RuntimeError('RESULT_INVALID', `its result is nested in more than ${DEEPEST} levels`);
}

/** What a step's own work throws is its outcome, unless it sets the whole run down. */
async function unlessSetDown(run: RunContext, work: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await work();
  } catch (error) {
    if (setsDown(run, error)) throw error;
    return brokenBy(error);
  }
}

/** The views of the steps inside a step that has ended already. */
function restore(run: RunContext, step: Step, scope: Scope): void {
  if (step.forEach !== undefined) return;
  for (const { id } of stepsWithin(step)) {
    const known = run.journal.find(`${scope.prefix}${id}`);
    const entry = known && readStepEntry(known);
    if (entry !== undefined) note(scope, id, entry);
  }
}

/** Every step inside, handlers too, but for those of a further loop, whose items have them. */
function stepsWithin(step: Step): readonly Step[] {
  return partsOf(step).flatMap(withParts);
}

function withParts(step: Step): readonly Step[] {
  const handlers = step.onError.kind === 'handle' ? step.onError.steps : [];
  return [step, ...(step.forEach === undefined ? stepsWithin(step) : []), ...handlers.flatMap(withParts)];
}

function partsOf(step: Step): readonly Step[] {
  switch (step.kind) {
    case 'parallel':
      return step.steps;
    case 'steps':
      return [...step.steps, ...step.otherwise];
    default:
      return [];
  }
}

function isTrue(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new RuntimeError('EXPRESSION_FAILED', `\`if\` is ${stringifyJson(value)}, neither true nor false`);
}

async function runLoop(
  run: RunContext,
  { step, name, scope }: Placed,
  forEach: NonNullable<Step['forEach']>,
): Promise<StepOutcome> {
  const items = evaluateIn(scope, forEach.items);
  if (!Array.isArray(items)) {
    throw new RuntimeError('EXPRESSION_FAILED', `\`for_each\` is ${stringifyJson(items)}, which is no list`);
  }
  const outcomes = await atOnce(items, forEach.concurrency, async (item, index) => {
    const place = `${name}[${index}]`;
    const more = { ...scope.more, item, index };
    const own = branchOff(scope, { more, prefix: `${place}/` });
    const outcome = await journaled(run, { step, name: place, scope: own, item: true }, () =>
      runOnce(run, { step, name: place, scope: own }),
    );
    return { failedAt: place, ...outcome };
  });
  return gather(outcomes, { items: outcomes.map(({ view }) => view) });
}

/** The step itself, once, under its own clock. */
async function runOnce(run: RunContext, placed: Placed): Promise<StepOutcome> {
  const { timeoutMs } = placed.step;
  if (timeoutMs === undefined) return await runKind(run, placed);
  const { scope, name } = placed;
  const clock = startClock(timeoutMs);
  const signal = AbortSignal.any([scope.signal, clock.signal]);
  try {
    const timed = { ...placed, scope: { ...scope, signal, clocks: [...scope.clocks, clock] } };
    const outcome = await unlessSetDown(run, () => runKind(run, timed));
    if (outcome.status === 'ok' || outcome.status === 'skipped' || !clock.signal.aborted) return outcome;
    const late = new RuntimeError('STEP_TIMEOUT', `step "${name}" took longer than ${timeoutMs} ms`);
    return broken('failed', toFault(late));
  } finally {
    clock.stop();
  }
}

async function runKind(run: RunContext, placed: Placed): Promise<StepOutcome> {
  const { step, name, scope } = placed;
  switch (step.kind) {
    case 'tool':
      return await runToolStep(run, { step, name, scope });
    case 'eval':
      return await runEvalStep(run, { step, name, scope });
    case 'chat':
      return await runChat(run, { step, name, scope });
    case 'steps':
      return await runNested(run, step, scope);
    case 'parallel':
      return await runParallel(run, step, scope);
  }
}

/** In a loop, where nobody outside sees the inner steps, the step's own view holds theirs. */
async function runNested(run: RunContext, step: GroupStep, scope: Scope): Promise<StepOutcome> {
  const outcome = await runGroup(run, step.steps, scope);
  return withInnerViews(step, scope, outcome);
}

async function runGroup(run: RunContext, steps: readonly Step[], scope: Scope): Promise<StepOutcome> {
  const stop = await runSteps(run, steps, scope);
  return gather(stop === undefined ? [] : [stop], {});
}

async function runParallel(run: RunContext, step: ParallelStep, scope: Scope): Promise<StepOutcome> {
  const branches = await atOnce(step.steps, step.concurrency ?? step.steps.length, async (branch) => {
    const own = branchOff(scope);
    const stop = await runSteps(run, [branch], own);
    return { own, outcome: stop ?? done({}) };
  });
  for (const { own } of branches) Object.assign(scope.steps, own.steps);
  return withInnerViews(
    step,
    scope,
    gather(
      branches.map(({ outcome }) => outcome),
      {},
    ),
  );
}

function withInnerViews(step: GroupStep | ParallelStep, scope: Scope, outcome: StepOutcome): StepOutcome {
  if (step.forEach === undefined) return outcome;
  const inner = Object.fromEntries(
    stepsWithin(step).flatMap(({ id }) => (Object.hasOwn(scope.steps, id) ? [[id, scope.steps[id]]] : [])),
  );
  const view = parseLossless(outcome.view.text) as Readonly<Record<string, unknown>>;
  return { ...outcome, view: Json.from({ ...view, steps: inner }) };
}

/** One outcome for several: the first that did not go well decides. */
function gather(outcomes: readonly StepOutcome[], members: Readonly<Record<string, unknown>>): StepOutcome {
  const first = outcomes.find(({ status }) => status === 'failed' || status === 'denied');
  if (first?.error === undefined) return done(members);
  const outcome = broken(first.status === 'denied' ? 'denied' : 'failed', first.error, members);
  return { ...outcome, ...(first.failedAt !== undefined && { failedAt: first.failedAt }) };
}
