import type { EvalContext, EvalToolCall } from '../../contract/eval.ts';
import type { Asked, ParamSpec } from '../check.ts';

/** Says which calls are looked at. */
export const scopeParam: ParamSpec = {
  schema: { enum: ['turn', 'conversation'] },
  default: 'turn',
  description:
    '`turn`: the calls since the last user message in `context.messages`, by their `index`; `conversation`: all calls.',
};

/** The calls of the turn, or all of them when `scope` says so. */
export function judgedCalls({ params, request: { context } }: Asked): readonly EvalToolCall[] {
  return params['scope'] === 'conversation' ? context.tool_calls : callsOfTurn(context);
}

/** The judged calls of the tool that a param names; of every tool without one. */
export function judgedCallsOf(asked: Asked, param: 'tool' | 'tool_name'): readonly EvalToolCall[] {
  const name = asked.params[param];
  const calls = judgedCalls(asked);
  return name === undefined ? calls : calls.filter((call) => call.name === name);
}

/** What points at no earlier answer of the model belongs to the turn: an index may be unknown. */
function callsOfTurn({ messages, tool_calls }: EvalContext): readonly EvalToolCall[] {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  return tool_calls.filter(({ index }) => index > start || messages[index]?.role !== 'assistant');
}
