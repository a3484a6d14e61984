import { RuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { object } from '../../base/json/record.ts';
import { number } from '../../base/json/shape.ts';
import { sleep } from '../../base/time/deadline.ts';
import { parseDuration } from '../../config/duration.ts';
import type { WaitStep } from '../file/pipeline.ts';
import { parseTime } from '../file/time.ts';
import { RunSuspended } from '../state/journal.ts';
import { journalStep, plainRecord } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { okStep, type StepOutcome } from '../state/step-outcome.ts';
import { evaluateIn, type Scope, type StepContext } from '../state/step-scope.ts';
import { iso } from './timeline.ts';

/**
 * Lets time go by, in this process or, where it is long, in none (RunSuspended). When it is over is kept first, so that a run that is set down or killed waits for what
 * is left of it. Throws EXPRESSION_FAILED, ABORTED, STORE_FAILED.
 */
export async function runWaitStep(
  run: RunContext,
  { step, name, scope }: StepContext<WaitStep>,
): Promise<StepOutcome> {
  const place = { name: `${name}/due`, kind: dueRecord };
  const { now = async () => Date.now() } = run.journal;
  const { due_at: dueAt } = await journalStep(run.journal, place, async () => ({
    due_at: dueOf(step, scope, await now()),
  }));
  // Nothing is waited for where nothing may be done.
  run.journal.requireWritable?.(place.name);
  const until = iso(dueAt);
  let leftMs = dueAt - (await now());
  // The time of a group around it goes on meanwhile.
  if (scope.clocks.length === 0 && leftMs > (run.longestWaitMs ?? dueAt) && !scope.signal.aborted)
    throw new RunSuspended({ until: dueAt });
  if (leftMs > 0) run.emit({ type: 'step.waiting', run: run.journal.runId, step: name, until });
  for (; leftMs > 0; leftMs = dueAt - (await now())) {
    if (scope.signal.aborted) throw new RuntimeError('ABORTED', `step "${name}" waits until ${until}`);
    // In pieces, since the clock may be set, and the machine sleep.
    await sleep(Math.min(leftMs, PIECE_MS), scope.signal);
  }
  return okStep({ until });
}

const PIECE_MS = 30_000;

/** ms since 1970. */
const dueRecord = plainRecord('end of the wait', object({ due_at: number }));

function dueOf({ wait }: WaitStep, scope: Scope, now: number): number {
  const asked = evaluateIn(scope, 'until' in wait ? wait.until : wait.for);
  const due = 'until' in wait ? timeOf(asked) : addTo(now, msOf(asked));
  if (due !== undefined && due >= 0 && due <= LATEST) return Math.round(due);
  const wanted =
    'until' in wait ? 'no time by RFC 3339 with its zone' : 'no duration such as 10m, and no milliseconds';
  throw new RuntimeError('EXPRESSION_FAILED', `\`wait\` is ${stringifyJson(asked)}, which is ${wanted}`);
}

/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;

function timeOf(asked: unknown): number | undefined {
  return typeof asked === 'string' ? parseTime(asked) : undefined;
}

function msOf(asked: unknown): number | undefined {
  if (typeof asked === 'string') return parseDuration(asked);
  return typeof asked === 'number' && asked >= 0 ? asked : undefined;
}

function addTo(now: number, ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : now + ms;
}
