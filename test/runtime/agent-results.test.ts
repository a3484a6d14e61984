import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/base/json/json.ts';
import { faultOf } from '../process/harness.ts';
import { guard, text } from './content-desk.ts';
import { open } from './open.ts';

const spec = `
tools:
  typed: {aliases: [theirs], output_schema: {type: object, properties: {n: {type: integer}}}}
hooks:
  guard: {command: ./guard.py, runtime: server, hook: tool, phases: [after_execution]}
approvals:
  pushes: {tools: [push], message: Push?}
state_store: {type: sqlite, path: $folder/state.db}
`;

const image = { type: 'image', data: 'iVBORw0KGgoAAAAN', mimeType: 'image/png' };

async function openJudge(program = guard) {
  const { runtime } = await open(spec, {}, { 'guard.py': program });
  const judge = async (response: object, name = 'read') =>
    await runtime.agents.judge({
      ...{ hook: 'tool', phase: 'after_execution', request: { name, args: {}, call_id: 'c1' }, response },
    });
  return { runtime, judge };
}

test('a result in blocks is judged text by text and given back in its form', async () => {
  const { judge } = await openJudge();
  const given = {
    content: [
      text('a'),
      text('b SECRET'),
      image,
      { type: 'resource', resource: { uri: 'SECRET', text: 'c' } },
    ],
    structuredContent: { note: 'SECRET', n: JSON.rawJSON('12345678901234567890') },
    _meta: { note: 'SECRET' },
  };
  const document = await judge(given);
  expect(document).toMatchObject({ verdict: 'modify', hook: 'guard', dialect: 'promptkit' });
  expect(stringifyJson(document.replace)).toBe(stringifyJson(given).replaceAll('SECRET', '[hidden]'));
  expect(await judge({ content: [text('a'), image] })).toMatchObject({ verdict: 'allow', replace: null });
  expect(await judge({ content: [] })).toMatchObject({ verdict: 'allow', replace: null });
});

test('the metadata of a changed text counts over that of the others', async () => {
  const counting = guard
    .replace('return {"allow": True}', 'return {"allow": True, "metadata": {"hidden": 0, "other": 1}}')
    .replace('{"allow": True, "replace"', '{"allow": True, "metadata": {"hidden": 1}, "replace"');
  const { judge } = await openJudge(counting);
  expect(await judge({ content: [text('SECRET'), text('a')] })).toMatchObject({
    ...{ verdict: 'modify', metadata: { hidden: 1, other: 1 } },
  });
});

test('a hook that judges several texts is heard once', async () => {
  const { runtime } = await openJudge();
  const heard: string[] = [];
  const response = { content: [text('a'), text('b')] };
  const event = { hook: 'tool', phase: 'after_execution', request: { name: 'read' }, response } as const;
  await runtime.hooks.fire(event, { onHear: (hook) => heard.push(hook) });
  expect(heard).toEqual(['guard']);
});

test.each([
  ['one text is denied', 'read', { content: [text('SECRET'), text('FORBIDDEN')] }],
  ['structured content is no longer JSON', 'read', { content: [], structuredContent: ['SECRET', 'BREAK'] }],
  [
    'structured content does not fit the schema',
    'theirs',
    { content: [], structuredContent: { SECRET: 1, n: 'x' } },
  ],
])('the whole result is withheld if %s', async (_title, name, response) => {
  const { judge } = await openJudge();
  expect(await judge(response, name)).toMatchObject({ verdict: 'deny', hook: 'guard', replace: null });
});

test.each([
  ['an unknown block', { content: [{ type: 'video', data: '' }] }],
  ['a block without a text', { content: [text('a'), { type: 'text' }] }],
  ['deep JSON', { content: [{ ...text('a'), _meta: JSON.parse(`${'['.repeat(1500)}${']'.repeat(1500)}`) }] }],
])('a response that is no tool result of MCP is EVENT_INVALID: %s', async (_title, response) => {
  const { judge } = await openJudge();
  expect(await faultOf(judge(response))).toMatchObject({ code: 'EVENT_INVALID' });
});

test('a call that waits for a person has the id of its pending call and run', async () => {
  const { runtime } = await openJudge();
  const caller = { agent: 'claude', session: 's1', cwd: '/' };
  const push = { name: 'push', args: { force: false }, call_id: 'c1' };
  const ask = async (response?: object) =>
    await runtime.agents.judge({
      ...{ hook: 'tool', phase: response ? 'after_execution' : 'before_execution', request: push },
      ...{ caller, ...(response && { response }) },
    });
  const { pending, verdict } = await ask();
  const [open] = await runtime.pending.list();
  expect({ pending, verdict }).toEqual({ pending: { id: open?.id, run_id: open?.run_id }, verdict: 'deny' });
  expect((await ask()).pending).toEqual(pending);
  expect(await ask({ content: [text('done')] })).toMatchObject({ verdict: 'allow' });
  await runtime.pending.approve(open?.id ?? '', { by: 'mara' });
  const { pending: none, verdict: allowed } = await ask();
  expect({ none, allowed }).toEqual({ none: undefined, allowed: 'allow' });
});
