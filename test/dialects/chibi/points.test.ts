import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { points } from '../../../src/dialects/chibi/points.ts';
import { openRuntime, type Runtime } from '../../../src/index.ts';
import { titled } from '../../cite.ts';
import { newProject, runtimeYaml } from '../project.ts';
import { model, safety, texts } from './guards.ts';
import { importPlugins, inFolder, logPlugin } from './plugins.ts';

const answered = ['texts', 'safety', 'model'];
const told = Object.entries(points).flatMap(([name, { isFilter }]) => (isFilter ? [] : [name]));

let runtime: Runtime;
let folder: string;

beforeAll(async () => {
  folder = newProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({
      '10-texts': texts,
      '20-safety': safety,
      '30-model': model,
      '40-log': logPlugin('log', told),
    }),
  });
  runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
});

afterAll(() => runtime.close());

function fire(point: string, payload: object) {
  return runtime.hooks.fire({ dialect: 'chibi', point, payload });
}

function decision(verdict: string, hook: string | null, more: object = {}) {
  const rest = { reason: '', enforced: false, replace: null, result: null, context: [], abort: null };
  return { verdict, hook, dialect: 'chibi', ...rest, metadata: {}, ...more };
}

const call = { tool_name: 'x', arguments: { path: 'a' } };
const letter = { from: 'amy', to: 'bob', content: 'hi' };
const rows = [
  {
    title: 'pre_message takes a prompt',
    cites: 'CH-7-03@oneshot',
    point: 'pre_message',
    payload: { prompt: 'hi' },
    is: decision('modify', 'texts', { replace: { prompt: '[texts] go on' } }),
  },
  {
    title: 'pre_system_prompt puts each text in front of the last',
    cites: 'CH-7-05@oneshot',
    point: 'pre_system_prompt',
    payload: { context_name: 'desk' },
    is: decision('modify', 'safety', { replace: { inject: ['Context: desk', 'You are careful.'] } }),
  },
  {
    title: 'post_system_prompt puts each text behind the last',
    cites: 'CH-7-06@oneshot',
    point: 'post_system_prompt',
    payload: {},
    is: decision('modify', 'safety', { replace: { inject: ['Answer in Dutch.', 'Be brief.'] } }),
  },
  {
    title: 'pre_tool takes arguments',
    cites: 'CH-7-07@oneshot',
    point: 'pre_tool',
    payload: call,
    is: decision('modify', 'safety', { replace: { args: { path: 'a', dry_run: true } } }),
  },
  {
    title: 'pre_tool blocks',
    cites: 'CH-7-07@oneshot',
    point: 'pre_tool',
    payload: { ...call, tool_name: 'forbidden' },
    is: decision('deny', 'safety', { reason: 'not this one' }),
  },
  {
    title: 'pre_tool_output takes an output',
    cites: 'CH-7-09@oneshot',
    point: 'pre_tool_output',
    payload: { ...call, output: 'done' },
    is: decision('modify', 'safety', { replace: { content: 'DONE' } }),
  },
  {
    title: 'pre_tool_output blocks in chibi’s words',
    cites: 'CH-7-09@oneshot',
    point: 'pre_tool_output',
    payload: { ...call, output: 'SECRET' },
    is: decision('deny', 'safety', { reason: 'Output blocked by hook' }),
  },
  {
    title: 'pre_api_tools honours include and exclude in one answer',
    cites: 'CH-7-11@oneshot',
    point: 'pre_api_tools',
    payload: { tools: [{ name: 'a', type: 'plugin' }] },
    is: decision('modify', 'model', { replace: { tools: { include: ['a', 'b', 'c'], exclude: ['b'] } } }),
  },
  {
    title: 'pre_api_request merges the body',
    cites: 'CH-7-12@oneshot',
    point: 'pre_api_request',
    payload: { request_body: { model: 'm', messages: [] } },
    is: decision('modify', 'model', { replace: { request_body: { temperature: 0.5, model: 'm-mini' } } }),
  },
  {
    title: 'pre_agentic_loop sets and adds fuel',
    cites: 'CH-7-13@oneshot',
    point: 'pre_agentic_loop',
    payload: { message: 'hi', fuel_remaining: 9, fuel_total: 9 },
    is: decision('modify', 'model', { replace: { fallback: 'call_agent', fuel: 4 } }),
  },
  {
    title: 'post_tool_batch never goes below nothing',
    cites: 'CH-7-14@oneshot',
    point: 'post_tool_batch',
    payload: { tool_calls: [1, 2, 3], fuel_remaining: 2, fuel_total: 9 },
    is: decision('modify', 'model', { replace: { fuel_delta: -2 } }),
  },
  {
    title: 'pre_file_read asks what nobody denied, although it lies inside the project',
    cites: 'CH-7-15@oneshot CH-7-40@oneshot',
    point: 'pre_file_read',
    payload: { tool_name: 'cat', path: 'a.txt' },
    is: decision('ask', 'safety', { reason: 'cat: a.txt' }),
  },
  {
    title: 'pre_file_read denies',
    cites: 'CH-7-15@oneshot',
    point: 'pre_file_read',
    payload: { tool_name: 'cat', path: '.env' },
    is: decision('deny', 'safety', { reason: 'no dotenv' }),
  },
  {
    title: 'pre_file_write denies in the form of before February 2026',
    cites: 'CH-7-16@oneshot CH-6-05@oneshot',
    point: 'pre_file_write',
    payload: { tool_name: 'write', path: 'a', content: 'x' },
    is: decision('deny', 'safety', { reason: 'read-only day' }),
  },
  {
    title: 'pre_shell_exec denies',
    cites: 'CH-7-17@oneshot',
    point: 'pre_shell_exec',
    payload: { tool_name: 'sh', command: 'rm -rf /' },
    is: decision('deny', 'texts', { reason: 'Destructive command blocked' }),
  },
  {
    title: 'pre_shell_exec comes back to a host as a question',
    cites: 'CH-7-17@oneshot CH-7-40@oneshot',
    point: 'pre_shell_exec',
    payload: { tool_name: 'sh', command: 'ls' },
    is: decision('ask', 'texts', { reason: 'sh: ls' }),
  },
  {
    title: 'pre_fetch_url denies without a reason of its own',
    cites: 'CH-7-18@oneshot',
    point: 'pre_fetch_url',
    payload: { tool_name: 'get', safety: 'no_url', summary: 'x' },
    is: decision('deny', 'safety', { reason: 'denied by plugin' }),
  },
  {
    title: 'pre_spawn_agent takes a response before a block',
    cites: 'CH-7-19@oneshot',
    point: 'pre_spawn_agent',
    payload: { system_prompt: '', input: 'x' },
    is: decision('respond', 'safety', { result: { response: 'cached answer' } }),
  },
  {
    title: 'pre_cache_output shows a summary',
    cites: 'CH-7-21@oneshot',
    point: 'pre_cache_output',
    payload: { ...call, content: 'a\nb\n' },
    is: decision('modify', 'model', { replace: { summary: '2 lines' } }),
  },
  {
    title: 'pre_cache_output keeps the output out of the cache',
    cites: 'CH-7-21@oneshot',
    point: 'pre_cache_output',
    payload: { ...call, tool_name: 'raw', content: 'a' },
    is: decision('modify', 'model', { replace: { cache: false } }),
  },
  {
    title: 'pre_send_message delivers by the tool',
    cites: 'CH-7-23@oneshot',
    point: 'pre_send_message',
    payload: letter,
    is: decision('respond', 'model', { result: { delivered: true, via: 'model' } }),
  },
  {
    title: 'pre_send_message without an opinion',
    cites: 'CH-7-23@oneshot',
    point: 'pre_send_message',
    payload: { ...letter, to: 'eve' },
    is: decision('allow', null),
  },
];

