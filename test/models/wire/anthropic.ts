import { stringifyJson } from '../../../src/base/json/json.ts';
import { halves, piecesOf, type Turn, type Wire, type WireEvent } from './turn.ts';

/** https://docs.anthropic.com/en/api/messages */
export const anthropic: Wire = {
  prefix: '/v1',
  isStream: ({ body }) => body['stream'] === true,
  body: (turn, { body }, serial) => ({
    ...head(body['model'], serial),
    content: blocksOf(turn, serial),
    stop_reason: stopOf(turn),
    stop_sequence: null,
    usage: usageOf(turn),
  }),
  events: (turn, { body }, serial) => [
    event('message_start', {
      message: {
        ...head(body['model'], serial),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usageOf(turn), output_tokens: 1 },
      },
    }),
    event('ping', {}),
    ...blocksOf(turn, serial).flatMap((block, index) => [
      event('content_block_start', { index, content_block: emptied(block) }),
      ...deltasOf(turn, block).map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: { stop_reason: stopOf(turn), stop_sequence: null },
      usage: { output_tokens: usageOf(turn).output_tokens },
    }),
    event('message_stop', {}),
  ],
  error: (status, message) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'api_error', message },
  }),
  errorEvent: (message) => event('error', { error: { type: 'overloaded_error', message } }),
};

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function event(type: string, members: object): WireEvent {
  return { event: type, data: { type, ...members } };
}

function head(model: unknown, serial: number) {
  return { id: `msg_${serial}`, type: 'message', role: 'assistant', model };
}

function blocksOf(turn: Turn, serial: number) {
  return [
    ...(turn.text === undefined ? [] : [{ type: 'text' as const, text: piecesOf(turn).join('') }]),
    ...(turn.toolCalls ?? []).map(({ name, args }, index) => ({
      type: 'tool_use' as const,
      id: `toolu_${serial}_${index + 1}`,
      name,
      input: args,
    })),
  ];
}

type Block = ReturnType<typeof blocksOf>[number];

function emptied(block: Block): object {
  return block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} };
}

function deltasOf(turn: Turn, block: Block): object[] {
  if (block.type === 'text') return piecesOf(turn).map((text) => ({ type: 'text_delta', text }));
  return ['', ...halves(stringifyJson(block.input))].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }));
}

function stopOf({ finish, toolCalls }: Turn): string {
  if (finish === 'length') return 'max_tokens';
  if (finish === 'filter') return 'refusal';
  return toolCalls === undefined ? 'end_turn' : 'tool_use';
}

function usageOf({ usage }: Turn) {
  return {
    input_tokens: usage?.input ?? 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: usage?.output ?? 5,
  };
}
