import type { Channel } from '../codec.ts';
import {
  all,
  type Members,
  type ObjectShape,
  type Shape,
  type ShowCall,
  type ShowCitation,
  type ShowText,
  words,
} from '../shape.ts';

// The bodies of `POST /v1/responses`, from the types of the openai package (`ResponseCreateParams`, `Response`,
// `ResponseInputItem`, `ResponseOutputItem`) and of Codex (`ResponseItem` of openai/codex).

const object = (members: Members): ObjectShape => ({ members });

const status = words(
  ...['in_progress', 'completed', 'incomplete', 'searching', 'calling', 'failed', 'interpreting'],
  ...['generating', 'queued', 'cancelled'],
);

const caller: Shape = {
  kinds: { direct: object({}), program: object({ caller_id: 'id' }) },
  unknown: 'other',
};

const ofItem: Members = { id: 'id', status, created_by: 'id', caller };

// --- parts ---

const logprobs: Shape = { emptied: '[]' };

const breakpoint: Shape = object({ mode: words('explicit'), ttl: words('30m', '12h') });

const citation = (type: string, ...tell: readonly string[]): ShowCitation => ({
  show: 'citation',
  type,
  tell,
  of: all('number', 'start_index', 'end_index', 'index'),
});

const annotation: Shape = {
  kinds: {
    url_citation: citation('url', 'url', 'title'),
    file_citation: citation('document', 'file_id', 'filename'),
    container_file_citation: citation('document', 'container_id', 'file_id', 'filename'),
    file_path: citation('document', 'file_id'),
  },
  unknown: 'other',
};

const text: ShowText = {
  show: 'text',
  text: 'text',
  of: { annotations: { items: annotation }, logprobs, prompt_cache_breakpoint: breakpoint },
};

const detail = words('auto', 'low', 'high', 'original');

const image: Shape = {
  show: 'media',
  media: 'image',
  url: ['image_url'],
  reference: 'file_id',
  isOf: 'image/*',
  of: { detail, file_id: 'id', prompt_cache_breakpoint: breakpoint },
};

const parts: Readonly<Record<string, Shape>> = {
  input_text: text,
  output_text: text,
  text,
  refusal: { show: 'refusal', text: 'refusal' },
  reasoning_text: { show: 'reasoning', text: 'text' },
  summary_text: { show: 'reasoning', text: 'text' },
  encrypted_content: object({ encrypted_content: 'sealed' }),
  input_image: image,
  computer_screenshot: image,
  input_audio: {
    show: 'media',
    media: 'audio',
    in: 'input_audio',
    bytes: ['data'],
    format: 'format',
    isOf: 'audio/*',
  },
  output_audio: { show: 'media', media: 'audio', bytes: ['data'], transcript: 'transcript', isOf: 'audio/*' },
  input_file: {
    show: 'media',
    media: 'file',
    url: ['file_url'],
    bytes: ['file_data'],
    reference: 'file_id',
    filename: 'filename',
    isOf: 'application/octet-stream',
    passesText: true,
    of: { detail, file_id: 'id', prompt_cache_breakpoint: breakpoint },
  },
};

const part: Shape = { kinds: parts };

const content = (newText: string): Shape => ({
  string: { show: 'text' },
  array: { items: part, newText: { type: newText } },
  object: part,
});

// --- items ---

const message = (newText: string): Shape =>
  object({
    ...ofItem,
    type: words('message'),
    phase: words('commentary', 'final_answer'),
    content: content(newText),
  });

const thought: ShowText = { show: 'reasoning', text: 'text', goesWith: 'item' };

const reasoningParts: Shape = {
  items: { kinds: { summary_text: thought, reasoning_text: thought, text: thought } },
};

const call = (more: Omit<ShowCall, 'show' | 'id'> & Partial<Pick<ShowCall, 'id'>>): ShowCall => ({
  show: 'call',
  id: ['call_id', 'id'],
  ...more,
  of: { ...ofItem, call_id: 'id', ...more.of },
});

