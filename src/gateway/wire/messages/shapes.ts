import type { Channel } from '../codec.ts';
import {
  all,
  type Items,
  type Members,
  type ObjectShape,
  type Shape,
  type ShowCall,
  type ShowFinish,
  words,
} from '../shape.ts';

// The bodies of `POST /v1/messages`, from the types of @anthropic-ai/sdk 1.12.

const object = (members: Members): ObjectShape => ({ members });

// --- content blocks ---

const cached: Members = { cache_control: object({ type: words('ephemeral'), ttl: words('5m', '1h') }) };
const caller: Shape = object({
  type: words('direct', 'code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521'),
  tool_id: 'id',
});

const text = (of: Members): Shape => ({ show: 'text', text: 'text', of: { ...cached, ...of } });
const citations: Shape = { array: { items: { show: 'citation', emptied: 'null' } } };

const call = (more: Pick<ShowCall, 'isServed'> = {}): Shape => ({
  show: 'call',
  id: 'id',
  name: 'name',
  args: 'input',
  of: { ...cached, caller },
  ...more,
});

const served: Shape = {
  show: 'result',
  id: 'tool_use_id',
  content: 'content',
  isError: 'is_error',
  bytes: { type: 'base64', data: 'data', mediaType: 'media_type' },
  of: { ...cached, is_error: 'number', caller },
};

const picture = { show: 'media', media: 'image', in: 'source', isOf: 'image/*' } as const;
const file = {
  show: 'media',
  media: 'file',
  in: 'source',
  isOf: 'application/octet-stream',
  passesText: true,
} as const;
const ofImage: Members = { ...cached, type: words('image') };
const ofDocument: Members = { ...cached, type: words('document'), citations: object({ enabled: 'number' }) };

const refusal: Shape = object({
  type: words('refusal'),
  explanation: 'none',
  fallback_credit_token: 'none',
  recommended_model: 'id',
  fallback_has_prefill_claim: 'number',
  category: words('cyber', 'bio', 'frontier_llm', 'reasoning_extraction', 'general_harms'),
});

const plain: Shape = object(cached);
const compaction: Shape = object({
  ...cached,
  content: 'none',
  encrypted_content: { sealedCopyOf: { member: 'content' } },
  signature: { sealedCopyOf: { member: 'content' } },
});

/** Blocks that may also occur in a result, document or search result. Hooks see members without a shape in `other`. */
const kinds: Readonly<Record<string, Shape>> = {
  text: text({ citations }),
  thinking: {
    show: 'reasoning',
    text: 'thinking',
    isSigned: true,
    of: { signature: 'sealed' },
  },
  redacted_thinking: { show: 'sealed', data: 'data' },
  tool_use: call(),
  server_tool_use: call({ isServed: true }),
  mcp_tool_use: call({ isServed: true }),
  web_search_tool_result: served,
  web_fetch_tool_result: served,
  code_execution_tool_result: served,
  bash_code_execution_tool_result: served,
  text_editor_code_execution_tool_result: served,
  tool_search_tool_result: served,
  advisor_tool_result: served,
  mcp_tool_result: served,
  image: {
    kinds: {
      base64: {
        ...picture,
        bytes: ['data'],
        mediaType: 'media_type',
        of: ofImage,
        held: { type: words('base64') },
      },
      url: { ...picture, url: ['url'], of: ofImage, held: { type: words('url') } },
      file: { ...picture, reference: 'file_id', of: ofImage, held: { type: words('file') } },
    },
    in: 'source',
  },
  document: {
    kinds: {
      text: {
        show: 'text',
        as: 'document',
        in: 'source',
        text: 'data',
        of: ofDocument,
        held: { type: words('text'), media_type: words('text/plain') },
      },
      content: object({
        ...ofDocument,
        source: object({
          type: words('content'),
          get content() {
            return { string: { show: 'text', goesWith: 'item' }, array: nestedList } satisfies Shape;
          },
        }),
      }),
      base64: {
        ...file,
        bytes: ['data'],
        mediaType: 'media_type',
        of: ofDocument,
        held: { type: words('base64') },
      },
      url: { ...file, url: ['url'], of: ofDocument, held: { type: words('url') } },
      file: { ...file, reference: 'file_id', of: ofDocument, held: { type: words('file') } },
    },
    in: 'source',
  },
  search_result: object({
    ...cached,
    citations: object({ enabled: 'number' }),
    get content() {
      return { array: nestedList } satisfies Shape;
    },
  }),
  container_upload: {
    show: 'media',
    media: 'file',
    reference: 'file_id',
    isOf: 'application/octet-stream',
    of: cached,
  },
  compaction,
  fallback: object({
    ...cached,
    from: object({ model: 'id' }),
    to: object({ model: 'id' }),
    trigger: refusal,
  }),
  mcp_tool_listing: plain,
  tool_addition: plain,
  tool_removal: plain,
  tool_reference: plain,
  browser_state: plain,
};

const nestedList: Items = { items: { kinds }, areItems: true };

const toolResult: Shape = object({
  ...cached,
  tool_use_id: { link: 'id' },
  content: { string: { show: 'text' }, array: { ...nestedList, newText: { type: 'text' } } },
  is_error: 'number',
});

/** A block of a response. A container's file was created by the model. */
export const answeredBlock: Shape = {
  kinds: { ...kinds, container_upload: object({ ...cached, file_id: 'id' }) },
};

// --- requests ---

