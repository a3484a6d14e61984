import { meetsThreshold } from '../../capability/threshold.ts';
import { type EvalOutcome, scored, type Threshold, unscored } from '../../contract/eval.ts';
import type { Fault } from '../../errors.ts';
import { isObject, toPlain } from '../../json/json.ts';
import { startStopwatch, type Took, wholeMs } from '../../time/stopwatch.ts';
import type { JudgedEvent, JudgedTree, Trial } from '../case/case.ts';
import type { Evaluation, Verdict } from '../file/model.ts';
import type { EvalResult, GuardRecord } from '../run/record.ts';
import { bound, combine, invert } from './combine.ts';

/** How trials are carried out. */
export interface Court {
  /** Asks an eval, again after faults of the infrastructure. */
  score(evaluation: Evaluation, signal: AbortSignal): Promise<Verdict & { readonly attempts: number }>;
  /** Takes an event through the hooks, or through one alone. Throws EVENT_INVALID. */
  fire(
    event: Readonly<Record<string, unknown>>,
    only: string | undefined,
    signal: AbortSignal,
  ): Promise<Fired>;
}

/** A decision; `error` is set when a fault of a hook took it. */
export type Fired = Omit<GuardRecord, 'expected'> & { readonly reason: string; readonly error?: Fault };

/** Lets one eval of the suite judge. Throws what the court throws. */
export async function hold(trial: Trial, court: Court, signal: AbortSignal): Promise<EvalResult> {
  const { judged } = trial;
  if (judged.kind === 'guard') {
    const watch = startStopwatch();
    const { reason, error, ...fired } = await watch.run(() => court.fire(judged.event, judged.only, signal));
    return toGuardResult(trial, { fired, reason, error, judged, queueMs: wholeMs(watch.read()).queueMs });
  }
  const { id } = trial.evaluation;
  const said = await ask(judged, { court, id, threshold: trial.threshold, signal });
  return {
    ...toResult(trial, said.outcome),
    ...(judged.kind === 'check' && toPlain({ params: judged.request.params })),
    ...(judged.kind === 'check' && judged.content !== undefined && { content: judged.content }),
    duration_ms: said.durationMs,
    queue_ms: said.queueMs,
    attempts: said.attempts,
    ...(said.stderr === '' ? {} : { stderr: said.stderr }),
  };
}

function toResult({ evaluation, threshold }: Trial, outcome: EvalOutcome) {
  const place = { eval: evaluation.id, passed: meetsThreshold(outcome, threshold), threshold };
  if (outcome.status === 'unscored') {
    const { reason, error } = outcome;
    return { ...place, score: null, detail: reason, ...(error && { error }) };
  }
  const { score, detail, data } = outcome;
  const plain = data === undefined ? undefined : toPlain({ data })['data'];
  return { ...place, score, detail, ...(isObject(plain) && { data: plain }) };
}

interface GuardSaid {
  readonly fired: Omit<GuardRecord, 'expected'>;
  readonly reason: string;
  readonly error: Fault | undefined;
  readonly judged: JudgedEvent;
  readonly queueMs: number;
}

/**
 * Right is 1, wrong is 0: how it is wrong is in the record. A hook that failed denies, but it has not told anything
 * from anything: unscored.
 */
function toGuardResult(trial: Trial, said: GuardSaid): EvalResult {
  const { fired, reason, error, judged, queueMs } = said;
  // Of the hooks alone: how long the event waited for its turn is no matter of theirs.
  const durationMs = Math.round(fired.hooks.reduce((sum, hook) => sum + hook.duration_ms, 0));
  const times = { duration_ms: durationMs, queue_ms: queueMs, attempts: 1 };
  if (error !== undefined) return { ...toResult(trial, unscored(reason, error)), ...times };
  const { expected } = judged;
  const isRight = fired.flagged === expected;
  const wanted = expected ? 'should be flagged' : 'should pass';
  const by = fired.decided_by === null ? '' : ` by ${fired.decided_by}`;
  const why = reason === '' ? '' : `: ${reason}`;
  const detail = `${fired.verdict}${by}${why} (${wanted})`;
  return {
    ...toResult(trial, scored(isRight ? 1 : 0, detail)),
    ...times,
    guard: { ...fired, expected },
  };
}

/** What a check, or several combined, said. */
interface Said extends Took {
  readonly outcome: EvalOutcome;
  readonly attempts: number;
  readonly stderr: string;
}

interface Asking {
  readonly court: Court;
  readonly id: string;
  /** The bounds that eval hooks are told. */
  readonly threshold: Threshold;
  readonly signal: AbortSignal;
}

async function ask(judged: JudgedTree, asking: Asking): Promise<Said> {
  switch (judged.kind) {
    case 'check': {
      const { court, id, threshold, signal } = asking;
      const { request } = judged;
      return await court.score({ id, type: request.type, threshold, request }, signal);
    }
    case 'bounded': {
      const { threshold } = judged;
      const said = await ask(judged.part, { ...asking, threshold });
      return { ...said, outcome: bound(said.outcome, threshold) };
    }
    case 'not': {
      const said = await ask(judged.part, asking);
      return { ...said, outcome: invert(said.outcome) };
    }
    case 'any_of':
    case 'all_of': {
      const parts = await Promise.all(judged.parts.map((part) => ask(part, asking)));
      return {
        outcome: combine(
          judged.kind,
          parts.map(({ outcome }) => outcome),
        ),
        // They are asked at once.
        durationMs: Math.max(...parts.map(({ durationMs }) => durationMs)),
        queueMs: Math.max(...parts.map(({ queueMs }) => queueMs)),
        attempts: Math.max(...parts.map(({ attempts }) => attempts)),
        stderr: parts.map(({ stderr }) => stderr).join(''),
      };
    }
  }
}
