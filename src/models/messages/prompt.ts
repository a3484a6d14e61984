import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ChatMessage } from '../../contract/provider.ts';
import { describeMessage } from './message-description.ts';
import { rebuildMessages } from './rebuilt-messages.ts';

/** A prompt in the native dialect's form. */
export interface NativePrompt {
  readonly messages: readonly ChatMessage[];
  readonly system_prompt: string;
}

/** A prompt, and the messages that `fromPrompt` made of it. */
export interface SentPrompt {
  readonly prompt: LanguageModelV4Prompt;
  readonly messages: readonly ChatMessage[];
}

/**
 * A prompt of the AI SDK in native words. The system messages at its beginning are the system prompt; each
 * part of a tool message is a message of its own. Provider options and signatures stay behind.
 */
export function fromPrompt(prompt: LanguageModelV4Prompt): {
  readonly messages: ChatMessage[];
  readonly system_prompt: string;
} {
  const leading = leadingSystemMessages(prompt);
  const rest = prompt.slice(leading.length);
  return {
    messages: rest.flatMap((message) => describeMessage(message).map((described) => described.message)),
    system_prompt: systemText(leading),
  };
}

/**
 * Native messages as a prompt of the AI SDK. Unchanged messages are taken from `original`, with provider
 * options, files and signatures. Throws REPLY_MALFORMED when a message cannot be sent to a model.
 */
export function toPrompt(native: NativePrompt, original?: SentPrompt): LanguageModelV4Prompt {
  const prompt = original?.prompt ?? [];
  const leading = leadingSystemMessages(prompt);
  const rest = prompt.slice(leading.length);
  const system = buildSystem(native.system_prompt, leading);
  return [
    ...system,
    ...rebuildMessages(native.messages, { prompt: rest, messages: original?.messages ?? [] }),
  ];
}

type SystemMessage = Extract<LanguageModelV4Message, { role: 'system' }>;

function leadingSystemMessages(prompt: LanguageModelV4Prompt): SystemMessage[] {
  const leading: SystemMessage[] = [];
  for (const message of prompt) {
    if (message.role !== 'system') break;
    leading.push(message);
  }
  return leading;
}

function systemText(lead: readonly SystemMessage[]): string {
  return lead.map(({ content }) => content).join('\n\n');
}

/** A changed system prompt is one message, with the options of the last: a cache mark stands at the end. */
function buildSystem(text: string, lead: readonly SystemMessage[]): readonly SystemMessage[] {
  if (text === systemText(lead)) return lead;
  return text === '' ? [] : [{ ...lead.at(-1), role: 'system', content: text }];
}

/** The number of the model call in its turn, from 1; a turn begins with the last user message. */
export function roundOf(prompt: LanguageModelV4Prompt): number {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1);
  return 1 + turn.filter(({ role }) => role === 'assistant').length;
}