export const requestShape: Shape = object({
  model: 'model',
  system: { string: { show: 'text' }, array: { items: { kinds: { text: text({ citations: 'none' }) } } } },
  messages: {
    each: object({
      role: words('user', 'assistant', 'system'),
      content: {
        string: { show: 'text' },
        array: {
          items: { kinds: { ...kinds, tool_result: toolResult } },
          newText: { type: 'text' },
          areItems: true,
          apart: 'tool_result',
        },
      },
      clear_at: words('next_user_message', 'never'),
    }),
  },
  container: { reference: 'container' },
  thread: { reference: 'thread' },
  previous_message_id: { reference: 'previous_message_id' },
  ...all('number', 'stream', 'max_tokens', 'temperature', 'top_p', 'top_k'),
});

// --- answers ---

const counts: Members = {
  ...all('number', 'input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'),
  cache_creation: object(all('number', 'ephemeral_1h_input_tokens', 'ephemeral_5m_input_tokens')),
};

export const usageMembers: Members = {
  ...counts,
  inference_geo: 'id',
  service_tier: words('standard', 'priority', 'batch'),
  speed: words('standard', 'fast'),
  output_tokens_details: object({ thinking_tokens: 'number' }),
  server_tool_use: object(all('number', 'web_fetch_requests', 'web_search_requests')),
  iterations: {
    items: object({
      ...counts,
      model: 'id',
      type: words('message', 'compaction', 'advisor_message', 'fallback_message'),
    }),
  },
};

const contextManagement: Shape = object({
  applied_edits: {
    items: object({
      type: words('clear_tool_uses_20250919', 'clear_thinking_20251015'),
      ...all('number', 'cleared_input_tokens', 'cleared_tool_uses', 'cleared_thinking_turns'),
    }),
  },
  original_input_tokens: 'number',
});

const stopReason: ShowFinish = {
  show: 'finish',
  words: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'max_output_tokens',
    tool_use: 'tool_use',
    pause_turn: 'pause_turn',
    compaction: 'compaction',
    refusal: 'refusal',
    model_context_window_exceeded: 'model_context_window_exceeded',
  },
  aliases: { safety: 'refusal' },
};

export const answerShape: Shape = object({
  id: 'id',
  type: words('message'),
  role: words('assistant'),
  model: 'id',
  content: {
    array: { items: answeredBlock, areItems: true, newText: { type: 'text', text: '', citations: null } },
  },
  stop_reason: stopReason,
  stop_sequence: 'none',
  input_transformations: 'none',
  stop_details: refusal,
  usage: object(usageMembers),
  container: object({
    id: 'id',
    expires_at: 'date',
    skills: { items: object({ skill_id: 'id', type: words('anthropic', 'custom'), version: 'id' }) },
  }),
  context_management: contextManagement,
  diagnostics: object({
    cache_miss_reason: object({
      type: words(
        ...['model_changed', 'system_changed', 'tools_changed', 'messages_changed'],
        ...['previous_message_not_found', 'unavailable'],
      ),
      cache_missed_input_tokens: 'number',
    }),
  }),
});

export const countShape: Shape = object({ input_tokens: 'number', context_management: contextManagement });

export const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'timeout_error',
  'overloaded_error',
  'api_error',
] as const;

export const errorShape: Shape = object({
  type: words('error'),
  request_id: 'id',
  error: object({ type: words(...errorTypes), message: { show: 'text' } }),
});

// --- streams ---

interface EventKind {
  readonly read: readonly string[];
  readonly members: Members;
  /** Absent if the event's block or delta decides. */
  readonly part?: 'free' | 'echo' | 'held' | 'end';
}

export const eventKinds: Readonly<Record<string, EventKind>> = {
  message_start: { read: ['type', 'message'], members: {} },
  content_block_start: { read: ['type', 'content_block'], members: { index: 'number' } },
  content_block_delta: { read: ['type', 'delta'], members: { index: 'number' } },
  content_block_stop: { read: ['type'], members: { index: 'number' }, part: 'echo' },
  message_delta: {
    read: ['type', 'delta', 'context_management', 'input_transformations'],
    members: { usage: object(usageMembers) },
    part: 'held',
  },
  message_stop: { read: ['type'], members: {}, part: 'end' },
  ping: { read: ['type'], members: {}, part: 'free' },
};

export const endMembers = ['stop_reason', 'stop_sequence', 'stop_details', 'container'] as const;

export interface DeltaKind {
  /** The block types to which the delta applies. */
  readonly of: readonly string[];
  readonly from: string;
  /**
   * What happens to the block's member `to`: `grows` appends text, `once` sets a string once, `list` appends an
   * element, `json` appends JSON text. `all` sets each of the delta's members on the block once.
   */
  readonly how: 'grows' | 'once' | 'list' | 'json' | 'all';
  readonly to: string;
  readonly channel?: Channel['member'];
  readonly members?: Members;
}

export const deltaKinds: Readonly<Record<string, DeltaKind>> = {
  text_delta: { of: ['text'], from: 'text', how: 'grows', to: 'text', channel: 'content' },
  citations_delta: { of: ['text'], from: 'citation', how: 'list', to: 'citations' },
  thinking_delta: {
    of: ['thinking'],
    from: 'thinking',
    how: 'grows',
    to: 'thinking',
    channel: 'reasoning',
    members: { estimated_tokens: 'number' },
  },
  signature_delta: { of: ['thinking'], from: 'signature', how: 'once', to: 'signature' },
  input_json_delta: {
    of: ['tool_use', 'server_tool_use', 'mcp_tool_use'],
    from: 'partial_json',
    how: 'json',
    to: 'input',
  },
  compaction_delta: { of: ['compaction'], from: 'content', how: 'all', to: 'content' },
};
