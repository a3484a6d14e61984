import { isObject, type Json } from '../../base/json/json.ts';
import type { TurnEvent } from '../../contract/hook.ts';
import type { ChatMessage, ModelOptions, ProviderRequest, ToolListing } from '../../contract/provider.ts';
import type { Turn } from '../../contract/turn.ts';

type Parts = ReadonlyMap<string, Json>;

/** Applies the replacements of a turn event to its turn. Throws Error when a part has the wrong shape. */
export function applyToTurn(event: TurnEvent, parts: Parts): TurnEvent {
  const { turn } = event;
  switch (event.phase) {
    case 'prompt': {
      const prompt = textAt(parts, 'prompt');
      if (prompt === undefined) return event;
      return { ...event, turn: { ...turn, prompt, messages: withPrompt(turn.messages, prompt) } };
    }
    case 'system_prompt': {
      const system_prompt = textAt(parts, 'system_prompt');
      return system_prompt === undefined ? event : { ...event, turn: { ...turn, system_prompt } };
    }
    case 'tool_list':
      return { ...event, turn: { ...turn, tools: chooseTools(turn.tools, parts.get('tools')) } };
    default:
      return event;
  }
}

/**
 * Reads a replaced model, tools and options of a model call. Throws Error when a part has the wrong shape.
 */
export function readModelChanges(
  parts: Parts,
): Partial<Pick<ProviderRequest, 'tools' | 'model' | 'options'>> {
  const model = textAt(parts, 'model');
  const tools = parts.get('tools')?.value;
  const options = parts.get('options')?.value;
  return {
    ...(model !== undefined && { model }),
    ...(tools !== undefined && { tools: readTools(tools) }),
    ...(options !== undefined && { options: readOptions(options) }),
  };
}

/** The conversation with its newest user message replaced. */
export function withPrompt(messages: readonly ChatMessage[], prompt: string): ChatMessage[] {
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => (index === newest ? { role: 'user', content: prompt } : message));
}

function chooseTools(tools: Turn['tools'], choice: Json | undefined): Turn['tools'] {
  if (choice === undefined) return tools;
  const { value } = choice;
  if (!isObject(value)) throw new Error('`tools` is not an object');
  const include = namesAt(value, 'include');
  const exclude = namesAt(value, 'exclude') ?? [];
  return tools.filter(
    ({ name }) => (include === undefined || include.includes(name)) && !exclude.includes(name),
  );
}

function namesAt(choice: Readonly<Record<string, unknown>>, key: string): readonly unknown[] | undefined {
  const names = choice[key];
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) throw new Error(`\`tools.${key}\` is not a list`);
  return names;
}

function readTools(value: unknown): ToolListing[] {
  if (!Array.isArray(value)) throw new Error('`tools` is not a list');
  return value.map((tool) => {
    const { name, description = '', input_schema } = isObject(tool) ? tool : {};
    if (typeof name !== 'string' || name === '') throw new Error('`tools` holds a tool without a name');
    if (typeof description !== 'string') throw new Error(`the description of tool "${name}" is not a text`);
    return { name, description, input_schema: isObject(input_schema) ? input_schema : { type: 'object' } };
  });
}

function readOptions(value: unknown): ModelOptions {
  if (!isObject(value)) throw new Error('`options` is not an object');
  const { max_tokens, temperature } = value;
  return {
    ...(max_tokens !== undefined && { max_tokens: numberOf('max_tokens', max_tokens) }),
    ...(temperature !== undefined && { temperature: numberOf('temperature', temperature) }),
  };
}

function numberOf(name: string, value: unknown): number {
  if (typeof value === 'number') return value;
  throw new Error(`\`options.${name}\` is not a number`);
}

function textAt(parts: Parts, key: string): string | undefined {
  const value = parts.get(key)?.value;
  if (value === undefined || typeof value === 'string') return value;
  throw new Error(`\`${key}\` is not a text`);
}
