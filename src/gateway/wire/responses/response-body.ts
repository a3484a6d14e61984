import { randomUUID } from 'node:crypto';
import type { Substitute } from '../codec.ts';
import { messageItem } from './answer.ts';

/**
 * The body of a response whose text stands in the place of a model's: the native refusal is incomplete for the reason
 * `content_filter`.
 */
export function formatSubstitute({ text, end }: Substitute, model: string): string {
  const id = randomUUID().replaceAll('-', '');
  const isRefused = end === 'refused';
  const response = {
    ...openResponse(`resp_${id}`, model),
    status: isRefused ? 'incomplete' : 'completed',
    incomplete_details: isRefused ? { reason: 'content_filter' } : null,
    output: [{ ...messageItem(`msg_${id}`, text), ...(isRefused && { status: 'incomplete' }) }],
    usage: noUsage,
  };
  return JSON.stringify(response);
}

/** The body of a response at its beginning. */
export function formatOpenResponse(id: string, model: string): string {
  return JSON.stringify(openResponse(id, model));
}

/** The members that the openai package's `Response` requires. */
function openResponse(id: string, model: string): Readonly<Record<string, unknown>> {
  return {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
  };
}

const noUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};
