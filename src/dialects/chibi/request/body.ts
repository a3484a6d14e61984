import type { ChatMessage, ToolListing } from '../../../contract/provider.ts';
import type { Turn } from '../../../contract/turn.ts';
import { isObject, Json, stringifyJson } from '../../../json/json.ts';
import { memberOf, scanElements, scanMembers } from '../../../json/scan.ts';
import type { Payload } from '../../foreign-dialect.ts';

/** What goes to the model, as chibi's request body has it. Source: docs/hooks.md, pre_api_request. */
export function describeBody({ model, system_prompt, messages, tools, options }: Turn): Payload {
  const system = system_prompt === '' ? [] : [{ role: 'system', content: system_prompt }];
  const { max_tokens, temperature } = options;
  return {
    model,
    messages: [...system, ...messages.map(describeMessage)],
    ...(tools.length > 0 && { tools: tools.map(describeTool) }),
    stream: false,
    ...(max_tokens !== undefined && { max_tokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

/** A message in the form of a request body; members that the form does not have are left out. */
export function describeMessage(message: ChatMessage): Payload {
  const { role, content } = message;
  const calls = callsOf(message);
  if (role === 'tool') return { role, tool_call_id: callIdOf(message), content };
  return { role, content, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** The call that a tool's message answers; '' where it answers none. */
export function callIdOf({ tool_result: result }: ChatMessage): string {
  const { value } = Json.from(result ?? {});
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'string' ? id : '';
}

/** The arguments of a call are a text that holds JSON. */
function callsOf({ tool_calls: calls }: ChatMessage): Payload[] {
  const text = stringifyJson(calls ?? []);
  return scanElements(text).map(({ start, end }) => {
    const call = text.slice(start, end);
    const members = scanMembers(call);
    const textAt = (key: string) => memberOf(call, members, key) ?? new Json('""');
    const args = textAt('args');
    const written = typeof args.value === 'string' ? args.value : args.text;
    return { id: textAt('id'), type: 'function', function: { name: textAt('name'), arguments: written } };
  });
}

function describeTool({ name, description, input_schema }: ToolListing): Payload {
  return { type: 'function', function: { name, description, parameters: input_schema } };
}
