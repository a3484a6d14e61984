/** Part of everything that the upstream sends. No client may receive it. */
export const secret = 'QUETZALCOATL';

export interface Call {
  readonly title: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
  /** Hooks also check its answer. */
  readonly isJudgedAfter: boolean;
  /** The answer of a working upstream: JSON, or events. */
  readonly answer: string;
}

const json = (value: unknown) => JSON.stringify(value);
const event = (data: { readonly type?: string; readonly id?: string }) =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${json(data)}\n\n`;

const messages = [{ role: 'user', content: 'Hi' }];
const chunk = (delta: object, finish: string | null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const output = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', annotations: [], logprobs: [], text: secret }],
};
const response = (status: string, given: readonly object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  error: null,
  incomplete_details: null,
  model: 'm-responses',
  output: given,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm-messages',
  content: [{ type: 'text', text: secret }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

const whole = { isStream: false, isJudgedAfter: true };
const streamed = { isStream: true, isJudgedAfter: true };
const chat = { title: 'chat', path: '/v1/chat/completions', body: { model: 'm-chat', messages } };
const responses = { title: 'responses', path: '/v1/responses', body: { model: 'm-responses', input: 'Hi' } };
const anthropic = {
  title: 'messages',
  path: '/v1/messages',
  body: { model: 'm-messages', max_tokens: 10, messages },
};

const inStream = (call: { readonly title: string; readonly path: string; readonly body: object }) => ({
  ...call,
  title: `${call.title}, streamed`,
  body: { ...call.body, stream: true },
  ...streamed,
});

export const calls: readonly Call[] = [
  {
    ...chat,
    ...whole,
    answer: json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: secret }, finish_reason: 'stop' }],
    }),
  },
  {
    ...inStream(chat),
    answer: `${event(chunk({ role: 'assistant', content: secret }, null))}${event(chunk({}, 'stop'))}data: [DONE]\n\n`,
  },
  { ...responses, ...whole, answer: json(response('completed', [output])) },
  { ...inStream(responses), answer: responseEvents() },
  { ...anthropic, ...whole, answer: json(message) },
  { ...inStream(anthropic), answer: messageEvents() },
  {
    title: 'embeddings',
    path: '/v1/embeddings',
    body: { model: 'm-chat', input: 'Hi' },
    isStream: false,
    isJudgedAfter: false,
    answer: json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  },
  {
    title: 'count_tokens',
    path: '/v1/messages/count_tokens',
    body: { model: 'm-messages', messages },
    isStream: false,
    isJudgedAfter: false,
    answer: json({ input_tokens: 3 }),
  },
];

export function endOf({ isStream, answer }: Call): string {
  const last = answer.trimEnd().split('\n\n').at(-1) ?? '';
  return isStream ? (last.split('\n')[0] ?? '') : last.slice(-15);
}

function responseEvents(): string {
  const part = output.content[0];
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return [
    { type: 'response.created', sequence_number: 0, response: response('in_progress', []) },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...output, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', sequence_number: 2, ...at, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', sequence_number: 3, ...at, delta: secret, logprobs: [] },
    { type: 'response.output_text.done', sequence_number: 4, ...at, text: secret, logprobs: [] },
    { type: 'response.content_part.done', sequence_number: 5, ...at, part },
    { type: 'response.output_item.done', sequence_number: 6, output_index: 0, item: output },
    { type: 'response.completed', sequence_number: 7, response: response('completed', [output]) },
  ]
    .map(event)
    .join('');
}

function messageEvents(): string {
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: secret } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('');
}
