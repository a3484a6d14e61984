import fc from 'fast-check';
import { cacheControl, callId, plainId, said, sealed, typed } from './arbitrary-texts.ts';

const citation = fc.oneof(
  typed('char_location', {
    cited_text: said,
    document_index: fc.nat(9),
    document_title: fc.option(said),
    start_char_index: fc.nat(),
  }),
  typed('web_search_result_location', {
    cited_text: said,
    url: said,
    title: said,
    encrypted_index: sealed,
  }),
);

export const plainText = typed('text', { text: said }, { cache_control: cacheControl });
export const citingText = typed(
  'text',
  { text: said },
  { cache_control: cacheControl, citations: fc.array(citation, { maxLength: 2 }) },
);
/** Answers always have `citations`. */
export const answeredText = typed('text', {
  text: said,
  citations: fc.option(fc.array(citation, { maxLength: 2 })),
});

export const thinking = typed('thinking', { thinking: said, signature: sealed });
export const redacted = typed('redacted_thinking', { data: sealed });

const args = fc.dictionary(said, fc.oneof(said, fc.integer(), fc.record({ inner: said })), { maxKeys: 3 });
const call = { id: callId, name: plainId, input: args };

export const calls = fc.oneof(
  typed('tool_use', { ...call, caller: fc.constant({ type: 'direct' }) }),
  typed('server_tool_use', call),
  typed('mcp_tool_use', { ...call, server_name: said }),
);

const served = (type: string, content: fc.Arbitrary<unknown>) =>
  typed(type, { tool_use_id: callId, content });
const textSource = typed('text', { media_type: fc.constant('text/plain'), data: said });

/** Results of tools that the upstream has run. */
export const servedResults = fc.oneof(
  served(
    'web_search_tool_result',
    fc.array(
      typed('web_search_result', {
        url: said,
        title: said,
        page_age: fc.option(said),
        encrypted_content: sealed,
      }),
      { maxLength: 2 },
    ),
  ),
  served('web_search_tool_result', typed('web_search_tool_result_error', { error_code: said })),
  served(
    'web_fetch_tool_result',
    typed('web_fetch_result', { url: said, content: typed('document', { title: said, source: textSource }) }),
  ),
  served(
    'bash_code_execution_tool_result',
    typed('bash_code_execution_result', { stdout: said, stderr: said, return_code: fc.nat(255) }),
  ),
  served('code_execution_tool_result', typed('code_execution_result', { stdout: said })),
  served(
    'text_editor_code_execution_tool_result',
    typed('text_editor_code_execution_view_result', { content: said }),
  ),
  served(
    'tool_search_tool_result',
    typed('tool_search_tool_search_result', {
      tool_references: fc.array(typed('tool_reference', { tool_name: said }), { maxLength: 2 }),
    }),
  ),
  served('advisor_tool_result', typed('advisor_result', { text: said })),
  typed('mcp_tool_result', {
    tool_use_id: callId,
    is_error: fc.boolean(),
    content: fc.oneof(said, fc.array(plainText, { maxLength: 2 })),
  }),
);

export const compaction = typed('compaction', {
  content: fc.option(said),
  encrypted_content: fc.option(sealed),
});
export const fallback = typed('fallback', {
  from: fc.record({ model: plainId }),
  to: fc.record({ model: plainId }),
  trigger: typed('refusal', { category: fc.constantFrom('cyber', null) }),
});
export const listing = typed('mcp_tool_listing', {
  mcp_server_name: said,
  tools: fc.array(fc.record({ name: said, description: said, input_schema: args }), { maxLength: 2 }),
});

export const document = typed(
  'document',
  {
    source: fc.oneof(
      textSource,
      typed('content', { content: fc.oneof(said, fc.array(plainText, { maxLength: 2 })) }),
      typed('base64', {
        media_type: fc.constant('application/pdf'),
        data: fc.constant('JVBERi0xLjcK/////w=='),
      }),
      typed('base64', {
        media_type: fc.constant('text/plain'),
        data: said.map((text) => Buffer.from(text, 'utf8').toString('base64')),
      }),
    ),
  },
  {
    title: said,
    context: said,
    cache_control: cacheControl,
    citations: fc.constant({ enabled: true }),
  },
);
export const image = typed(
  'image',
  {
    source: fc.oneof(
      typed('base64', { media_type: fc.constant('image/png'), data: fc.constant('iVBORw0KGgo=') }),
      typed('url', { url: fc.webUrl() }),
    ),
  },
  { cache_control: cacheControl },
);
export const searchResult = typed(
  'search_result',
  { source: said, title: said, content: fc.array(plainText, { minLength: 1, maxLength: 2 }) },
  { citations: fc.constant({ enabled: true }) },
);

/** A result of a tool that the client has run. */
export const toolResult = typed(
  'tool_result',
  { tool_use_id: callId },
  {
    content: fc.oneof(
      said,
      fc.array(
        fc.oneof(
          plainText,
          image,
          document,
          searchResult,
          typed('tool_reference', { tool_name: said }),
          typed('browser_state', {
            tabs: fc.array(fc.record({ title: said, url: said }), { maxLength: 2 }),
          }),
        ),
        { maxLength: 3 },
      ),
    ),
    is_error: fc.boolean(),
    cache_control: cacheControl,
  },
);
