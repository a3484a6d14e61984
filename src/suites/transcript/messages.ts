import { isObject } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { datasetError } from '../dataset-error.ts';
import { type JsonObject, readList, requireObject, requireText } from './row-values.ts';

/**
 * Messages as OpenAI's API or PromptKit has them, with their whole text in `content`; their other members stay as
 * they are. Throws DATASET_INVALID.
 */
export function readMessages(value: unknown, place: string): readonly ChatMessage[] {
  return readList(value, place).map((item, index) => readMessage(item, `${place}[${index}]`));
}

function readMessage(value: unknown, place: string): ChatMessage {
  const message = requireObject(value, place);
  const role = readRole(message['role'], `${place}.role`);
  return { ...message, role, content: readContent(message, place) };
}

function readRole(value: unknown, place: string): ChatMessage['role'] {
  // OpenAI's newer name for the same thing.
  const role = value === 'developer' ? 'system' : roles.find((known) => known === value);
  if (role === undefined) throw datasetError(place, `one of ${roles.join(', ')}`, value);
  return role;
}

const roles = ['system', 'user', 'assistant', 'tool'] as const;

/** A message's own text, or where it has none that of PromptKit's `parts` or `tool_result`. */
function readContent(message: JsonObject, place: string): string {
  const content = textOf(message['content'], `${place}.content`);
  if (content !== '') return content;
  const { parts, tool_result: result } = message;
  if (Array.isArray(parts)) return textOf(parts, `${place}.parts`);
  if (!isObject(result)) return '';
  const resultText = textOf(result['content'], `${place}.tool_result.content`);
  return resultText === '' ? textOf(result['parts'], `${place}.tool_result.parts`) : resultText;
}

/** A text, or the texts of parts; an image or a recording has none. */
function textOf(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw datasetError(place, 'text or a list of parts', value);
  return value.map((part: unknown, index) => textOfPart(part, `${place}[${index}]`)).join('');
}

function textOfPart(value: unknown, place: string): string {
  const { type, text } = requireObject(value, place);
  return type === 'text' || typeof text === 'string' ? requireText(text, `${place}.text`) : '';
}
