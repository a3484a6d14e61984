import { expect, test } from 'vitest';
import { eras, fixture, serve, wires } from './serving.ts';

const everyWay = wires.flatMap((wire) => eras.map((era) => ({ wire, era })));

const tools = `
tools:
  echo:
    description: Repeats its arguments.
    input_schema: {type: object, properties: {text: {type: string}}, required: [text]}
    exec: {command: ${fixture('echo-args')}}
  count:
    output_schema: {type: integer}
    exec: {command: ./count.sh}
  broken: {exec: {command: ./broken.sh}}
  guarded: {exec: {command: ${fixture('echo-args')}}}
  refund: {approval: required, exec: {command: ${fixture('echo-args')}}}
  planned: {description: It has no program.}
hooks:
  guard: {command: ./deny.sh, hook: tool, phases: [before_execution], match: {tools: [guarded]}}
`;
const files = {
  'count.sh': '#!/bin/sh\necho \'{"result": 3}\'\n',
  'broken.sh': '#!/bin/sh\necho \'{"error": "the printer is on fire"}\'\n',
  'deny.sh': '#!/bin/sh\necho \'{"allow": false, "reason": "not on Saturdays"}\'\n',
};

test.each(everyWay)('tools are listed in the order of the config ($wire, $era)', async ({ wire, era }) => {
  const { client } = await serve(wire, tools, { files });
  const { tools: listed } = await (await client(era)).listTools();
  expect(listed.map(({ name }) => name)).toEqual(['echo', 'count', 'broken', 'guarded', 'refund']);
  expect(listed[0]).toEqual({
    name: 'echo',
    description: 'Repeats its arguments.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  });
  expect(listed[2]).toEqual({ name: 'broken', inputSchema: { type: 'object' } });
});

test.each(everyWay)('a result is a text, as the model must see it ($wire, $era)', async ({ wire, era }) => {
  const { client } = await serve(wire, tools, { files });
  const result = await (await client(era)).callTool({ name: 'echo', arguments: { text: 'hé' } });
  expect(result.content).toEqual([{ type: 'text', text: '{"text":"hé"}' }]);
  expect(result).not.toHaveProperty('structuredContent');
  expect(result.isError).toBeUndefined();
});

test.each([
  { era: '2025', structuredContent: { result: 3 } },
  { era: '2026', structuredContent: 3 },
] as const)('a tool with an output schema always gives structured content ($era)', async (given) => {
  const { client } = await serve('http', tools, { files });
  const result = await (await client(given.era)).callTool({ name: 'count' });
  expect(result).toMatchObject({
    content: [{ type: 'text', text: '3' }],
    structuredContent: given.structuredContent,
  });
});

const refused = [
  { name: 'broken', args: {}, text: 'Tool "broken" failed: [TOOL_ERROR] the printer is on fire' },
  { name: 'guarded', args: {}, text: 'Tool "guarded" was blocked by hook "guard": not on Saturdays' },
  { name: 'echo', args: { text: 5 }, text: 'Tool "echo" failed: [ARGS_INVALID]' },
];

test.each(everyWay.flatMap((way) => refused.map((call) => ({ ...way, ...call }))))(
  'a call without a result says why ($name, $wire, $era)',
  async ({ wire, era, name, args, text }) => {
    const { client } = await serve(wire, tools, { files });
    const result = await (await client(era)).callTool({ name, arguments: args });
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining(text) }]);
  },
);

test.each(everyWay)(
  'a call that waits for a person is stored, and says how to decide ($wire, $era)',
  async ({ wire, era }) => {
    const { client, runtime, folder } = await serve(wire, tools, { files });
    const result = await (await client(era)).callTool({ name: 'refund', arguments: { order: 17 } });
    const [pending] = await runtime.pending.list();
    // A client over HTTP may be on another machine.
    const options = wire === 'stdio' ? ` --config ${folder}/runtime.yaml` : '';
    expect(pending).toMatchObject({ tool: 'refund', args: { order: 17 } });
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([
      {
        type: 'text',
        text: expect.stringContaining(`\`signalbox pending approve ${pending?.id}${options}\``),
      },
    ]);
  },
);

test.each(wires)('the same call made again after the decision gets the result, once (%s)', async (wire) => {
  const { client, runtime } = await serve(wire, tools, { files });
  const connected = await client('2026');
  const ask = async (args: Record<string, unknown>) =>
    await connected.callTool({ name: 'refund', arguments: args });
  const open = async () => (await runtime.pending.list()).map(({ id }) => id);
  await ask({ order: 17, items: ['a'] });
  const [id = ''] = await open();
  expect(await ask({ items: ['a'], order: 17 })).toMatchObject({ isError: true });
  expect(await open()).toEqual([id]);
  await runtime.pending.approve(id, { by: 'mara', reason: '' });
  expect(await ask({ order: 17, items: ['a'] })).toMatchObject({
    content: [{ type: 'text', text: '{"order":17,"items":["a"]}' }],
  });
  expect(await ask({ order: 17, items: ['a'] })).toMatchObject({ isError: true });
  expect(await open()).toHaveLength(1);
});

test('a rejected call says why', async () => {
  const { client, runtime } = await serve('stdio', tools, { files });
  const connected = await client('2026');
  await connected.callTool({ name: 'refund' });
  const [pending] = await runtime.pending.list();
  await runtime.pending.reject(pending?.id ?? '', { by: 'mara', reason: 'too much money' });
  expect(await connected.callTool({ name: 'refund' })).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringContaining('too much money') }],
  });
});

test('an unknown tool is an error that names the nearest one', async () => {
  const { client } = await serve('http', tools, { files });
  const call = (await client('2026')).callTool({ name: 'ecko' });
  await expect(call).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('there is no tool "ecko"; did you mean `echo`?'),
  });
});

test('patterns choose the tools', async () => {
  const { client } = await serve('stdio', tools, { files, tools: ['g*', 'e?ho'] });
  const { tools: listed } = await (await client('2026')).listTools();
  expect(listed.map(({ name }) => name)).toEqual(['echo', 'guarded']);
});

test.each([
  { spec: 'tools: {}', given: undefined, message: /declares no tool that can run/ },
  {
    spec: 'tools: {planned: {description: None}}',
    given: undefined,
    message: /declares no tool that can run/,
  },
  { spec: tools, given: ['echo', 'x*'], message: /^no tool matches `x\*`$/ },
  { spec: tools, given: ['planned'], message: /^no tool matches `planned`$/ },
])('nothing is served without a tool: $message', async ({ spec, given, message }) => {
  const served = serve('http', spec, { files, ...(given && { tools: given }) });
  await expect(served).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(message) });
});
