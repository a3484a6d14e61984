import type { Fault } from '../../base/errors.ts';
import { sumOf } from '../../base/json/decimal.ts';
import { isObject, toPlain } from '../../base/json/json.ts';
import { startStopwatch, type Timing, wholeMs } from '../../base/time/stopwatch.ts';
import { meetsThreshold } from '../../calls/capability/eval.ts';
import { type EvalOutcome, scored, type Threshold, unscored } from '../../contract/eval.ts';
import type { PreparedEval, PreparedGuard, PreparedTree } from '../case/prepared-case.ts';
import type { EvalHostReply, EvalHostRequest } from '../file/model.ts';
import type { EvalResult, GuardRecord } from '../record.ts';

export interface EvalHost {
  score(
    evaluation: EvalHostRequest,
    signal: AbortSignal,
  ): Promise<EvalHostReply & { readonly attempts: number }>;
  /** Sends an event through all filters, or through the hook `only`. Throws EVENT_INVALID, NAME_UNKNOWN. */
  fire(
    event: Readonly<Record<string, unknown>>,
    only: string | undefined,
    signal: AbortSignal,
  ): Promise<GuardDecision>;
}

export type GuardDecision = Omit<GuardRecord, 'expected'> & {
  readonly reason: string;
  readonly error?: Fault;
};

/** Combines checks or sends the event of a guard. Rethrows errors of `host`. */
export async function scoreEval(
  preparedEval: PreparedEval,
  host: EvalHost,
  signal: AbortSignal,
): Promise<EvalResult> {
  const { check } = preparedEval;
  if (check.kind === 'guard') {
    const watch = startStopwatch();
    const { reason, error, ...decision } = await watch.run(() => host.fire(check.event, check.only, signal));
    return toGuardResult(preparedEval, {
      decision,
      reason,
      error,
      check,
      timing: watch.read(),
    });
  }
  const { id } = preparedEval.evaluation;
  const reply = await scoreTree(check, { host, id, threshold: preparedEval.threshold, signal });
  return {
    ...toResult(preparedEval, reply.outcome),
    ...(check.kind === 'check' && toPlain({ params: check.request.params })),
    ...(check.kind === 'check' && check.content !== undefined && { content: check.content }),
    duration_ms: reply.durationMs,
    queue_ms: reply.queueMs,
    attempts: reply.attempts,
    ...(reply.stderr === '' ? {} : { stderr: reply.stderr }),
  };
}

function toResult({ evaluation, threshold, label }: PreparedEval, outcome: EvalOutcome) {
  const base = {
    eval: evaluation.id,
    passed: meetsThreshold(outcome, threshold),
    threshold,
    ...(label !== undefined && { label }),
  };
  if (outcome.status === 'unscored') {
    const { reason, error } = outcome;
    return { ...base, score: null, detail: reason, ...(error && { error }) };
  }
  const { score, detail, data } = outcome;
  const plain = data === undefined ? undefined : toPlain({ data })['data'];
  return { ...base, score, detail, ...(isObject(plain) && { data: plain }) };
}

interface GuardReply {
  readonly decision: Omit<GuardRecord, 'expected'>;
  readonly reason: string;
  readonly error: Fault | undefined;
  readonly check: PreparedGuard;
  readonly timing: Timing;
}

/**
 * Scores 1 if the hooks flagged the event as expected, else 0. Unscored if a hook failed, because its denial says
 * nothing about the event.
 */
function toGuardResult(preparedEval: PreparedEval, reply: GuardReply): EvalResult {
  const { decision, reason, error, check, timing } = reply;
  // Hook time without queue time. Parallel hooks take as long as the slowest.
  const hooksMs = decision.hooks.reduce((sum, hook) => sum + hook.duration_ms, 0);
  const { durationMs, queueMs } = wholeMs({ ...timing, durationMs: Math.min(hooksMs, timing.durationMs) });
  const times = { duration_ms: durationMs, queue_ms: queueMs, attempts: 1 };
  if (error !== undefined) return { ...toResult(preparedEval, unscored(reason, error)), ...times };
  const { expected } = check;
  const isRight = decision.flagged === expected;
  const wanted = expected ? 'should be flagged' : 'should pass';
  const by = decision.decided_by === null ? '' : ` by ${decision.decided_by}`;
  const why = reason === '' ? '' : `: ${reason}`;
  const detail = `${decision.verdict}${by}${why} (${wanted})`;
  return {
    ...toResult(preparedEval, scored(isRight ? 1 : 0, detail)),
    ...times,
    guard: { ...decision, expected },
  };
}

interface CheckReply extends Timing {
  readonly outcome: EvalOutcome;
  readonly attempts: number;
  readonly stderr: string;
}

interface CheckContext {
  readonly host: EvalHost;
  readonly id: string;
  readonly threshold: Threshold;
  readonly signal: AbortSignal;
}

async function scoreTree(tree: PreparedTree, context: CheckContext): Promise<CheckReply> {
  switch (tree.kind) {
    case 'check': {
      const { host, id, threshold, signal } = context;
      const { request } = tree;
      return await host.score({ id, type: request.type, threshold, request }, signal);
    }
    case 'bounded': {
      const { threshold } = tree;
      const reply = await scoreTree(tree.part, { ...context, threshold });
      return { ...reply, outcome: applyBounds(reply.outcome, threshold) };
    }
    case 'not': {
      const reply = await scoreTree(tree.part, context);
      return { ...reply, outcome: invert(reply.outcome) };
    }
    case 'any_of':
    case 'all_of': {
      const parts = await Promise.all(tree.parts.map((part) => scoreTree(part, context)));
      return {
        outcome: combine(
          tree.kind,
          parts.map(({ outcome }) => outcome),
        ),
        durationMs: Math.max(...parts.map(({ durationMs }) => durationMs)),
        queueMs: Math.max(...parts.map(({ queueMs }) => queueMs)),
        attempts: Math.max(...parts.map(({ attempts }) => attempts)),
        stderr: parts.map(({ stderr }) => stderr).join(''),
      };
    }
  }
}

export function invert(outcome: EvalOutcome): EvalOutcome {
  return outcome.status === 'unscored'
    ? outcome
    : scored(sumOf([1, -outcome.score]), `not: ${describeOutcome(outcome)}`);
}

export function applyBounds(outcome: EvalOutcome, threshold: Threshold): EvalOutcome {
  if (outcome.status === 'unscored') return outcome;
  return scored(meetsThreshold(outcome, threshold) ? 1 : 0, outcome.detail);
}

/**
 * The highest score for `any_of`, the lowest for `all_of`. With an unscored part the result is unscored, unless another
 * part scored 1 (`any_of`) or 0 (`all_of`), which no missing score could change.
 */
export function combine(kind: 'any_of' | 'all_of', outcomes: readonly EvalOutcome[]): EvalOutcome {
  const scores = outcomes.flatMap((outcome) => (outcome.status === 'scored' ? [outcome.score] : []));
  const combined = kind === 'any_of' ? Math.max(...scores) : Math.min(...scores);
  const missing = outcomes.find((outcome) => outcome.status === 'unscored');
  const isCertain = combined === (kind === 'any_of' ? 1 : 0);
  if (missing !== undefined && !isCertain) return unscored(`${kind}: ${missing.reason}`, missing.error);
  return scored(combined, outcomes.map(describeOutcome).join('; '));
}

function describeOutcome(outcome: EvalOutcome): string {
  if (outcome.status === 'unscored') return `unscored: ${outcome.reason}`;
  return outcome.detail === '' ? String(outcome.score) : `${outcome.score}, ${outcome.detail}`;
}
