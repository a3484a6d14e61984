import { type Fault, toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { completeMessage } from '../../calls/hooks/message.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import type { ModelAnswer } from '../state/answer-record.ts';
import { failedStep, type StepOutcome } from '../state/step-outcome.ts';
import { transientOfModel } from '../suspend/transient-fault.ts';
import { hookContextOf, notifyTurn, stopTurn, type TurnContext } from '../turn-hooks.ts';
import { journalModelCall } from './journaled-model-call.ts';
import { usageOfFailedCall } from './model-usage.ts';
import { takeExtraContext } from './session-context.ts';
import { isReleasedAtEnd } from './text-release.ts';
import { viewOf } from './turn-state.ts';

/** Asks the model once and adds its answer to the turn. Returns the outcome when the call failed. */
export async function requestAnswer(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  const { run, chat, state } = turn;
  const { step, name, scope } = chat;
  const isLate = isReleasedAtEnd(turn);
  const extraTexts = await takeExtraContext(run, path);
  if (extraTexts.length > 0)
    state.messages.push(completeMessage({ role: 'user', content: extraTexts.join('\n') }));
  let isNew = false;
  const answer = await journalModelCall(run, path, {
    step,
    state,
    hookContext: hookContextOf(turn),
    signal: scope.signal,
    onCall: (asked) => void notifyTurn(turn, { phase: 'model_asked' }, asked),
    onRetry: ({ attempt: retry, maxRetries: max_retries, error, backoffMs: backoff_ms }) =>
      void notifyTurn(turn, {
        phase: 'model_retried',
        retry,
        max_retries,
        error: toFault(error),
        backoff_ms,
      }),
    isRetried: () => {
      if (state.retriesLeft === 0) return false;
      state.retriesLeft -= 1;
      return true;
    },
    onAnswer: () => {
      isNew = true;
    },
    onText: (text) => {
      if (!isLate) run.emit({ type: 'text', run: run.journal.runId, step: name, text });
    },
  });
  if ('error' in answer) return await failRound(turn, answer.error, path);
  addAnswer(turn, answer);
  if (isNew) await notifyTurn(turn, { phase: 'model_answered', message: answer.message });
  return undefined;
}

async function failRound(turn: TurnContext, error: Fault, path: string): Promise<StepOutcome> {
  const { details } = error;
  turn.state.usage.push(...usageOfFailedCall(error));
  turn.state.failedOpen.push(...failedOpenIn(Json.from(details?.['metadata'] ?? {})));
  if (error.code !== 'DENIED') await notifyTurn(turn, { phase: 'error', stage: 'llm', error });
  else if (details?.['abort'] !== undefined) {
    const { hook, reason, abort } = details;
    const stopped = {
      hook: String(hook),
      reason: String(reason),
      isSession: abort === 'session',
      metadata: details['metadata'],
    };
    return stopTurn(turn, stopped);
  }
  const outcome = failedStep(error.code === 'DENIED' ? 'denied' : 'failed', error, viewOf(turn.state, ''));
  const transient = transientOfModel(error, path);
  return transient === undefined ? outcome : { ...outcome, transient };
}

function addAnswer({ state }: TurnContext, answer: ModelAnswer): void {
  state.rounds += 1;
  state.answer = answer;
  state.messages.push(answer.message);
  state.failedOpen.push(...failuresAround(answer));
  const { usage, cost_usd } = answer;
  state.usage.push({ ...usage, ...(cost_usd !== undefined && { cost_usd }) });
}

/** The hooks that failed open at before_call and after_call of a model call. */
function failuresAround({ metadata: { value } }: ModelAnswer): FailedOpen[] {
  return ['before_call', 'after_call'].flatMap((phase) => {
    const report = isObject(value) ? value[phase] : undefined;
    return failedOpenIn(Json.from(isObject(report) ? report['metadata'] : {}));
  });
}
