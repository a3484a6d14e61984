import { type Fault, RuntimeError } from '../../base/errors.ts';
import { object } from '../../base/json/record.ts';
import { number, text } from '../../base/json/shape.ts';
import { sleep } from '../../base/time/deadline.ts';
import { toolsBelow } from '../file/below/tools-below.ts';
import type { Step } from '../file/pipeline.ts';
import { pauseBefore, type Retry } from '../file/retry.ts';
import { findRecord, journalStep, plainRecord } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import type { StepOutcome } from '../state/step-outcome.ts';
import type { StepContext } from '../state/step-scope.ts';

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