const served = (more: Omit<ShowCall, 'show' | 'id' | 'isServed'>): ShowCall =>
  call({ id: 'id', isServed: true, ...more });

const side = words('server', 'client');

const exit: Shape = {
  kinds: { exit: object({ exit_code: 'number' }), timeout: object({}) },
  unknown: 'other',
};

const shellOutput: Shape = {
  items: object({ stdout: { show: 'text' }, stderr: { show: 'text' }, outcome: exit, created_by: 'id' }),
};

const result = (members: Members): ObjectShape =>
  object({ ...ofItem, call_id: 'id', name: 'id', namespace: 'id', ...members });

const note = (members: Members = {}): ObjectShape => object({ ...ofItem, call_id: 'id', ...members });

const safetyChecks: Shape = { items: 'other' };

const itemKinds: Readonly<Record<string, Shape>> = {
  message: {
    kinds: {
      user: message('input_text'),
      system: message('input_text'),
      developer: message('input_text'),
      assistant: message('output_text'),
    },
    by: 'role',
  },
  reasoning: object({
    ...ofItem,
    summary: reasoningParts,
    content: reasoningParts,
    encrypted_content: { sealedCopyOf: 'reasoning' },
  }),
  function_call: call({ name: 'name', args: 'arguments', of: { namespace: 'id', async: 'number' } }),
  custom_tool_call: call({ name: 'name', args: 'input', of: { namespace: 'id', async: 'number' } }),
  local_shell_call: call({ name: { is: 'local_shell' }, args: ['action'] }),
  shell_call: call({ name: { is: 'shell' }, args: ['action', 'environment'] }),
  apply_patch_call: call({ name: { is: 'apply_patch' }, args: ['operation'] }),
  computer_call: call({ name: { is: 'computer' }, args: ['action', 'actions', 'pending_safety_checks'] }),
  tool_search_call: call({ name: { is: 'tool_search' }, args: ['arguments'], of: { execution: side } }),
  program: call({ name: { is: 'program' }, args: ['code'], isServed: true, of: { fingerprint: 'id' } }),
  web_search_call: served({ name: { is: 'web_search' }, args: ['action'] }),
  file_search_call: served({
    name: { is: 'file_search' },
    args: ['queries'],
    result: {
      content: 'results',
      shape: { items: object({ text: { show: 'text' }, file_id: 'id', score: 'number' }) },
    },
  }),
  code_interpreter_call: served({
    name: { is: 'code_interpreter' },
    args: ['code'],
    result: {
      content: 'outputs',
      shape: {
        items: {
          kinds: {
            logs: object({ logs: { show: 'text' } }),
            image: { show: 'media', media: 'image', url: ['url'], isOf: 'image/*' },
          },
        },
      },
    },
    of: { container_id: 'id' },
  }),
  image_generation_call: served({
    name: { is: 'image_generation' },
    args: ['revised_prompt'],
    of: {
      result: { bytes: 'image' },
      error: 'none',
      action: words('generate', 'edit', 'auto'),
      background: words('transparent', 'opaque', 'auto'),
      output_format: words('png', 'webp', 'jpeg', 'gif', 'svg'),
      quality: words('low', 'medium', 'high', 'xhigh', 'max', 'auto'),
      size: 'id',
    },
  }),
  mcp_call: served({
    name: 'name',
    args: 'arguments',
    result: { content: 'output', shape: { string: { show: 'text' } } },
    of: { server_label: 'id', approval_request_id: 'id', error: 'none' },
  }),
  mcp_approval_request: served({ name: 'name', args: 'arguments', of: { server_label: 'id' } }),
  function_call_output: result({ output: content('input_text') }),
  custom_tool_call_output: result({ output: content('input_text') }),
  local_shell_call_output: result({ output: content('input_text') }),
  shell_call_output: result({ output: { array: shellOutput }, max_output_length: 'number' }),
  apply_patch_call_output: result({ output: content('input_text') }),
  computer_call_output: result({ output: content('input_text'), acknowledged_safety_checks: safetyChecks }),
  program_output: result({ result: content('input_text') }),
  mcp_approval_response: result({
    reason: content('input_text'),
    approval_request_id: 'id',
    approve: 'number',
  }),
  mcp_list_tools: note({ server_label: 'id', error: 'none' }),
  tool_search_output: note({ execution: side }),
  additional_tools: note({ role: words('assistant', 'system', 'developer', 'tool', 'user') }),
  configuration_update: note(),
  compaction: note({ encrypted_content: 'sealed' }),
  compaction_summary: note({ encrypted_content: 'sealed' }),
  compaction_trigger: note(),
  context_compaction: note({ encrypted_content: 'sealed' }),
};

