import type { EvalContext, EvalToolCall } from '../../../contract/eval.ts';
import type { CheckInput, ParamSpec } from '../check.ts';

/** The param that selects which calls are judged. */
export const scopeParam: ParamSpec = {
  schema: { enum: ['turn', 'conversation'] },
  default: 'turn',
  description:
    '`turn`: the calls since the last user message in `context.messages`, by their `index`; `conversation`: all calls.',
};

/** The calls of the turn, or all of them when `scope` says so. */
export function judgedCalls({ params, request: { context } }: CheckInput): readonly EvalToolCall[] {
  return params['scope'] === 'conversation' ? context.tool_calls : callsOfTurn(context);
}

/** The judged calls of the tool that a param names; of every tool without one. */
export function judgedCallsOf(input: CheckInput, param: 'tool' | 'tool_name'): readonly EvalToolCall[] {
  const name = input.params[param];
  const calls = judgedCalls(input);
  return name === undefined ? calls : calls.filter((call) => call.name === name);
}

/** The calls of the last turn; a call whose index is no earlier answer of the model counts as one of it. */
function callsOfTurn({ messages, tool_calls }: EvalContext): readonly EvalToolCall[] {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  return tool_calls.filter(({ index }) => index > start || messages[index]?.role !== 'assistant');
}
