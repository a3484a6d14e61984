import type { Fault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { ChatStep, Guardrail } from '../file/pipeline.ts';
import { journalScore, thresholdFault } from '../run/eval-step.ts';
import type { RunContext } from '../state/run-context.ts';
import { evaluateIn, type StepContext } from '../state/step-scope.ts';
import { evalContextOf } from './model-usage.ts';
import type { GuardrailResult, TurnState } from './turn-state.ts';

/** The results of all guardrails for one answer. */
export interface CheckedAnswer {
  readonly results: readonly GuardrailResult[];
  /** The fault of the first enforcing guardrail that the answer failed. */
  readonly fault?: Fault;
}

/** Scores the last answer of a turn with every guardrail, in their order. */
export async function checkAnswer(
  run: RunContext,
  chat: StepContext<ChatStep>,
  { state, attempt }: { readonly state: TurnState; readonly attempt: number },
): Promise<CheckedAnswer> {
  const results: GuardrailResult[] = [];
  let failing: Fault | undefined;
  for (const guardrail of chat.step.guardrails) {
    const path = `${chat.name}/attempt-${attempt}/guardrail-${guardrail.id}`;
    const scored = await journalScore(run, path, toRequest(run, chat, { guardrail, state }));
    const { score, passed, detail } = scored;
    results.push({ id: guardrail.id, action: guardrail.action, score, passed, detail });
    if (!passed && guardrail.action === 'enforce')
      failing ??= thresholdFault(guardrail.id, scored, guardrail.threshold ?? {});
  }
  return failing === undefined ? { results } : { results, fault: failing };
}

function toRequest(
  run: RunContext,
  { step, scope }: StepContext<ChatStep>,
  { guardrail, state }: { readonly guardrail: Guardrail; readonly state: TurnState },
) {
  const { id, type, threshold } = guardrail;
  const params = evaluateIn(scope, guardrail.params);
  const given = evaluateIn(scope, guardrail.context);
  const { variables, metadata } = isObject(given) ? given : {};
  const { vars } = scope.variables;
  const { provider = step.provider, model = state.model } = state.answer ?? {};
  const latencyMs = Math.round(performance.now() - state.startedAt);
  const toolCalls = state.toolCalls.map(({ name, args, content, error, index }) => {
    return { name, args, result: content, error, index };
  });
  const { messages, usage } = state;
  const seen = evalContextOf([{ messages, toolCalls, usage, provider, model }], latencyMs);
  return {
    id,
    type,
    threshold,
    signal: scope.signal,
    content: state.answer?.message.content ?? '',
    params: isObject(params) ? Json.from(params) : new Json('{}'),
    context: {
      session_id: run.session.id,
      turn_index: run.session.turns,
      ...seen,
      variables: { ...(isObject(vars) && vars), ...(isObject(variables) && variables) },
      // What was measured is not for the file to say.
      metadata: { ...(isObject(metadata) && metadata), ...seen.metadata },
    },
  };
}

/** The feedback for the model about an answer that failed enforcing guardrails. */
export function feedbackOf({ results }: CheckedAnswer): string {
  const complaints = results
    .filter(({ passed, action }) => !passed && action === 'enforce')
    .map(({ id, detail }) => `- ${id}${detail === '' ? '' : `: ${detail}`}`);
  return ['Your answer did not pass these checks. Answer again, so that it does.', ...complaints].join('\n');
}
