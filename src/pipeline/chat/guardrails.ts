import type { Fault } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Guardrail } from '../file/model.ts';
import { journalScore, type KeptScore, missed } from '../run/eval.ts';
import type { RunContext } from '../state/run-context.ts';
import { evaluateIn } from '../state/scope.ts';
import type { ChatPlace, GuardrailResult, Talk } from './turn-state.ts';

/** What the guardrails of an answer came to. */
export interface CheckedAnswer {
  readonly results: readonly GuardrailResult[];
  /** Of the first enforcing guardrail that the answer failed. */
  readonly failing?: Fault;
}

/** Scores the last answer of a turn with every guardrail, in their order. */
export async function checkAnswer(
  run: RunContext,
  place: ChatPlace,
  { talk, attempt }: { readonly talk: Talk; readonly attempt: number },
): Promise<CheckedAnswer> {
  const results: GuardrailResult[] = [];
  let failing: Fault | undefined;
  for (const guardrail of place.step.guardrails) {
    const path = `${place.name}/attempt-${attempt}/guardrail-${guardrail.id}`;
    const kept = await journalScore(run, path, toRequest(run, place, { guardrail, talk }));
    const { score, passed, detail } = kept;
    results.push({ id: guardrail.id, action: guardrail.action, score, passed, detail });
    if (!passed && guardrail.action === 'enforce') failing ??= faultOf(guardrail, kept);
  }
  return failing === undefined ? { results } : { results, failing };
}

function toRequest(
  run: RunContext,
  { scope }: ChatPlace,
  { guardrail, talk }: { readonly guardrail: Guardrail; readonly talk: Talk },
) {
  const { id, type, threshold } = guardrail;
  const params = evaluateIn(scope, guardrail.params);
  return {
    id,
    type,
    threshold,
    signal: scope.signal,
    content: talk.answer?.message.content ?? '',
    params: isObject(params) ? Json.from(params) : new Json('{}'),
    context: {
      session_id: run.session.id,
      turn_index: run.session.turns,
      messages: talk.messages,
      tool_calls: talk.toolCalls.map(({ name, args, content, error, index }) => ({
        name,
        args,
        result: content,
        error,
        index,
      })),
    },
  };
}

function faultOf({ id, threshold }: Guardrail, kept: KeptScore): Fault {
  return missed(id, kept, threshold ?? {});
}

/** What the model is told about an answer that did not pass. */
export function feedbackOf({ results }: CheckedAnswer): string {
  const complaints = results
    .filter(({ passed, action }) => !passed && action === 'enforce')
    .map(({ id, detail }) => `- ${id}${detail === '' ? '' : `: ${detail}`}`);
  return ['Your answer did not pass these checks. Answer again, so that it does.', ...complaints].join('\n');
}
