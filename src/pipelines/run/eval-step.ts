import { RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { formatNumber } from '../../base/json/decimal.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import type { EvalContext, Threshold } from '../../contract/eval.ts';
import type { EvalStep } from '../file/pipeline.ts';
import { type ScoreRecord, scoreRecord } from '../state/answer-record.ts';
import { journalStep } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { failedStep, okStep, type StepOutcome } from '../state/step-outcome.ts';
import { attemptPathOf, evaluateIn, type StepContext } from '../state/step-scope.ts';
import { toEvalRequest } from './eval-request.ts';

/** Scores the content of a step. Throws EXPRESSION_FAILED, ABORTED, STORE_FAILED. */
export async function runEvalStep(run: RunContext, placed: StepContext<EvalStep>): Promise<StepOutcome> {
  const { step, scope } = placed;
  const content = evaluateIn(scope, step.content);
  const params = evaluateIn(scope, step.params);
  const context = step.context === undefined ? {} : evaluateIn(scope, step.context);
  const score = await journalScore(run, `${attemptPathOf(placed)}/score`, {
    id: step.id,
    type: step.type,
    content: typeof content === 'string' ? content : stringifyJson(content),
    params: isObject(params) ? Json.from(params) : new Json('{}'),
    context: { session_id: run.session.id, ...(isObject(context) ? context : {}) },
    threshold: step.threshold,
    signal: scope.signal,
    isDeferred: true,
  });
  if (step.threshold === undefined || score.passed || step.onFail === 'continue') return okStep(score);
  return failedStep('failed', thresholdFault(step.id, score, step.threshold), score);
}

/** Something to score. */
export interface ScoreRequest {
  readonly id: string;
  readonly type: string;
  readonly content: string;
  readonly params: Json;
  readonly context: Partial<EvalContext>;
  readonly threshold: Threshold | undefined;
  readonly signal: AbortSignal;
  /** Whether nobody acts on the score before the next step of the journal begins. */
  readonly isDeferred?: boolean;
}

/**
 * Scores and journals the result, or returns the journaled score. Throws ABORTED, STORE_FAILED, NAME_UNKNOWN.
 */
export async function journalScore(run: RunContext, name: string, asked: ScoreRequest): Promise<ScoreRecord> {
  const score = async (): Promise<ScoreRecord> => {
    const { id, type, threshold, signal, content, params, context } = asked;
    const request = toEvalRequest(type, { content, params, context });
    const { outcome, passed } = await run.score({ id, type, request, threshold, signal });
    // An eval that was cut off by the run or by the step timeout has no score to journal.
    if (signal.aborted && outcome.status === 'unscored' && outcome.error?.code === 'ABORTED') {
      throw new RuntimeError('ABORTED', outcome.error.message);
    }
    if (outcome.status === 'unscored') return { score: null, detail: outcome.reason, data: noData, passed };
    const { score, detail, data = noData } = outcome;
    return { score, detail, data, passed };
  };
  const { isDeferred = false, type, content, params } = asked;
  const work = async () => ({ ...(await score()), eval: type, content: composeJson(content), params });
  const kept = await journalStep(run.journal, { name, kind: scoreRecord }, work, { isDeferred });
  const { score: value, passed, detail, data } = kept;
  return { score: value, passed, detail, data };
}

const noData = new Json('null');

/** The THRESHOLD_MISSED fault of a score. */
export function thresholdFault(id: string, { score, detail }: ScoreRecord, threshold: Threshold) {
  const why = detail === '' ? '' : `: ${detail}`;
  const message =
    score === null
      ? `eval "${id}" could not be scored${why}`
      : `eval "${id}" scored ${formatNumber(score, Object.values(threshold))}, which is not ${boundsOf(threshold)}${why}`;
  return toFault(new RuntimeError('THRESHOLD_MISSED', message));
}

function boundsOf({ min_score, max_score }: Threshold): string {
  if (min_score !== undefined && max_score !== undefined) return `within ${min_score} to ${max_score}`;
  return max_score === undefined ? `at least ${min_score ?? 1}` : `at most ${max_score}`;
}
