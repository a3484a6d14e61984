import { type Shape, words } from './shapes.ts';

/** What a kind of content block is to hooks. Kinds and members are those of the types of @anthropic-ai/sdk 1.12. */
export interface BlockKind {
  readonly role:
    | 'text'
    | 'thinking'
    | 'redacted'
    | 'call'
    /** A result of a tool that the client has run. */
    | 'result'
    /** A result of a tool that the upstream has run. */
    | 'served'
    | 'image'
    | 'document'
    | 'search'
    /** A file that the upstream keeps. */
    | 'upload'
    /** Nothing of its own: its members are told as leftovers. */
    | 'plain'
    /** The same, with an encrypted copy of its text. */
    | 'compaction';
  readonly members: Readonly<Record<string, Shape>>;
}

const cacheControl: Shape = { members: { type: words('ephemeral'), ttl: words('5m', '1h') } };
const caller: Shape = {
  members: {
    type: words('direct', 'code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521'),
    tool_id: 'id',
  },
};
const citing: Shape = { members: { enabled: 'figure' } };
const cached = { type: 'text', cache_control: cacheControl } as const;
const call = { ...cached, id: 'text', name: 'text', input: 'told', caller } as const;
const served: BlockKind = {
  role: 'served',
  members: { ...cached, tool_use_id: 'text', content: 'told', is_error: 'figure', caller },
};
const plain: BlockKind = { role: 'plain', members: cached };
const refusal: Shape = {
  members: {
    type: words('refusal'),
    explanation: 'said',
    fallback_credit_token: 'said',
    recommended_model: 'id',
    fallback_has_prefill_claim: 'figure',
    category: words('cyber', 'bio', 'frontier_llm', 'reasoning_extraction', 'general_harms'),
  },
};

const kinds: ReadonlyMap<string, BlockKind> = new Map(
  Object.entries({
    text: { role: 'text', members: { ...cached, text: 'text', citations: 'told' } },
    thinking: { role: 'thinking', members: { type: 'text', thinking: 'text', signature: 'sealed' } },
    redacted_thinking: { role: 'redacted', members: { type: 'text', data: 'sealed' } },
    tool_use: { role: 'call', members: call },
    server_tool_use: { role: 'call', members: call },
    mcp_tool_use: { role: 'call', members: call },
    tool_result: {
      role: 'result',
      members: { ...cached, tool_use_id: 'text', content: 'told', is_error: 'figure' },
    },
    web_search_tool_result: served,
    web_fetch_tool_result: served,
    code_execution_tool_result: served,
    bash_code_execution_tool_result: served,
    text_editor_code_execution_tool_result: served,
    tool_search_tool_result: served,
    advisor_tool_result: served,
    mcp_tool_result: served,
    image: { role: 'image', members: { ...cached, source: 'told' } },
    document: {
      role: 'document',
      members: { ...cached, source: 'told', citations: citing, title: 'said', context: 'said' },
    },
    search_result: { role: 'search', members: { ...cached, content: 'told', citations: citing } },
    container_upload: { role: 'upload', members: { ...cached, file_id: 'id' } },
    compaction: {
      role: 'compaction',
      members: { ...cached, content: 'said', encrypted_content: 'sealed', signature: 'sealed' },
    },
    fallback: {
      role: 'plain',
      members: {
        ...cached,
        from: { members: { model: 'id' } },
        to: { members: { model: 'id' } },
        trigger: refusal,
      },
    },
    mcp_tool_listing: plain,
    tool_addition: plain,
    tool_removal: plain,
    tool_reference: plain,
    browser_state: plain,
  } satisfies Record<string, BlockKind>),
);

/** The kind of a block by its `type`; undefined for one that hooks cannot be shown. */
export function findBlockKind(type: string | undefined): BlockKind | undefined {
  return type === undefined ? undefined : kinds.get(type);
}

/** Kinds of calls whose arguments are streamed as pieces of JSON. */
export const callTypes: ReadonlySet<string> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

/** What `stop_details` says of a refusal; its explanation is told. */
export const refusalShape = refusal;