/** Results of tools that the client ran: the member with the call's ID, and the tool's name if the item has none. */
export const resultKinds: Readonly<Record<string, { readonly id: string; readonly name: string }>> = {
  function_call_output: { id: 'call_id', name: '' },
  custom_tool_call_output: { id: 'call_id', name: '' },
  local_shell_call_output: { id: 'id', name: 'local_shell' },
  shell_call_output: { id: 'call_id', name: 'shell' },
  apply_patch_call_output: { id: 'call_id', name: 'apply_patch' },
  computer_call_output: { id: 'call_id', name: 'computer' },
  program_output: { id: 'call_id', name: 'program' },
};

export const outputItem: Shape = { kinds: itemKinds, implied: [['role', 'message']] };

export const inputItem: Shape = {
  kinds: { ...itemKinds, item_reference: note() },
  implied: [
    ['role', 'message'],
    ['id', 'item_reference'],
  ],
};

/** Item members that may differ between the events of a stream. */
export const changeable: Members = { id: 'id', call_id: 'id', status, encrypted_content: 'sealed' };

const effort = words('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');
const summary = words('auto', 'concise', 'detailed', 'none');
const reasoning: Shape = object({ effort, summary, generate_summary: summary });
const textFormat: Shape = object({
  format: { kinds: { text: object({}), json_object: object({}) }, unknown: 'other' },
  verbosity: words('low', 'medium', 'high'),
});
const truncation = words('auto', 'disabled');
const serviceTier = words('auto', 'default', 'flex', 'scale', 'priority', 'fast', 'standard');
const toolChoice = words('auto', 'none', 'required');
const retention = words('in_memory', 'in-memory', '24h');
const cacheOptions: Shape = object({ mode: words('implicit', 'explicit'), ttl: words('30m', '12h') });

const ofBoth: Members = {
  ...all('number', 'temperature', 'top_p', 'top_logprobs', 'max_output_tokens', 'max_tool_calls'),
  ...all('number', 'frequency_penalty', 'presence_penalty', 'store', 'background', 'parallel_tool_calls'),
  ...all('none', 'user', 'safety_identifier', 'prompt_cache_key', 'previous_response_id', 'conversation'),
  ...all('none', 'prompt', 'instructions'),
  reasoning,
  text: textFormat,
  truncation,
  service_tier: serviceTier,
  tool_choice: toolChoice,
  prompt_cache_retention: retention,
  prompt_cache_options: cacheOptions,
};

/** Hooks see members that do not have their shape. `model`, `input` and `instructions` are read separately. */
export const requestMembers: Members = {
  ...ofBoth,
  stream: 'number',
  stream_options: object({ include_obfuscation: 'number', include_usage: 'number' }),
  include: {
    items: words(
      ...['file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources'],
      ...['message.input_image.image_url', 'computer_call_output.output.image_url'],
      ...['code_interpreter_call.outputs', 'reasoning.encrypted_content', 'message.output_text.logprobs'],
    ),
  },
};

const tokens: Members = all(
  'number',
  ...['input_tokens', 'output_tokens', 'total_tokens', 'cached_tokens', 'reasoning_tokens', 'audio_tokens'],
  ...['text_tokens', 'image_tokens', 'cache_write_tokens', 'cache_creation_tokens', 'num_requests'],
);

