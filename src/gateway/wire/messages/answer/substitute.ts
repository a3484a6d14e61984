import type { Substitute } from '../../codec.ts';

/** A message that stands in the place of an answer. Its id tells that no upstream gave it. */
export function formatSubstitute({ text, end }: Substitute, model: string): string {
  const isRefused = end === 'refused';
  return JSON.stringify({
    id: 'msg_signalbox',
    type: 'message',
    role: 'assistant',
    model,
    content: text === '' ? [] : [{ type: 'text', text, citations: null }],
    stop_reason: isRefused ? 'refusal' : 'end_turn',
    stop_sequence: null,
    stop_details: isRefused ? { type: 'refusal', category: null, explanation: null } : null,
    container: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  });
}
