import { type SseEvent, SseParser } from '../../../../src/gateway/wire/sse.ts';

type Frame = Readonly<Record<string, unknown>>;

const head = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 7,
  model: 'gpt',
  system_fingerprint: 'fp_1',
};

export function frame(delta: Frame, more: Frame = {}, index = 0): Frame {
  return { ...head, choices: [{ index, delta, logprobs: null, finish_reason: null, ...more }] };
}

export function beside(more: Frame): Frame {
  return { ...head, choices: [], ...more };
}

export function streamOf(frames: readonly unknown[]): string {
  return [...frames.map((each) => JSON.stringify(each)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

export function eventsOf(text: string): SseEvent[] {
  const parser = new SseParser(1_000_000);
  return [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
}

const role = frame({ role: 'assistant', content: '' });
const stop = frame({}, { finish_reason: 'stop' });
const call = (index: number, more: Frame) => frame({ tool_calls: [{ index, ...more }] });

export const streams: Readonly<Record<string, readonly Frame[]>> = {
  'a text': [role, frame({ content: 'Hel' }), frame({ content: 'lo' }), stop],
  'the role with the text': [frame({ role: 'assistant', content: 'Hello' }), stop],
  'a text with the end': [role, frame({ content: 'Hello' }, { finish_reason: 'length' })],
  'a usage': [
    role,
    frame({ content: 'Hi' }),
    stop,
    beside({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
  ],
  'a refusal': [
    frame({ role: 'assistant', content: null, refusal: '' }),
    frame({ refusal: 'No' }),
    frame({ refusal: '.' }),
    stop,
  ],
  'parallel tool calls': [
    frame({ role: 'assistant', content: null }),
    call(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
    call(0, { function: { arguments: '{"city":' } }),
    call(1, { id: 'call_2', type: 'function', function: { name: 'time', arguments: '' } }),
    call(0, { function: { arguments: '"Rome"}' } }),
    call(1, { function: { arguments: '{}' } }),
    frame({}, { finish_reason: 'tool_calls' }),
  ],
  'the older form of a call': [
    frame({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } }),
    frame({ function_call: { arguments: '{"a"' } }),
    frame({ function_call: { arguments: ':1}' } }),
    frame({}, { finish_reason: 'function_call' }),
  ],
  'a custom call': [
    frame({ role: 'assistant', content: null }),
    call(0, { id: 'call_1', type: 'custom', custom: { name: 'run', input: '' } }),
    call(0, { custom: { input: 'x = ' } }),
    call(0, { custom: { input: '1' } }),
    frame({}, { finish_reason: 'tool_calls' }),
  ],
  'two choices': [
    role,
    frame({ role: 'assistant', content: '' }, {}, 1),
    frame({ content: 'A' }),
    frame({ content: 'B' }, {}, 1),
    frame({ content: 'a' }),
    frame({}, { finish_reason: 'stop' }, 1),
    stop,
  ],
  'both choices in one frame': [
    {
      ...head,
      choices: [0, 1].map((index) => ({
        index,
        delta: { role: 'assistant', content: `${index}` },
        finish_reason: null,
      })),
    },
    { ...head, choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: 'stop' })) },
  ],
  // One piece only: the SDK keeps just the last piece of a member that it does not know.
  reasoning: [role, frame({ reasoning_content: 'Let me think' }), frame({ content: 'Hi' }), stop],
  logprobs: [
    role,
    frame(
      { content: 'A' },
      { logprobs: { content: [{ token: 'A', logprob: -1, bytes: [65], top_logprobs: [] }], refusal: null } },
    ),
    frame(
      { content: 'b' },
      { logprobs: { content: [{ token: 'b', logprob: -1, bytes: [98], top_logprobs: [] }], refusal: null } },
    ),
    stop,
  ],
  'filter results of Azure': [
    beside({
      id: '',
      model: '',
      prompt_filter_results: [
        { prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: 'safe' } } },
      ],
    }),
    role,
    frame({ content: 'Hi' }, { content_filter_results: { hate: { filtered: false, severity: 'safe' } } }),
    stop,
  ],
};
