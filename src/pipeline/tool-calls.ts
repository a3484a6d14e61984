import type { ChatMessage } from '../contract/provider.ts';
import { Json, stringifyJson } from '../json.ts';
import { scanElements } from '../json-text.ts';
import { exactMembers } from './exact.ts';

/** A tool call that a model asks for; `args` is the text that it wrote. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** The tool calls of an assistant message, in its order. */
export function toolCallsOf(message: ChatMessage): AskedCall[] {
  const list = message['tool_calls'];
  if (list === undefined || list === null) return [];
  const text = stringifyJson(list);
  return scanElements(text).map(({ start, end }) => {
    const members = exactMembers(new Json(text.slice(start, end)));
    const args = members.get('args');
    return {
      id: String(members.get('id')?.value ?? ''),
      name: String(members.get('name')?.value ?? ''),
      // Text that is no JSON object stands as a string; whoever reads arguments refuses it.
      args: typeof args?.value === 'string' ? args.value : (args?.text ?? ''),
    };
  });
}
