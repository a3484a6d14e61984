import fc from 'fast-check';
import {
  answeredText,
  calls,
  citingText,
  compaction,
  document,
  fallback,
  image,
  listing,
  plainText,
  redacted,
  searchResult,
  servedResults,
  thinking,
  toolResult,
} from './arbitrary-blocks.ts';
import { plainId, said, shaped, typed } from './arbitrary-texts.ts';

const some = <T>(...kinds: fc.Arbitrary<T>[]) => fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 4 });

const message = fc.oneof(
  shaped({ role: fc.constantFrom('user', 'assistant'), content: said }),
  shaped({
    role: fc.constant('user'),
    content: some(citingText, image, document, searchResult, toolResult),
  }),
  shaped({
    role: fc.constant('assistant'),
    content: some(citingText, thinking, redacted, calls, servedResults, compaction, fallback, listing),
  }),
  shaped(
    {
      role: fc.constant('system'),
      content: fc.oneof(
        said,
        some(
          plainText,
          typed('tool_addition', {
            tool: typed('tool_definition', { definition: fc.record({ name: said, description: said }) }),
          }),
        ),
      ),
    },
    {
      clear_at: fc.constantFrom('never', 'next_user_message'),
      output_config: fc.constant({ effort: 'high' }),
    },
  ),
);

/** A body of `POST /v1/messages` with all optional members. */
export const requestBody = shaped(
  {
    model: fc.constant('m'),
    max_tokens: fc.nat(10_000),
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
  },
  {
    system: fc.oneof(said, fc.array(plainText, { minLength: 1, maxLength: 3 })),
    tools: fc.array(shaped({ name: said, description: said, input_schema: fc.record({ title: said }) }), {
      maxLength: 2,
    }),
    tool_choice: fc.record({ type: fc.constant('tool'), name: said }),
    metadata: fc.record({ user_id: said }),
    stop_sequences: fc.array(said, { maxLength: 2 }),
    mcp_servers: fc.array(typed('url', { name: said, url: said }), { maxLength: 1 }),
    context_management: fc.constant({ edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }),
    output_config: fc.record({ format: fc.record({ schema: fc.record({ title: said }) }) }),
    thinking: fc.constant({ type: 'adaptive' }),
    temperature: fc.constantFrom(0, 0.5, 1),
    stream: fc.boolean(),
  },
);

export const answerBody = shaped(
  {
    id: fc.constant('msg_1'),
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    model: fc.constant('m'),
    content: fc.array(
      fc.oneof(
        answeredText,
        thinking,
        redacted,
        calls,
        servedResults,
        typed('container_upload', { file_id: plainId }),
        compaction,
        listing,
      ),
      { maxLength: 5 },
    ),
    stop_reason: fc.constantFrom('end_turn', 'max_tokens', 'refusal', 'pause_turn'),
    stop_sequence: fc.option(said),
    stop_details: fc.option(
      typed('refusal', { category: fc.constantFrom('cyber', null), explanation: fc.option(said) }),
    ),
    usage: shaped({
      input_tokens: fc.nat(),
      output_tokens: fc.nat(),
      cache_read_input_tokens: fc.nat(),
      service_tier: fc.constantFrom('standard', 'priority', null),
    }),
  },
  {
    container: fc.option(fc.record({ id: plainId, expires_at: fc.constant('2026-01-01T00:00:00Z') })),
    context_management: fc.option(fc.record({ applied_edits: fc.constant([]) })),
  },
);