test.each(titled(rows))('$title', async ({ point, payload, is }) => {
  expect(await fire(point, payload)).toEqual(is);
});

const spawned = { system_prompt: 's', input: 'i', model: null };
const history = { context_name: 'desk', message_count: 3, summary: 's' };
const plain: Readonly<Record<string, { readonly given: object; readonly more?: object }>> = {
  on_start: { given: {}, more: { tool_count: 1 } },
  on_end: { given: { tool_count: 7 } },
  post_message: {
    given: { prompt: 'p', response: 'r', context_name: 'desk' },
    more: { original_prompt: 'p' },
  },
  post_tool: { given: { ...call, result: 'r' }, more: { cached: false } },
  post_tool_output: { given: { ...call, output: 'o' }, more: { final_output: 'o', cached: false } },
  post_spawn_agent: { given: { ...spawned, response: 'r' } },
  post_cache_output: { given: { tool_name: 't', cache_id: 'c', output_size: 9, preview_size: 1 } },
  post_send_message: { given: { ...letter, delivery_result: 'sent', context_name: 'desk' } },
  post_index_file: { given: { path: 'a', lang: 'rust', symbol_count: 1, ref_count: 2 } },
  pre_vfs_write: { given: { tool_name: 't', path: 'vfs:///a', content: null, caller: 'c' } },
  post_vfs_write: { given: { tool_name: 't', path: 'vfs:///a', caller: 'c' } },
  pre_clear: { given: history },
  post_clear: { given: history },
  pre_compact: { given: history },
  post_compact: { given: history },
  pre_rolling_compact: { given: { ...history, non_system_count: 2 } },
  post_rolling_compact: { given: { ...history, messages_archived: 2 } },
};
const cites =
  'CH-7-01@oneshot CH-7-02@oneshot CH-7-04@oneshot CH-7-08@oneshot CH-7-10@oneshot CH-7-20@oneshot CH-7-22@oneshot CH-7-24@oneshot CH-7-25@oneshot CH-7-26@oneshot CH-7-27@oneshot CH-7-28@oneshot CH-7-29@oneshot CH-7-30@oneshot CH-7-31@oneshot CH-7-32@oneshot CH-7-33@oneshot CH-5-03@oneshot CH-7-40@oneshot';

test(`points without result fields allow at once, and their plugins are informed [${cites}]`, async () => {
  expect(Object.keys(plain)).toEqual(told);
  const project = newProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({ log: logPlugin('log', told) }),
  });
  const own = await openRuntime(join(project, 'runtime.yaml'), { log: false });
  for (const [point, { given: payload }] of Object.entries(plain)) {
    expect(await own.hooks.fire({ dialect: 'chibi', point, payload })).toEqual(decision('allow', null));
  }
  await own.close();
  const lines = readFileSync(join(project, 'log'), 'utf8').trimEnd().split('\n');
  const said = lines.map((line) => [line.split(' ', 1)[0], JSON.parse(line.slice(line.indexOf(' ')))]);
  const home = { chibi_home: project, project_root: project };
  expect(said).toEqual(
    Object.entries(plain).map(([point, { given, more }]) => [
      point,
      { ...(point === 'on_start' || point === 'on_end' ? home : {}), ...given, ...more },
    ]),
  );
});

test('every point is one of the two kinds, and has a row [CH-7-39]', () => {
  const asked = new Set(rows.map(({ point }) => point));
  expect([...asked, ...told].toSorted()).toEqual(Object.keys(points).toSorted());
  expect(runtime.hooks.list().map(({ name }) => name)).toEqual([...answered, 'log']);
});
