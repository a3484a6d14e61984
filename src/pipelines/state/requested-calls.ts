import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';

export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** Returns an empty object if the model wrote no JSON object. */
export function argsObject(args: string): Json {
  const json = tryJson(args);
  return json !== undefined && isObject(json.value) ? json : noArgs;
}

const noArgs = new Json('{}');

/** The id that hooks see: the model's own, else the call id. */
export function idOf({ id }: Pick<RequestedCall, 'id'>, callId: string): string {
  return id === '' ? callId : id;
}

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
      // Text that is not JSON stays a string; the argument check rejects it.
      args: typeof args?.value === 'string' ? args.value : (args?.text ?? ''),
    };
  });
}
