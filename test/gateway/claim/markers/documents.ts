import type { EndpointName } from '../../../../src/gateway/wire/codec.ts';
import { tellMessage } from '../../upstreams/message-events.ts';
import { message, text } from '../../upstreams/messages-upstream.ts';
import { beside, streamOf as chatStreamOf, streams as chatStreams, frame } from '../../wire/chat/streams.ts';
import { codexRequest } from '../../wire/responses/codex-samples.ts';
import { fullAnswer, fullRequest, textAnswer } from '../../wire/responses/samples.ts';
import { streamOf as responsesStreamOf } from '../../wire/responses/streamed.ts';

type Members = Readonly<Record<string, unknown>>;

export interface SampleDocument {
  readonly endpoint: EndpointName;
  readonly side: 'request' | 'answer' | 'error' | 'stream';
  readonly text: string;
  readonly request: string;
}

/** Bytes that are not text, like signatures and encrypted contents. */
const sealed = Buffer.from(new Uint8Array(96).map((_, index) => 255 - index)).toString('base64');
const png = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 200, 201, 202, 203]).toString('base64');

/** Members that clients know and no sample has; markers are put under these keys too. */
export const moreKeys: readonly string[] =
  `annotations logprobs role name output outputs results encrypted_content
  source media_type stream status summary content text refusal reasoning thinking signature data input arguments delta
  usage metadata object reason details code message error param type id call_id item_id index phase execution environment
  obfuscation namespace server_label created_by container_id fingerprint approve toString __proto__ constructor valueOf
  0 length reasoning_content reasoning_details thinking_blocks tool_calls function_call audio transcript token bytes
  token_ids top_logprobs citations citation cited_text stop_reason stop_sequence finish_reason service_tier
  system_fingerprint created created_at model partial_json part item response event note x-unknown`.split(
    /\s+/,
  );