export const responseMembers: Members = {
  ...ofBoth,
  id: 'id',
  model: 'id',
  object: words('response'),
  status,
  created_at: 'number',
  completed_at: 'number',
  error: 'none',
  incomplete_details: object({
    reason: words('max_output_tokens', 'max_messages', 'content_filter', 'steered'),
  }),
  tools: { items: 'other' },
  metadata: object({}),
  billing: 'none',
  moderation: 'none',
  usage: object({
    ...tokens,
    input_tokens_details: object(tokens),
    output_tokens_details: object(tokens),
  }),
};

// The events of the openai package's `ResponseStreamEvent`, and its `keepalive`.

type EventPath = readonly string[];

export type EventKind =
  | { readonly is: 'response'; readonly isEnd: boolean }
  /** An item (`path` is empty) or a part of one, in `member`. `isEnd` means complete. */
  | {
      readonly is: 'part';
      readonly path: EventPath;
      readonly member: string;
      readonly isEnd: boolean;
      readonly shape: Shape;
    }
  | {
      readonly is: 'delta';
      readonly path: EventPath;
      readonly channel?: Channel['member'] | undefined;
      readonly members?: readonly string[];
    }
  | { readonly is: 'text'; readonly path: EventPath; readonly member: string }
  /** Not part of an item. `isFree`: may be sent at once and may follow the end. */
  | { readonly is: 'rest'; readonly members?: Members; readonly isTranscript?: true; readonly isFree?: true };

/** Lists of parts: the event name without `.added` and `.done`, and the index member. */
export const partLists = {
  content: { event: 'content_part', index: 'content_index' },
  summary: { event: 'reasoning_summary_part', index: 'summary_index' },
} as const;

/** A text sent in `.delta` events and once as a whole, in `member` of the `.done` event. */
export interface StreamedText {
  readonly event: string;
  readonly item: string;
  /** The list of parts that holds the text; absent if the item itself holds it. */
  readonly list?: keyof typeof partLists;
  readonly part?: string;
  readonly member: string;
  readonly channel?: Channel['member'];
}

const said = { item: 'message', list: 'content' } as const;
const thinking = { item: 'reasoning', member: 'text', channel: 'reasoning' } as const;

const streamedTexts: readonly [StreamedText, ...StreamedText[]] = [
  { ...said, event: 'output_text', part: 'output_text', member: 'text', channel: 'content' },
  { ...said, event: 'refusal', part: 'refusal', member: 'refusal', channel: 'refusal' },
  { ...thinking, event: 'reasoning_text', list: 'content', part: 'reasoning_text' },
  { ...thinking, event: 'reasoning_summary_text', list: 'summary', part: 'summary_text' },
  { event: 'function_call_arguments', item: 'function_call', member: 'arguments' },
  { event: 'mcp_call_arguments', item: 'mcp_call', member: 'arguments' },
  { event: 'custom_tool_call_input', item: 'custom_tool_call', member: 'input' },
  { event: 'code_interpreter_call_code', item: 'code_interpreter_call', member: 'code' },
];

export function textOfItem(type: string): StreamedText | undefined {
  return streamedTexts.find(({ item, list }) => list === undefined && item === type);
}

export function textOfPart(type: string): StreamedText | undefined {
  return streamedTexts.find(({ part: own }) => own === type);
}

export function textOfChannel(channel: Channel['member'], list: string): StreamedText {
  return streamedTexts.find((text) => text.channel === channel && text.list === list) ?? streamedTexts[0];
}

const command: EventPath = ['action', 'commands', 'command_index'];

