import type { ChatMessage } from '../../../contract/provider.ts';
import { isObject, Json } from '../../../json/json.ts';
import { elementsOf, membersOf } from '../../../json/scan.ts';
import { malformed, nonNull } from '../../body.ts';
import { foldObject, requireList } from '../json-parts.ts';

/** TOOLCALLs of an assistant message; `arguments` is the text that the model wrote. */
export function toToolCalls(message: ChatMessage) {
  const list = message['tool_calls'];
  if (list === undefined || list === null) return [];
  return elementsOf(Json.from(list)).map((call) => {
    const { id, name, args } = membersOf(call);
    const text = typeof args?.value === 'string' ? args.value : (args?.text ?? '');
    return {
      id: String(id?.value ?? ''),
      type: 'function',
      function: { name: String(name?.value ?? ''), arguments: text },
    };
  });
}

/** A tool call in neutral words. */
export interface NeutralCall {
  readonly id: string;
  readonly name: string;
  /** A text that is no JSON object stays a string; argument validation rejects it. */
  readonly args: Json | string;
}

/** The TOOLCALLs of a list; none for null. Throws REPLY_MALFORMED where one has no name or no argument text. */
export function fromToolCalls(list: Json | undefined, what: string): NeutralCall[] {
  const given = nonNull(list);
  if (given === undefined) return [];
  return requireList(given, what).map((call, index) => fromToolCall(call, `${what}[${index}]`));
}

function fromToolCall(call: Json, what: string): NeutralCall {
  const body = foldObject(call, what, ['id', 'function']);
  const id = nonNull(body.get('id'))?.value ?? '';
  const own = nonNull(body.get('function'));
  if (typeof id !== 'string') throw malformed(`the id of ${what} is not a string`);
  if (own === undefined) throw malformed(`${what} has no \`function\``);
  const called = foldObject(own, `\`function\` of ${what}`, ['name', 'arguments']);
  const { name, arguments: args } = membersOf(called.json);
  if (typeof name?.value !== 'string' || name.value === '') throw malformed(`${what} has no name`);
  if (typeof args?.value !== 'string') throw malformed(`the arguments of ${what} are not JSON text`);
  return { id, name: name.value, args: parseArguments(args.value) };
}

function parseArguments(text: string): Json | string {
  try {
    const json = new Json(text.trim());
    return isObject(json.value) ? json : text;
  } catch {
    return text;
  }
}
