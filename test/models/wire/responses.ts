import { stringifyJson } from '../../../src/base/json/json.ts';
import { halves, piecesOf, type Turn, type Wire, type WireEvent } from './turn.ts';

/** https://platform.openai.com/docs/api-reference/responses */
export const responses: Wire = {
  prefix: '/v1',
  isStream: ({ body }) => body['stream'] === true,
  body: (turn, { body }, serial) => complete(turn, body['model'], serial),
  events: (turn, { body }, serial) => {
    const opened = {
      ...complete(turn, body['model'], serial),
      status: 'in_progress',
      output: [],
      usage: null,
    };
    const events: WireEvent[] = [
      event('response.created', { response: opened }),
      event('response.in_progress', { response: opened }),
      ...itemsOf(turn, serial).flatMap((item, index) =>
        item.type === 'message' ? streamMessage(turn, item, index) : streamCall(item, index),
      ),
      event(
        turn.finish === undefined || turn.finish === 'stop' ? 'response.completed' : 'response.incomplete',
        {
          response: complete(turn, body['model'], serial),
        },
      ),
    ];
    return events.map(({ data, ...rest }, sequence_number) => ({
      ...rest,
      data: { ...(typeof data === 'object' ? data : {}), sequence_number },
    }));
  },
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_error' : 'invalid_request_error',
      param: null,
      code: null,
    },
  }),
  errorEvent: (message) =>
    event('error', { code: 'server_error', message, param: null, sequence_number: 99 }),
};

function event(type: string, members: object): WireEvent {
  return { event: type, data: { type, ...members } };
}

function complete(turn: Turn, model: unknown, serial: number) {
  const { input = 0, output = 0 } = turn.usage ?? { input: 10, output: 5 };
  const isCut = turn.finish === 'length' || turn.finish === 'filter';
  return {
    id: `resp_${serial}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut
      ? { reason: turn.finish === 'length' ? 'max_output_tokens' : 'content_filter' }
      : null,
    model,
    output: itemsOf(turn, serial),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

function itemsOf(turn: Turn, serial: number) {
  const text = piecesOf(turn).join('');
  const message = {
    type: 'message' as const,
    id: `msg_${serial}`,
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const calls = (turn.toolCalls ?? []).map(({ name, args }, index) => ({
    type: 'function_call' as const,
    id: `fc_${serial}_${index + 1}`,
    call_id: `call_${serial}_${index + 1}`,
    status: 'completed',
    name,
    arguments: stringifyJson(args),
  }));
  return [...(turn.text === undefined ? [] : [message]), ...calls];
}

type Item = ReturnType<typeof itemsOf>[number];

function streamMessage(
  turn: Turn,
  item: Extract<Item, { type: 'message' }>,
  output_index: number,
): WireEvent[] {
  const place = { item_id: item.id, output_index, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  const text = piecesOf(turn).join('');
  return [
    event('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    }),
    event('response.content_part.added', { ...place, part }),
    ...piecesOf(turn).map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.content_part.done', { ...place, part: { ...part, text } }),
    event('response.output_item.done', { output_index, item }),
  ];
}

function streamCall(item: Extract<Item, { type: 'function_call' }>, output_index: number): WireEvent[] {
  const place = { item_id: item.id, output_index };
  return [
    event('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', arguments: '' },
    }),
    ...halves(item.arguments).map((delta) =>
      event('response.function_call_arguments.delta', { ...place, delta }),
    ),
    event('response.function_call_arguments.done', { ...place, arguments: item.arguments }),
    event('response.output_item.done', { output_index, item }),
  ];
}
