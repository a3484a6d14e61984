import type { ChatMessage } from '../../contract/provider.ts';
import { isObject, Json, stringifyJson } from '../../json/json.ts';
import { exactMembers } from '../../json/members.ts';
import { scanElements } from '../../json/scan.ts';

/** A tool call that a model asks for; `args` is the text that it wrote. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** The arguments as hooks and their files are told them: an object, which is empty where the model wrote none. */
export function argsObject(args: string): Json {
  try {
    const json = new Json(args);
    return isObject(json.value) ? json : noArgs;
  } catch {
    return noArgs;
  }
}

const noArgs = new Json('{}');

/** What the hooks of all moments know a call by: the model's own id for it. */
export function idOf({ id }: Pick<AskedCall, 'id'>, callId: string): string {
  return id === '' ? callId : id;
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