const kinds: readonly (readonly [name: string, kind: EventKind])[] = [
  ...['created', 'queued', 'in_progress'].map((name) => [name, { is: 'response', isEnd: false }] as const),
  ...['completed', 'incomplete', 'failed'].map((name) => [name, { is: 'response', isEnd: true }] as const),
  ...partEvents('output_item', { path: [], member: 'item', shape: outputItem }),
  ...Object.entries(partLists).flatMap(([list, { event, index }]) =>
    partEvents(event, { path: [list, index], member: 'part', shape: part }),
  ),
  ...streamedTexts.flatMap(({ event, list, member, channel }) => {
    const path = list === undefined ? [member] : [list, partLists[list].index, member];
    return [
      [`${event}.delta`, { is: 'delta', path, channel }] as const,
      [`${event}.done`, { is: 'text', path, member }] as const,
    ];
  }),
  [
    'output_text.annotation.added',
    {
      is: 'part',
      path: ['content', 'content_index', 'annotations', 'annotation_index'],
      member: 'annotation',
      isEnd: true,
      shape: annotation,
    },
  ],
  [
    'shell_call_command.added',
    { is: 'part', path: command, member: 'command', isEnd: false, shape: 'other' },
  ],
  ['shell_call_command.delta', { is: 'delta', path: command }],
  ['shell_call_command.done', { is: 'text', path: command, member: 'command' }],
  [
    'shell_call_output_content.delta',
    { is: 'delta', path: ['output', 'command_index'], members: ['stdout', 'stderr'] },
  ],
  [
    'shell_call_output_content.done',
    { is: 'part', path: ['output'], member: 'output', isEnd: false, shape: shellOutput },
  ],
  ['image_generation_call.partial_image', { is: 'rest', members: { partial_image_b64: { bytes: 'image' } } }],
  ['audio.delta', { is: 'rest', members: { delta: { bytes: 'audio' } } }],
  ['audio.done', { is: 'rest', isFree: true }],
  ['audio.transcript.delta', { is: 'rest', isTranscript: true }],
  ['audio.transcript.done', { is: 'rest', isFree: true }],
  ...Object.entries({
    web_search_call: ['in_progress', 'searching', 'completed'],
    file_search_call: ['in_progress', 'searching', 'completed'],
    code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
    image_generation_call: ['in_progress', 'generating', 'completed'],
    mcp_call: ['in_progress', 'completed', 'failed'],
    mcp_list_tools: ['in_progress', 'completed', 'failed'],
    compaction: ['compacting'],
  }).flatMap(([item, names]) => names.map((name) => [`${item}.${name}`, { is: 'rest' }] as const)),
];

function partEvents(event: string, kind: { path: EventPath; member: string; shape: Shape }) {
  return (['added', 'done'] as const).map(
    (name) => [`${event}.${name}`, { is: 'part', isEnd: name === 'done', ...kind }] as const,
  );
}

export const eventKinds: ReadonlyMap<string, EventKind> = new Map<string, EventKind>([
  ...kinds.map(([name, kind]) => [`response.${name}`, kind] as const),
  ['keepalive', { is: 'rest', isFree: true }],
]);

/** Members that any event may have. Hooks see others as `stream.…` in `other`. */
export const eventMembers: Members = {
  ...all('number', 'sequence_number', 'output_index', 'content_index', 'summary_index', 'annotation_index'),
  ...all('number', 'command_index', 'partial_image_index'),
  ...all('id', 'item_id', 'background', 'output_format', 'quality', 'size'),
  obfuscation: 'padding',
  logprobs: { emptied: '[]' },
};

/** Builds a channel key from which a writer can open the item. */
export function formatChannel(index: number, path: readonly (string | number)[], itemId: string): string {
  return [index, ...path, itemId].join('/');
}

/** Throws Error for an invalid key. */
export function parseChannel(key: string): {
  readonly index: number;
  readonly list: string;
  readonly at: number;
  readonly member: string;
  readonly itemId: string;
} {
  const [index = '', list = '', at = '', member = '', ...id] = key.split('/');
  if (list === '' || member === '') throw new Error('not a channel of a response');
  return { index: Number(index), list, at: Number(at), member, itemId: id.join('/') };
}
