import type { ChatMessage } from '../../contract/provider.ts';

/** The text of the last assistant message; undefined when there is no assistant message. */
export function lastAnswer(messages: readonly ChatMessage[]): string | undefined {
  return messages.findLast(({ role }) => role === 'assistant')?.content;
}
