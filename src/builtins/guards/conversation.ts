import { isObject, stringifyJson } from '../../base/json/json.ts';
import { type JsonObject, requireList } from '../pii/payload.ts';

/** Every text of a request, by whoever: what an answer could carry elsewhere. */
export function conversationOf(request: JsonObject): readonly string[] {
  const messages = requireList(request['messages'], 'messages').filter(isObject);
  const texts = [request['system_prompt'], ...messages.flatMap(textsOf)];
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

function textsOf({ content, parts, tool_result }: JsonObject): readonly unknown[] {
  const rest = [parts, tool_result].filter((value) => value !== undefined && value !== null);
  return [content, ...rest.map((value) => stringifyJson(value))];
}
