import { stringifyJson } from '../../../src/base/json/json.ts';
import { halves, piecesOf, type Turn, type Wire, type WireEvent } from './turn.ts';

/** https://platform.openai.com/docs/api-reference/chat */
export const openai: Wire = {
  prefix: '/v1',
  isStream: ({ body }) => body['stream'] === true,
  body: (turn, { body }, serial) => ({
    id: `chatcmpl-${serial}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: body['model'],
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: turn.text === undefined ? null : piecesOf(turn).join(''),
          ...(turn.toolCalls && { tool_calls: toolCalls(turn, serial) }),
        },
        logprobs: null,
        finish_reason: finishOf(turn),
      },
    ],
    usage: usageOf(turn),
  }),
  events: (turn, { body }, serial) => {
    const head = {
      id: `chatcmpl-${serial}`,
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: body['model'],
    };
    const chunk = (delta: object, finish_reason: string | null = null): WireEvent => ({
      data: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] },
    });
    return [
      chunk({ role: 'assistant', content: turn.text === undefined ? null : '' }),
      ...piecesOf(turn).map((content) => chunk({ content })),
      ...toolCalls(turn, serial).flatMap((call, index) =>
        streamCall(call, index).map((delta) => chunk(delta)),
      ),
      chunk({}, finishOf(turn)),
      ...(wantsUsage(body) ? [{ data: { ...head, choices: [], usage: usageOf(turn) } }] : []),
      { data: '[DONE]' },
    ];
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'requests' : 'invalid_request_error', param: null, code: null },
  }),
  errorEvent: (message) => ({ data: { error: { message, type: 'server_error', param: null, code: null } } }),
};

function toolCalls({ toolCalls: calls = [] }: Turn, serial: number) {
  return calls.map(({ id, name, args }, index) => ({
    id: id ?? `call_${serial}_${index + 1}`,
    type: 'function',
    function: { name, arguments: stringifyJson(args) },
  }));
}

function streamCall(call: ReturnType<typeof toolCalls>[number], index: number): object[] {
  const start = { index, ...call, function: { name: call.function.name, arguments: '' } };
  const rest = halves(call.function.arguments).map((text) => ({ index, function: { arguments: text } }));
  return [start, ...rest].map((delta) => ({ tool_calls: [delta] }));
}

function finishOf({ finish, toolCalls: calls }: Turn): string {
  if (finish === 'length') return 'length';
  if (finish === 'filter') return 'content_filter';
  return calls === undefined ? 'stop' : 'tool_calls';
}

function usageOf({ usage = { input: 10, output: 5 } }: Turn) {
  if (usage === null) return null;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: (usage.input ?? 0) + (usage.output ?? 0),
  };
}

function wantsUsage(body: Readonly<Record<string, unknown>>): boolean {
  return JSON.stringify(body['stream_options'] ?? {}).includes('"include_usage":true');
}