const chatRequest = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }], name: 'dev' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
        { type: 'input_audio', input_audio: { data: png, format: 'wav' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${png}` } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
        { id: 'call_2', type: 'custom', custom: { name: 'run', input: 'ls' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'It rains.' },
    { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'a b c' }] },
    {
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'No.' }],
      function_call: { name: 'f', arguments: '{}' },
    },
    { role: 'function', name: 'f', content: 'done' },
    { role: 'user', content: 'And now?' },
  ],
  frequency_penalty: -2,
  functions: [{ name: 'f', description: 'd', parameters: { a: 1.5 } }],
  logit_bias: { 50256: -100 },
  logprobs: true,
  max_completion_tokens: 9,
  metadata: { a: 'b' },
  modalities: ['text'],
  n: 1,
  parallel_tool_calls: true,
  prediction: { type: 'content', content: [{ type: 'text', text: 'It is' }] },
  prompt_cache_key: 'key-1',
  reasoning_effort: 'low',
  response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema: {} } },
  seed: 7,
  service_tier: 'flex',
  stop: ['\n', 'end'],
  store: true,
  stream: false,
  stream_options: { include_usage: true },
  temperature: 0.7,
  tool_choice: { type: 'function', function: { name: 'weather' } },
  tools: [
    { type: 'function', function: { name: 'weather', description: 'Weather', parameters: {}, strict: true } },
  ],
  top_logprobs: 2,
  user: 'user-1',
  web_search_options: { user_location: { type: 'approximate', approximate: { city: 'Rome' } } },
};

const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 7,
  model: 'm',
  service_tier: 'default',
  system_fingerprint: 'fp_1',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'It is sunny.',
        refusal: null,
        reasoning_content: 'Let me see.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Let me see.', index: 0 }],
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 },
          },
        ],
      },
      logprobs: {
        content: [
          {
            token: 'It',
            logprob: -1,
            bytes: [73, 116],
            top_logprobs: [{ token: 'It', logprob: -1, bytes: null }],
          },
        ],
        refusal: null,
      },
      finish_reason: 'stop',
    },
    {
      index: 1,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 1 },
  },
};

const long = 'It is sunny in Ulm, and it will be so for the whole week. ';
const chatWindowed = [
  frame({ role: 'assistant', content: '' }),
  ...[1, 2, 3, 4].map(() => frame({ content: long })),
  frame({
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }],
  }),
  frame({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Ulm"}' } }] }),
  frame({}, { finish_reason: 'tool_calls' }),
  beside({ usage: chatAnswer.usage }),
];

const citations = [
  {
    type: 'char_location',
    cited_text: 'c',
    document_index: 0,
    document_title: 't',
    start_char_index: 0,
    end_char_index: 1,
    file_id: null,
  },
  {
    type: 'web_search_result_location',
    cited_text: 'c',
    url: 'https://a.example',
    title: 't',
    encrypted_index: sealed,
  },
];
const served = (type: string, content: unknown) => ({ type, tool_use_id: 'srvtoolu_1', content });
const answeredBlocks: readonly Members[] = [
  text('It is sunny.', citations),
  { type: 'thinking', thinking: 'Hm.', signature: sealed },
  { type: 'redacted_thinking', data: sealed },
  {
    type: 'tool_use',
    id: 'toolu_1',
    name: 'weather',
    input: { place: 'Ulm', days: [1] },
    caller: { type: 'direct' },
  },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Ulm' } },
  { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'ask', server_name: 'deep', input: { q: 'why' } },
  served('web_search_tool_result', [
    {
      type: 'web_search_result',
      url: 'https://a.example',
      title: 'A',
      page_age: null,
      encrypted_content: sealed,
    },
  ]),
  served('web_fetch_tool_result', {
    type: 'web_fetch_result',
    url: 'https://a.example',
    retrieved_at: '2026-01-02T03:04:05Z',
    content: {
      type: 'document',
      title: 'A',
      source: { type: 'text', media_type: 'text/plain', data: 'page' },
    },
  }),
  served('bash_code_execution_tool_result', {
    type: 'bash_code_execution_result',
    stdout: 'out',
    stderr: 'err',
    return_code: 0,
    content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
  }),
  served('text_editor_code_execution_tool_result', {
    type: 'text_editor_code_execution_view_result',
    file_type: 'text',
    content: 'x',
    num_lines: 1,
  }),
  served('tool_search_tool_result', {
    type: 'tool_search_tool_search_result',
    tool_references: [{ type: 'tool_reference', tool_name: 'x' }],
  }),
  { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [text('because')] },
  { type: 'compaction', content: 'So far', encrypted_content: sealed },
  {
    type: 'mcp_tool_listing',
    mcp_server_name: 'deep',
    tools: [{ name: 'ask', description: 'Asks', input_schema: {} }],
  },
];

const fallback = { type: 'fallback', from: { model: 'm' }, to: { model: 'm-2' }, trigger: null };

const messageExtras = {
  stop_reason: 'refusal',
  stop_details: { type: 'refusal', category: 'cyber', explanation: null },
  container: { id: 'container_1', expires_at: '2026-01-02T03:04:05Z', skills: [] },
  context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_input_tokens: 1 }] },
  diagnostics: { cache_miss_reason: { type: 'model_changed', cache_missed_input_tokens: 1 } },
  usage: {
    input_tokens: 1,
    output_tokens: 2,
    cache_creation: { ephemeral_5m_input_tokens: 0 },
    server_tool_use: { web_search_requests: 1 },
    output_tokens_details: { thinking_tokens: 1 },
    iterations: [{ type: 'message', model: 'm', input_tokens: 1 }],
    service_tier: 'standard',
  },
};

const askedBlocks: readonly Members[] = [
  { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral', ttl: '5m' } },
  {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: png },
    cache_control: { type: 'ephemeral' },
  },
  { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
  {
    type: 'document',
    title: 'T',
    context: 'C',
    citations: { enabled: true },
    source: { type: 'text', media_type: 'text/plain', data: 'd' },
  },
  { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: png } },
  { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'inner' }] } },
  {
    type: 'search_result',
    source: 'https://a.example',
    title: 'y',
    content: [{ type: 'text', text: 'z' }],
    citations: { enabled: true },
  },
  { type: 'container_upload', file_id: 'file_1' },
];

const messagesRequest = (content: readonly unknown[], more: Members = {}) => ({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content }],
  ...more,
});
const messagesSettings = {
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  tools: [
    { name: 'weather', description: 'Weather', input_schema: { type: 'object' } },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
  ],
  tool_choice: { type: 'auto' },
  thinking: { type: 'enabled', budget_tokens: 1024 },
  metadata: { user_id: 'u1' },
  stop_sequences: ['end'],
  service_tier: 'auto',
  stream: false,
  temperature: 1,
  top_k: 5,
  output_config: { format: { type: 'json_schema', schema: {} } },
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  mcp_servers: [{ type: 'url', url: 'https://m.example', name: 'deep' }],
  container: 'container_1',
};
const toolTurn = [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: sealed },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        is_error: false,
        content: [
          text('sunny', undefined),
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          { type: 'tool_reference', tool_name: 'x' },
        ],
      },
      { type: 'text', text: 'go on' },
    ],
  },
];

const cut = (said: string) => said.match(/.{1,24}/gs) ?? [];

const asked: readonly (readonly [EndpointName, unknown])[] = [
  ['chat', chatRequest],
  ...chatRequest.messages.map(
    (each) => ['chat', { model: 'm', messages: [each, { role: 'user', content: 'x' }] }] as const,
  ),
  [
    'responses',
    { ...fullRequest, input: 'Hello', stream: false, stream_options: { include_obfuscation: true } },
  ],
  ['responses', { ...codexRequest, input: codexRequest.input.slice(0, 2) }],
  ...[...fullRequest.input, ...codexRequest.input].map(
    (item) => ['responses', { model: 'm', input: [item, { role: 'user', content: 'x' }] }] as const,
  ),
  ...[
    { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'low' },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${png}` },
    { type: 'input_file', file_url: 'https://a.example/a.pdf' },
    { type: 'input_audio', input_audio: { data: png, format: 'wav' } },
  ].map((part) => ['responses', { model: 'm', input: [{ role: 'user', content: [part] }] }] as const),
  [
    'responses',
    {
      model: 'm',
      input: [
        {
          type: 'computer_call_output',
          call_id: 'c',
          output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${png}` },
          acknowledged_safety_checks: [{ id: 'sc_1', code: 'x', message: 'y' }],
        },
      ],
    },
  ],
  [
    'messages',
    messagesRequest(
      ['hi'].map((said) => ({ type: 'text', text: said })),
      messagesSettings,
    ),
  ],
  ...askedBlocks.map((block) => ['messages', messagesRequest([block])] as const),
  ['messages', { model: 'm', max_tokens: 9, messages: toolTurn }],
  ...answeredBlocks.map(
    (block) =>
      [
        'messages',
        {
          model: 'm',
          max_tokens: 9,
          messages: [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: [block] },
            { role: 'user', content: 'x' },
          ],
        },
      ] as const,
  ),
  ['count_tokens', messagesRequest([{ type: 'text', text: 'hi' }], { system: 'Be brief.' })],
  ['embeddings', { model: 'm', input: ['a', 'b'], dimensions: 2, encoding_format: 'float', user: 'u1' }],
  ['embeddings', { model: 'm', input: 'a', encoding_format: 'base64' }],
];

const responsesItems = [
  ...fullAnswer.output,
  {
    id: 'cu_2',
    type: 'computer_call',
    status: 'completed',
    call_id: 'call_f',
    action: { type: 'type', text: 'hi' },
    pending_safety_checks: [{ id: 'sc_1', code: 'x', message: 'y' }],
  },
  {
    id: 'ig_2',
    type: 'image_generation_call',
    status: 'completed',
    result: png,
    revised_prompt: 'A cat',
    output_format: 'png',
  },
  {
    id: 'ts_2',
    type: 'tool_search_call',
    status: 'completed',
    call_id: 'call_g',
    execution: 'client',
    arguments: { query: 'maps' },
  },
  {
    id: 'tso_2',
    type: 'tool_search_output',
    status: 'completed',
    call_id: 'call_g',
    execution: 'server',
    tools: [{ type: 'function', name: 'map', parameters: {} }],
  },
  { id: 'cmp_2', type: 'compaction', encrypted_content: sealed },
  { id: 'pr_2', type: 'program', call_id: 'call_h', code: 'x()', fingerprint: 'abc' },
];
const responsesAnswer = (output: readonly Members[]) => ({
  ...fullAnswer,
  instructions: null,
  tools: [],
  metadata: {},
  user: null,
  output,
});
const responsesAnswers = [
  ...responsesItems.map((item) => responsesAnswer([item])),
  textAnswer(long.repeat(4), { tools: [], instructions: null }),
  textAnswer('It rains.', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
  { ...textAnswer(''), output: [], status: 'failed', error: { code: 'server_error', message: 'no' } },
];
const withLogprobs = responsesAnswer([
  {
    id: 'msg_l',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'It',
        annotations: [{ type: 'file_citation', file_id: 'file_1', filename: 'f.txt', index: 1 }],
        logprobs: [
          {
            token: 'It',
            logprob: -1,
            bytes: [73, 116],
            top_logprobs: [{ token: 'It', logprob: -1, bytes: [73, 116] }],
          },
        ],
      },
    ],
  },
]);

const answered: readonly (readonly [EndpointName, unknown])[] = [
  ['chat', chatAnswer],
  ...[...responsesAnswers, withLogprobs].map((answer) => ['responses', answer] as const),
  ...answeredBlocks.map((block) => ['messages', message([block])] as const),
  [
    'messages',
    message([text('No.')], {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'no' },
      container: {
        id: 'container_1',
        expires_at: '2026-01-02T03:04:05Z',
        skills: [{ skill_id: 's', type: 'custom', version: '1' }],
      },
      context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_input_tokens: 1 }] },
    }),
  ],
  ['count_tokens', { input_tokens: 42 }],
  [
    'embeddings',
    {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.1, -2] }],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1, prompt_tokens_details: { cached_tokens: 0 } },
    },
  ],
  [
    'embeddings',
    {
      object: 'list',
      data: [
        {
          object: 'embedding',
          index: 0,
          embedding: Buffer.from(new Float32Array([0.1, -2.7]).buffer).toString('base64'),
        },
      ],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  ],
];

const openAiError = { error: { message: 'no', type: 'invalid_request_error', param: null, code: null } };
const errors: readonly (readonly [EndpointName, unknown])[] = [
  ['chat', openAiError],
  ['responses', openAiError],
  ['embeddings', openAiError],
  [
    'messages',
    { type: 'error', error: { type: 'invalid_request_error', message: 'no' }, request_id: 'req_1' },
  ],
];

const streamed: readonly (readonly [EndpointName, string])[] = [
  ...Object.values(chatStreams).map((frames) => ['chat', chatStreamOf(frames)] as const),
  ['chat', chatStreamOf(chatWindowed)],
  ...[...responsesAnswers, withLogprobs].map(
    (answer) => ['responses', responsesStreamOf(answer, 24)] as const,
  ),
  ...[...answeredBlocks, fallback].map(
    (block) => ['messages', tellMessage(message([block], messageExtras), { cut })] as const,
  ),
  [
    'messages',
    tellMessage(
      message([{ type: 'thinking', thinking: long, signature: sealed }, text(long.repeat(3), citations)]),
      { cut, hasPings: true },
    ),
  ],
];

const requestFor: Readonly<Record<EndpointName, unknown>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  count_tokens: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  embeddings: { model: 'm', input: 'hi' },
};

const ofBodies = (side: SampleDocument['side'], bodies: readonly (readonly [EndpointName, unknown])[]) =>
  bodies.map(
    ([endpoint, body]): SampleDocument => ({
      endpoint,
      side,
      text: typeof body === 'string' ? body : JSON.stringify(body),
      request: JSON.stringify(requestFor[endpoint]),
    }),
  );

export const sampleDocuments: readonly SampleDocument[] = [
  ...ofBodies('request', asked),
  ...ofBodies('answer', answered),
  ...ofBodies('error', errors),
  ...ofBodies('stream', streamed),
];
