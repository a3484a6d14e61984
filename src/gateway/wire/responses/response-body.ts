import { randomUUID } from 'node:crypto';
import type { Substitute } from '../codec.ts';
import { Edits } from '../edits.ts';
import type { Place } from '../place.ts';
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

/** An id for a response of our own. */
export function newResponseId(): string {
  return `resp_${randomUUID().replaceAll('-', '')}`;
}

/** A response at its beginning, with the members that the openai package's `Response` requires. */
export function openResponse(id: string, model: string): Readonly<Record<string, unknown>> {
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

/** The response at its beginning: without what is told only at its end. */
export function openedResponse(root: Place): string {
  const edits = new Edits(root.source);
  replaceMembers(root, opened, edits);
  if (root.at('output_text') !== undefined) edits.remove(root, 'output_text');
  return edits.apply();
}

const opened: Readonly<Record<string, string>> = {
  status: '"in_progress"',
  output: '[]',
  usage: 'null',
  error: 'null',
  incomplete_details: 'null',
  completed_at: 'null',
};

/** The response as one that is complete. */
export function completedResponse(root: Place): string {
  const edits = new Edits(root.source);
  replaceMembers(root, { status: '"completed"', incomplete_details: 'null' }, edits);
  return edits.apply();
}

function replaceMembers(root: Place, members: Readonly<Record<string, string>>, edits: Edits): void {
  for (const [key, value] of Object.entries(members)) {
    const place = root.at(key);
    if (place !== undefined) edits.replace(place, value);
  }
}
