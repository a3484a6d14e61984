import type { EvalContext, EvalToolCall } from '../../../contract/eval.ts';
import type { CheckInput, ParamSpec } from '../check.ts';

export const scopeParam: ParamSpec = {
  schema: { enum: ['turn', 'conversation'] },
  default: 'turn',
  description:
    '`turn`: the calls since the last user message in `context.messages`, by their `index`; `conversation`: all calls.',
};

export function judgedCalls({ params, request: { context } }: CheckInput): readonly EvalToolCall[] {
  return params['scope'] === 'conversation' ? context.tool_calls : callsOfTurn(context);
}

export function judgedCallsOf(input: CheckInput, param: 'tool' | 'tool_name'): readonly EvalToolCall[] {
  const name = input.params[param];
  const calls = judgedCalls(input);
  return name === undefined ? calls : calls.filter((call) => call.name === name);
}

/** A call whose index is not an earlier answer of the model belongs to the last turn. */
function callsOfTurn({ messages, tool_calls }: EvalContext): readonly EvalToolCall[] {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  return tool_calls.filter(({ index }) => index > start || messages[index]?.role !== 'assistant');
}
