import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import type { Payload } from '../../../src/dialects/foreign-dialect.ts';
import { titled } from '../../cite.ts';
import { scene } from './asking.ts';

const call = { tool_name: 't', arguments: new Json('{"n": 12345678901234567890}') };
const agent = { system_prompt: 's', input: 'i' };
const letter = { from: 'a', to: 'b', content: 'c' };

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point: string;
  readonly given: Payload;
  /** What stands there beside what was given. */
  readonly adds: Payload;
}

const context = { context_name: 'desk' };
const history = { ...context, summary: '' };
const fuel = { fuel_remaining: 30, fuel_total: 40 };

const rows: readonly Row[] = [
  { title: 'on_start', cites: 'CH-7-01@oneshot', point: 'on_start', given: {}, adds: { tool_count: 0 } },
  {
    title: 'pre_message',
    cites: 'CH-7-03@oneshot',
    point: 'pre_message',
    given: { prompt: 'p', extra: 1 },
    adds: history,
  },
  {
    title: 'post_message',
    cites: 'CH-7-04@oneshot',
    point: 'post_message',
    given: { prompt: 'p', response: 'r' },
    adds: { ...context, original_prompt: 'p' },
  },
  {
    title: 'pre_system_prompt',
    cites: 'CH-7-05@oneshot',
    point: 'pre_system_prompt',
    given: { summary: 's' },
    adds: { ...context, flock_goals: [] },
  },
  { title: 'pre_tool', cites: 'CH-7-07@oneshot', point: 'pre_tool', given: call, adds: {} },
  {
    title: 'post_tool',
    cites: 'CH-7-08@oneshot',
    point: 'post_tool',
    given: { ...call, result: 'r' },
    adds: { cached: false },
  },
  {
    title: 'post_tool_output',
    cites: 'CH-7-10@oneshot',
    point: 'post_tool_output',
    given: { ...call, output: 'o' },
    adds: { final_output: 'o', cached: false },
  },
  {
    title: 'pre_api_tools',
    cites: 'CH-7-11@oneshot',
    point: 'pre_api_tools',
    given: { tools: [], fuel_total: 50 },
    adds: { ...context, fuel_remaining: 30 },
  },
  {
    title: 'pre_agentic_loop',
    cites: 'CH-7-13@oneshot',
    point: 'pre_agentic_loop',
    given: { message: 'm' },
    adds: { ...context, ...fuel, current_fallback: 'call_user' },
  },
  {
    title: 'pre_file_write',
    cites: 'CH-7-16@oneshot',
    point: 'pre_file_write',
    given: { tool_name: 't', path: 'p' },
    adds: { content: null },
  },
  {
    title: 'pre_fetch_url',
    cites: 'CH-7-18@oneshot',
    point: 'pre_fetch_url',
    given: { tool_name: 't', safety: 'sensitive', url: 'u', reason: 'r' },
    adds: {},
  },
  {
    title: 'pre_spawn_agent',
    cites: 'CH-7-19@oneshot',
    point: 'pre_spawn_agent',
    given: { ...agent, temperature: 0.5 },
    adds: { model: null, max_tokens: null },
  },
  {
    title: 'post_spawn_agent',
    cites: 'CH-7-20@oneshot',
    point: 'post_spawn_agent',
    given: { ...agent, model: 'm', response: 'r' },
    adds: {},
  },
  {
    title: 'pre_cache_output',
    cites: 'CH-7-21@oneshot',
    point: 'pre_cache_output',
    given: { ...call, content: 'é\nb\n' },
    adds: { char_count: 4, line_count: 2, output_size: 5 },
  },
  {
    title: 'post_cache_output',
    cites: 'CH-7-22@oneshot',
    point: 'post_cache_output',
    given: { tool_name: 't', cache_id: 'i', output_size: 9, preview_size: 3 },
    adds: {},
  },
  {
    title: 'pre_send_message',
    cites: 'CH-7-23@oneshot',
    point: 'pre_send_message',
    given: letter,
    adds: context,
  },
  {
    title: 'post_send_message',
    cites: 'CH-7-24@oneshot',
    point: 'post_send_message',
    given: { ...letter, delivery_result: 'ok' },
    adds: context,
  },
  {
    title: 'post_index_file',
    cites: 'CH-7-25@oneshot',
    point: 'post_index_file',
    given: { path: 'p', lang: 'rust', symbol_count: 1, ref_count: 2 },
    adds: {},
  },
  {
    title: 'pre_vfs_write',
    cites: 'CH-7-26@oneshot',
    point: 'pre_vfs_write',
    given: { tool_name: 't', path: 'p', caller: 'c' },
    adds: { content: null },
  },
  {
    title: 'post_vfs_write',
    cites: 'CH-7-27@oneshot',
    point: 'post_vfs_write',
    given: { tool_name: 't', path: 'p', caller: 'c' },
    adds: {},
  },
  {
    title: 'pre_clear',
    cites: 'CH-7-28@oneshot',
    point: 'pre_clear',
    given: { message_count: 1 },
    adds: history,
  },
  { title: 'post_clear', cites: 'CH-7-29@oneshot', point: 'post_clear', given: {}, adds: history },
  {
    title: 'pre_compact',
    cites: 'CH-7-30@oneshot',
    point: 'pre_compact',
    given: { message_count: 1 },
    adds: history,
  },
  {
    title: 'post_compact',
    cites: 'CH-7-31@oneshot',
    point: 'post_compact',
    given: { message_count: 1, summary: 's' },
    adds: context,
  },
  {
    title: 'pre_rolling_compact',
    cites: 'CH-7-32@oneshot',
    point: 'pre_rolling_compact',
    given: { message_count: 2, non_system_count: 1 },
    adds: history,
  },
  {
    title: 'post_rolling_compact',
    cites: 'CH-7-33@oneshot',
    point: 'post_rolling_compact',
    given: { message_count: 2, messages_archived: 1 },
    adds: history,
  },
];

test.each(titled(rows))('$title is completed [CH-7-39]', ({ point, given, adds }) => {
  expect(chibi.complete(point, given, scene)).toEqual({ ...given, ...adds });
});

test('every point takes the payload that fits it, and none fits them all [CH-7-39]', () => {
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
    says: 'the payload of pre_tool: `arguments` is no object',
  },
  { point: 'pre_message', given: { prompt: 5 }, says: 'the payload of pre_message: `prompt` is no text' },
  { point: 'pre_api_tools', given: { tools: {} }, says: 'the payload of pre_api_tools: `tools` is no list' },
  {
    point: 'pre_clear',
    given: { message_count: -1 },
    says: 'the payload of pre_clear: `message_count` is no whole number from 0',
  },
  {
    point: 'post_tool',
    given: { ...call, result: 'r', cached: 'no' },
    says: 'the payload of post_tool: `cached` is no boolean',
  },
  {
    point: 'pre_spawn_agent',
    given: { ...agent, max_tokens: 'x' },
    says: 'the payload of pre_spawn_agent: `max_tokens` is no number, nor null',
  },
];

test.each(wrong)('$says [CH-7-39]', ({ point, given, says }) => {
  const complete = () => chibi.complete(point, given, scene);
  expect(complete).toThrow(RuntimeError);
  expect(complete).toThrow(
    expect.objectContaining({
      code: 'EVENT_INVALID',
      message: says,
      hint: expect.stringContaining('docs/dialects.md'),
    }),
  );
});
