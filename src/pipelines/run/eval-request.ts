import { RuntimeError } from '../../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { TimedOutcome } from '../../calls/capability/eval.ts';
import { evalShape } from '../../calls/hooks/event-input.ts';
import { completeMessage } from '../../calls/hooks/replace.ts';
import type { EvalContext, EvalOutcome, EvalRequest } from '../../contract/eval.ts';
import type { NativeEvent } from '../../contract/hook.ts';

export interface EvalInput {
  readonly content: string;
  readonly params?: EvalRequest['params'] | undefined;
  readonly context?: Partial<EvalContext> | undefined;
}

/** Fills absent members with empty values. Throws USAGE naming every wrong or unknown member. */
export function toEvalRequest(type: string, input: EvalInput): EvalRequest {
  // Callers without TypeScript may pass anything.
  if (!isObject(input))
    throw new RuntimeError('USAGE', `the input of eval "${type}" is not an object with \`content\``);
  if (isTooDeep(input)) {
    throw new RuntimeError(
      'USAGE',
      `the input of eval "${type}" has more than ${MAX_JSON_DEPTH} nested levels`,
    );
  }
  const { content, params = {}, context = {} } = input;
  const problems = evalShape('input', { ...input, params: params instanceof Json ? params.value : params });
  if (problems.length > 0) {
    throw new RuntimeError('USAGE', `the input of eval "${type}" is not valid: ${problems.join('; ')}`);
  }
  const { messages = [], turn_index = 0, tool_calls = [], variables = {}, metadata = {} } = context;
  const { session_id, prompt_id } = context;
  return {
    type,
    params,
    content,
    context: {
      messages: messages.map(completeMessage),
      turn_index,
      tool_calls: tool_calls.map((call) => ({ ...emptyToolCall, ...call })),
      variables,
      metadata,
      ...(session_id !== undefined && { session_id }),
      ...(prompt_id !== undefined && { prompt_id }),
    },
  };
}

const emptyToolCall = { name: '', args: {}, result: '', error: '', index: 0 };

export interface FinishedEval {
  readonly id: string;
  readonly request: EvalRequest;
  readonly passed: boolean;
}

/** An unscored eval has no score; its reason is in `error`. */
export function toScoredEvent(
  { id, request, passed }: FinishedEval,
  { outcome, durationMs }: TimedOutcome,
): NativeEvent {
  const { type, context } = request;
  const { session_id, turn_index } = context;
  const about = { eval_id: id, type, passed, duration_ms: durationMs };
  const session = { ...(session_id !== undefined && { session_id }), turn_index };
  return { hook: 'eval', phase: 'scored', event: { ...about, ...toMembers(outcome), ...session } };
}

function toMembers(outcome: EvalOutcome) {
  if (outcome.status === 'unscored') return { error: outcome.reason };
  const { score, detail, data } = outcome;
  return { score, ...(detail !== '' && { explanation: detail }), ...(data && { details: data }) };
}
