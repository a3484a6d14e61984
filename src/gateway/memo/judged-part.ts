import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import type { Marks } from './marks.ts';

/** What a hook made of a message, or of the system prompt: nothing, or something else. */
export type PartVerdict = 'same' | 'changed';

/** The part of a request that a hook still has to judge. */
export interface UnjudgedPart {
  /** The request as it comes to the hook. */
  readonly whole: ProviderRequest;
  /** The names of its prefixes: of the system prompt, then with one message more each. */
  readonly names: readonly string[];
  /** Whether the hook is shown the system prompt. */
  readonly hasSystemPrompt: boolean;
  /** The indexes of the messages that the hook is shown, in order; the last message is always one of them. */
  readonly indexes: readonly number[];
  /** The request with these messages alone. */
  readonly shown: ProviderRequest;
}

/**
 * Leaves out what the hook has let pass as it was, at this place, behind these very messages. What it has changed is shown
 * to it again, so that it is changed again.
 */
export function findUnjudgedPart(
  whole: ProviderRequest,
  names: readonly string[],
  marks: Marks,
): UnjudgedPart {
  const verdicts = names.map((name) => marks.find(name));
  const { messages } = whole;
  // A gap in what is remembered: what is behind it was judged behind something that is forgotten.
  const unknown = verdicts.indexOf(undefined);
  const known = unknown === -1 ? verdicts.length : unknown;
  const isSettled = (place: number) => place < known && verdicts[place] === 'same';
  const indexes = messages.flatMap((_, index) =>
    isSettled(index + 1) && index < messages.length - 1 ? [] : [index],
  );
  const hasSystemPrompt = !isSettled(0);
  const shown = {
    ...whole,
    messages: pick(messages, indexes),
    ...(!hasSystemPrompt && { system_prompt: '' }),
  };
  return { whole, names, hasSystemPrompt, indexes, shown };
}

function pick(messages: readonly ChatMessage[], indexes: readonly number[]): readonly ChatMessage[] {
  return indexes.flatMap((index) => messages[index] ?? []);
}
