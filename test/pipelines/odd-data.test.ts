import { expect, test } from 'vitest';
import { openDesk } from './desk.ts';

const spec = `
tools:
  echo: {exec: {command: $bin/echo-args}}
  deep: {exec: {command: python3, args: [-c, "print('{\\"result\\": ' + '[' * 9000 + ']' * 9000 + '}')"]}}
  loud: {exec: {command: sh, args: [-c, "cat >/dev/null; echo SECRETLINE >&2; echo ok >&2; exit 3"]}}
`;

test('input that is nested too deeply, or has a duplicate key, is refused before anything is stored', async () => {
  const desk = await openDesk(spec);
  const step = 'steps: [{id: one, tool: echo, args: {}}]\n';
  const inputs = [`{"l": ${'['.repeat(9000)}${']'.repeat(9000)}}`, '{"a": 1, "a": 2}', '{"a": '];
  for (const input of inputs) {
    await expect(desk.run(step, input)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  }
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  await expect(desk.run(step, circle)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  expect(await desk.runtime.runs.list()).toEqual([]);
});

test('a result that is nested too deeply fails its step, which on_error handles', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - {id: one, tool: deep, on_error: continue}
  - {id: two, tool: echo, args: {code: "\${steps.one.error.code}"}}
output: \${steps.two.result}
`);
  expect(end).toMatchObject({ status: 'completed', output: { code: 'REPLY_MALFORMED' } });
});

test('a failed tool’s stderr is in no document: no filter has seen it', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: one, tool: loud}]\n');
  expect(end).toMatchObject({ status: 'failed', error: { code: 'PROCESS_EXIT' } });
  const shown = await desk.runtime.runs.show(end.run_id);
  expect(JSON.stringify([end, shown])).not.toContain('SECRETLINE');
});

test('a step that is called __proto__ is refused at load', async () => {
  const desk = await openDesk(spec);
  await expect(desk.run('steps: [{id: __proto__, tool: echo}]\n')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('inside a loop, an item’s view has the steps of its inner groups', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - id: loop
    for_each: [1, 2]
    steps: [{id: outer, steps: [{id: inner, tool: echo, args: {n: "\${item}"}}]}]
output: \${steps.loop.items.map(one, one.steps.inner.result.n)}
`);
  expect(end).toMatchObject({ status: 'completed', output: [1, 2] });
});

test('a large view costs an expression that reads it only one read', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
steps:
  - {id: first, for_each: "\${input.list}", steps: [{id: none, if: "\${false}", tool: echo}]}
  - {id: second, for_each: "\${input.list}", steps: [{id: some, if: "\${item > steps.first.items.size()}", tool: echo}]}
output: \${steps.second.items.size()}
`,
    { list: Array.from({ length: 400 }, (_, index) => index) },
  );
  expect(end).toMatchObject({ status: 'completed', output: 400 });
});
