import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';

/** A tool call that a model asks for; `args` is the text that it wrote. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** The arguments as an object for hooks and their files; an empty one if the model wrote no object. */
export function argsObject(args: string): Json {
  const json = tryJson(args);
  return json !== undefined && isObject(json.value) ? json : noArgs;
}

const noArgs = new Json('{}');

/** The id by which hooks know a call: the model's own, or else the call id. */
export function idOf({ id }: Pick<RequestedCall, 'id'>, callId: string): string {
  return id === '' ? callId : id;
}

/** The tool calls of an assistant message, in its order. */
export function toolCallsOf(message: ChatMessage): RequestedCall[] {
  const list = message['tool_calls'];
  if (list === undefined || list === null) return [];
  const text = stringifyJson(list);
  if (!text.startsWith('[')) return [];
  return elementsOf(new Json(text)).map((call) => {
    const members = exactMembers(call);
    const args = members.get('args');
    return {
      id: String(members.get('id')?.value ?? ''),
      name: String(members.get('name')?.value ?? ''),
      // Text that is no JSON object stands as a string; whoever reads arguments refuses it.
      args: typeof args?.value === 'string' ? args.value : (args?.text ?? ''),
    };
  });
}
