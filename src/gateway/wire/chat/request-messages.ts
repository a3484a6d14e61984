import type { ChatMessage } from '../../../contract/provider.ts';
import type { ClientToolResult, WireRules } from '../codec.ts';
import { Leftovers } from '../leftovers.ts';
import type { Place } from '../place.ts';
import { type Content, readContent } from './content.ts';
import {
  type KnownCalls,
  type ReadMessage,
  readAssistantMessage,
  readTextMessage,
  readToolMessage,
} from './message.ts';
import { type ReadContext, requestSide } from './read-context.ts';
import type { ToldCall } from './tool-calls.ts';

/** The messages of a request. */
export interface RequestMessages {
  /** The contents of the system messages at the beginning. */
  readonly prompt: readonly Content[];
  /** The others, in order. */
  readonly messages: readonly ReadMessage[];
  readonly toolResults: readonly ClientToolResult[];
}

export interface ReadOptions {
  readonly rules: WireRules;
  /** Takes what the system messages at the beginning have beside their texts. */
  readonly leftovers: Leftovers;
  /** How many system messages at the beginning are the prompt; undefined: all. */
  readonly promptCount?: number | undefined;
}

export function readMessages(list: Place, { rules, leftovers, promptCount }: ReadOptions): RequestMessages {
  const prompt = readPrompt(list, { rules, leftovers, promptCount });
  const calls = new Map<string, ToldCall>();
  const toolResults: ClientToolResult[] = [];
  const messages = list.items.slice(prompt.length).map((place, index) => {
    const at = `messages[${prompt.length + index}]`;
    const context = { rules, at, leftovers: new Leftovers(), side: requestSide };
    const message = readMessage(place, calls, context);
    for (const call of message.calls) calls.set(call.id === '' ? call.name : call.id, call);
    if (message.told.role === 'tool')
      toolResults.push(toolResultOf(place, { told: message.told, calls, index }));
    return message;
  });
  return { prompt, messages, toolResults };
}

/** Leading messages of the system that are nothing but text. */
function readPrompt(list: Place, { rules, leftovers, promptCount }: ReadOptions): Content[] {
  const end = list.items.findIndex((place) => !isSystem(place));
  const places = list.items.slice(0, promptCount ?? (end === -1 ? undefined : end));
  const prompt: Content[] = [];
  for (const [index, place] of places.entries()) {
    const at = `messages[${index}]`;
    const own = new Leftovers();
    const content = readContent(place, { rules, at, leftovers: own, side: requestSide });
    if (content.parts?.some(({ type }) => type !== 'text') === true) break;
    own.addMembers(place, new Set(['role', 'content']));
    leftovers.addAll(own, at);
    prompt.push(content);
  }
  return prompt;
}

function isSystem(place: Place): boolean {
  const role = place.at('role')?.text;
  return role === 'system' || role === 'developer';
}

function readMessage(place: Place, calls: KnownCalls, context: ReadContext): ReadMessage {
  if (place.kind !== 'object') throw requestSide.invalid('is no message', context.at);
  const role = place.at('role')?.text;
  switch (role) {
    case 'system':
    case 'developer':
      return readTextMessage(place, 'system', context);
    case 'user':
      return readTextMessage(place, 'user', context);
    case 'assistant':
      return readAssistantMessage(place, context);
    case 'tool':
    case 'function':
      return readToolMessage(place, calls, context);
    default:
      throw requestSide.unknown(role, `${context.at}.role`);
  }
}

interface ResultOptions {
  readonly told: ChatMessage;
  readonly calls: KnownCalls;
  readonly index: number;
}

function toolResultOf(place: Place, { told, calls, index }: ResultOptions): ClientToolResult {
  const callId = place.at('tool_call_id')?.text ?? '';
  const call = calls.get(callId === '' ? (place.at('name')?.text ?? '') : callId);
  return {
    callId,
    call: call && { name: call.name, args: call.args },
    content: told.content,
    isError: false,
    index,
  };
}
