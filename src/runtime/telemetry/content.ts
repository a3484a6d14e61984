import type { Span } from '@opentelemetry/api';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import type { ModelExchange } from '../../contract/decision.ts';
import type { ToolContent } from '../../contract/event.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { contentNames } from './attributes.ts';

/** Adds a model call as the hooks left it. A withheld answer is not in it. */
export function addExchange(span: Span, exchange: ModelExchange, text: (value: string) => string): void {
  const { request, answers } = exchange;
  const { system_prompt: system, messages } = request;
  const add = (name: string, value: unknown) => span.setAttribute(name, text(stringifyJson(value)));
  if (system !== '') add(contentNames.system, [{ type: 'text', content: system }]);
  add(contentNames.input, messages.map(toMessage));
  if (answers.length > 0) add(contentNames.output, answers.map(toAnswer));
}

/** Adds what a tool call sent and returned, as the hooks left it. */
export function addToolContent(
  span: Span,
  { args, result }: ToolContent,
  text: (value: string) => string,
): void {
  span.setAttribute(contentNames.args, text(args.text));
  if (result !== undefined) span.setAttribute(contentNames.result, text(result.text));
}

/** Source: the schemas gen-ai-input-messages.json and gen-ai-output-messages.json of the conventions. */
function toMessage(message: ChatMessage) {
  const { role, content, tool_calls: calls, tool_result: result } = message;
  if (role === 'tool')
    return { role, parts: [{ type: 'tool_call_response', id: idOf(result), result: content }] };
  const texts = content === '' ? [] : [{ type: 'text', content }];
  return { role, parts: [...texts, ...(Array.isArray(calls) ? calls.filter(isObject).map(toCall) : [])] };
}

function toAnswer(message: ChatMessage) {
  return { ...toMessage(message), finish_reason: message['finish_reason'] ?? 'stop' };
}

function toCall({ id, name, args }: Readonly<Record<string, unknown>>) {
  return { type: 'tool_call', id, name, arguments: args };
}

function idOf(result: unknown): unknown {
  return isObject(result) ? result['id'] : undefined;
}
