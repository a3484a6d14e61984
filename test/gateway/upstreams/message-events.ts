import { isObject } from '../../../src/base/json/json.ts';

type Members = Readonly<Record<string, unknown>>;

export interface Telling {
  readonly cut: (text: string) => readonly string[];
  readonly newline?: '\n' | '\r\n';
  readonly hasPings?: boolean;
}

export function tellMessage(message: Members, { cut, newline = '\n', hasPings = false }: Telling): string {
  const data = [...dataOf(message, cut)];
  const all = hasPings ? data.flatMap((event) => [event, { type: 'ping' }]) : data;
  return all
    .map(
      (event) =>
        `event: ${String(event['type'])}${newline}data: ${JSON.stringify(event)}${newline}${newline}`,
    )
    .join('');
}

function* dataOf(message: Members, cut: Telling['cut']): Generator<Members> {
  const { content, stop_reason, stop_sequence, stop_details, usage, ...rest } = message;
  const late = Object.fromEntries(lateMembers.flatMap((key) => (key in rest ? [[key, rest[key]]] : [])));
  const container = rest['container'];
  const begun = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage };
  yield { type: 'message_start', message: begun };
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    if (isObject(block)) yield* tellBlock(index, block, cut);
  }
  yield {
    type: 'message_delta',
    delta: {
      stop_reason,
      stop_sequence,
      ...(stop_details !== undefined && { stop_details }),
      ...(container !== undefined && { container }),
    },
    ...late,
    usage: { output_tokens: isObject(usage) ? usage['output_tokens'] : 0 },
  };
  yield { type: 'message_stop' };
}

const lateMembers = ['context_management'];

function* tellBlock(index: number, block: Members, cut: Telling['cut']): Generator<Members> {
  const { begun, deltas } = divide(block, cut);
  yield { type: 'content_block_start', index, content_block: begun };
  for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
  yield { type: 'content_block_stop', index };
}

function divide(
  block: Members,
  cut: Telling['cut'],
): { readonly begun: Members; readonly deltas: readonly Members[] } {
  const { type, text, citations, thinking, signature, input, content } = block;
  switch (type) {
    case 'text':
      return {
        begun: { ...block, text: '', ...(Array.isArray(citations) && { citations: [] }) },
        deltas: [
          ...cut(String(text)).map((piece) => ({ type: 'text_delta', text: piece })),
          ...(Array.isArray(citations) ? citations : []).map((citation: unknown) => ({
            type: 'citations_delta',
            citation,
          })),
        ],
      };
    case 'thinking':
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          ...cut(String(thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
          { type: 'signature_delta', signature },
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return {
        begun: { ...block, input: {} },
        deltas: ['', ...cut(JSON.stringify(input))].map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      };
    case 'compaction':
      return {
        begun: { ...block, content: null },
        deltas: [{ type: 'compaction_delta', content, encrypted_content: block['encrypted_content'] }],
      };
    default:
      return { begun: block, deltas: [] };
  }
}
