import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import type { Payload } from '../../../src/dialects/foreign-dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { scene } from './asking.ts';

const call = { tool_name: 't', arguments: new Json('{"n": 12345678901234567890}') };
const agent = { system_prompt: 's', input: 'i' };
const letter = { from: 'a', to: 'b', content: 'c' };

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point: string;
  readonly given: Payload;
  readonly adds: Payload;
}

const context = { context_name: 'desk' };
const history = { ...context, summary: '' };
const fuel = { fuel_remaining: 30, fuel_total: 40 };

const rows: readonly Row[] = rowsOf<Row>`
  title | cites | point | given | adds
  on_start | CH-7-01@oneshot | on_start | ${{}} | ${{ tool_count: 0 }}
  pre_message | CH-7-03@oneshot | pre_message | ${{ prompt: 'p', extra: 1 }} | ${history}
  post_message | CH-7-04@oneshot | post_message | ${{ prompt: 'p', response: 'r' }} | ${{ ...context, original_prompt: 'p' }}
  pre_system_prompt | CH-7-05@oneshot | pre_system_prompt | ${{ summary: 's' }} | ${{ ...context, flock_goals: [] }}
  pre_tool | CH-7-07@oneshot | pre_tool | ${call} | ${{}}
  post_tool | CH-7-08@oneshot | post_tool | ${{ ...call, result: 'r' }} | ${{ cached: false }}
  post_tool_output | CH-7-10@oneshot | post_tool_output | ${{ ...call, output: 'o' }} | ${{ final_output: 'o', cached: false }}
  pre_api_tools | CH-7-11@oneshot | pre_api_tools | ${{ tools: [], fuel_total: 50 }} | ${{ ...context, fuel_remaining: 30 }}
  pre_agentic_loop | CH-7-13@oneshot | pre_agentic_loop | ${{ message: 'm' }} | ${{ ...context, ...fuel, current_fallback: 'call_user' }}
  pre_file_write | CH-7-16@oneshot | pre_file_write | ${{ tool_name: 't', path: 'p' }} | ${{ content: null }}
  pre_fetch_url | CH-7-18@oneshot | pre_fetch_url | ${{ tool_name: 't', safety: 'sensitive', url: 'u', reason: 'r' }} | ${{}}
  pre_spawn_agent | CH-7-19@oneshot | pre_spawn_agent | ${{ ...agent, temperature: 0.5 }} | ${{ model: null, max_tokens: null }}
  post_spawn_agent | CH-7-20@oneshot | post_spawn_agent | ${{ ...agent, model: 'm', response: 'r' }} | ${{}}
  pre_cache_output | CH-7-21@oneshot | pre_cache_output | ${{ ...call, content: 'é\nb\n' }} | ${{ char_count: 4, line_count: 2, output_size: 5 }}
  post_cache_output | CH-7-22@oneshot | post_cache_output | ${{ tool_name: 't', cache_id: 'i', output_size: 9, preview_size: 3 }} | ${{}}
  pre_send_message | CH-7-23@oneshot | pre_send_message | ${letter} | ${context}
  post_send_message | CH-7-24@oneshot | post_send_message | ${{ ...letter, delivery_result: 'ok' }} | ${context}
  post_index_file | CH-7-25@oneshot | post_index_file | ${{ path: 'p', lang: 'rust', symbol_count: 1, ref_count: 2 }} | ${{}}
  pre_vfs_write | CH-7-26@oneshot | pre_vfs_write | ${{ tool_name: 't', path: 'p', caller: 'c' }} | ${{ content: null }}
  post_vfs_write | CH-7-27@oneshot | post_vfs_write | ${{ tool_name: 't', path: 'p', caller: 'c' }} | ${{}}
  pre_clear | CH-7-28@oneshot | pre_clear | ${{ message_count: 1 }} | ${history}
  post_clear | CH-7-29@oneshot | post_clear | ${{}} | ${history}
  pre_compact | CH-7-30@oneshot | pre_compact | ${{ message_count: 1 }} | ${history}
  post_compact | CH-7-31@oneshot | post_compact | ${{ message_count: 1, summary: 's' }} | ${context}
  pre_rolling_compact | CH-7-32@oneshot | pre_rolling_compact | ${{ message_count: 2, non_system_count: 1 }} | ${history}
  post_rolling_compact | CH-7-33@oneshot | post_rolling_compact | ${{ message_count: 2, messages_archived: 1 }} | ${history}
`;

test.each(titled(rows))('$title is completed [CH-7-39]', ({ point, given, adds }) => {
  expect(chibi.complete(point, given, scene)).toEqual({ ...given, ...adds });
});

test('every point accepts its own payload, and no payload fits all points [CH-7-39]', () => {
  const accepts = (point: string, given: Payload) => {
    try {
      chibi.complete(point, given, createHookContext('s'));
      return true;
    } catch {
      return false;
    }
  };
  const open = Object.keys(chibi.points).filter((point) => accepts(point, {}));
  expect(open).toEqual(['on_start', 'on_end', 'pre_system_prompt', 'post_system_prompt', 'post_clear']);
});

const wrong = [
  { point: 'pre_tool', given: { tool_name: 't' }, says: 'the payload of pre_tool: `arguments` is missing' },
  {
    point: 'pre_tool',
    given: { ...call, arguments: [] },
    says: 'the payload of pre_tool: `arguments` is not an object',
  },
  {
    point: 'pre_message',
    given: { prompt: 5 },
    says: 'the payload of pre_message: `prompt` is not a string',
  },
  {
    point: 'pre_api_tools',
    given: { tools: {} },
    says: 'the payload of pre_api_tools: `tools` is not a list',
  },
  {
    point: 'pre_clear',
    given: { message_count: -1 },
    says: 'the payload of pre_clear: `message_count` is not a whole number from 0',
  },
  {
    point: 'post_tool',
    given: { ...call, result: 'r', cached: 'no' },
    says: 'the payload of post_tool: `cached` is not a boolean',
  },
  {
    point: 'pre_spawn_agent',
    given: { ...agent, max_tokens: 'x' },
    says: 'the payload of pre_spawn_agent: `max_tokens` is neither a number nor null',
  },
];

test.each(wrong)('$says [CH-7-39]', ({ point, given, says }) => {
  const complete = () => chibi.complete(point, given, scene);
  expect(complete).toThrow(RuntimeError);
  expect(complete).toThrow(
    expect.objectContaining({
      code: 'EVENT_INVALID',
      message: says,
      hint: expect.stringContaining('docs/reference/dialects.md'),
    }),
  );
});
