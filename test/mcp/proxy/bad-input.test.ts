import { expect, test } from 'vitest';
import { openDesk, result, tool, tools } from './desk.ts';

const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
const call = (id: number, name = 'echo') =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{}}}`;
const said = result('{"content":[{"type":"text","text":"fine"}]}');

test.each([
  ['no JSON', '{"jsonrpc"', -32700],
  ['a batch', `[${ping(1)},${ping(2)}]`, -32600],
  ['a number', '7', -32600],
  ['a member twice', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}', -32600],
  [
    'a member twice, by an escape',
    String.raw`{"jsonrpc":"2.0","id":1,"method":"tools/list","\u006dethod":"ping"}`,
    -32600,
  ],
  [
    'a member twice, inside',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"echo"}}',
    -32600,
  ],
  ['another spelling of a member', '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}', -32600],
  ['a wrong version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['an ID that is no ID', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":[]}', -32602],
  [
    '1,001 levels',
    `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"a":${'['.repeat(1_001)}${']'.repeat(1_001)}}}`,
    -32600,
  ],
  ['a result without an ID', '{"jsonrpc":"2.0","result":{}}', -32600],
  ['9 MB', `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"${'x'.repeat(9_000_000)}"}}`, -32600],
])(
  'a client that sends %s gets an error, and goes on',
  async (_title, line, code) => {
    const desk = await openDesk({});
    expect(JSON.parse(await desk.ask(line))).toMatchObject({ error: { code } });
    expect(await desk.ask(ping(2))).toBe('{"jsonrpc":"2.0","id":2,"result":{}}');
    expect(desk.received()).toEqual([ping(2)]);
  },
  30_000,
);

test('a line of 60 MB is not kept, and the next one is read', async () => {
  const desk = await openDesk({});
  for (let part = 0; part < 60; part += 1) desk.stdin.write('x'.repeat(1_000_000));
  expect(JSON.parse(await desk.ask(''))).toMatchObject({ error: { code: -32600 } });
  expect(await desk.ask(ping(2))).toContain('"id":2');
}, 30_000);

test('half a message waits for its end, and blank lines are none', async () => {
  const desk = await openDesk({});
  desk.stdin.write('\n \r\n{"jsonrpc":"2.0",');
  desk.stdin.write('"id":1,"method"');
  expect(await desk.ask(':"ping"}\r')).toContain('"id":1');
});

test('a request with the ID of an open one is refused, and the open one is answered once', async () => {
  const desk = await openDesk({ 'tools/call': ['SLEEP 0.3', said, said, result('{"content":[]}')] });
  desk.stdin.write(`${call(1)}\n`);
  await expect.poll(() => desk.received().length).toBe(1);
  expect(await desk.ask(ping(1))).toContain('is open');
  expect(await desk.next()).toBe(said.replace('$ID', '1'));
  expect(await desk.ask(ping(2))).toContain('"id":2');
  expect(desk.log.filter((line) => line.includes('not open'))).toHaveLength(2);
});

test('answers of the upstream to nothing are dropped, and unreadable ones are errors', async () => {
  const desk = await openDesk({
    'tools/list': [tools(tool('a'), tool('b'), tool('c'))],
    'tools/call a': [
      '{"jsonrpc":"2.0","id":99,"result":{}}',
      '{"jsonrpc":"2.0","id":"1","result":{}}',
      '[]',
      '{',
      said,
    ],
    'tools/call b': ['{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"result":{"content":[]}}'],
    'tools/call c': ['{"jsonrpc":"2.0","id":$ID,"result":[]}'],
  });
  expect(await desk.ask(call(1, 'a'))).toBe(said.replace('$ID', '1'));
  for (const [id, name] of [
    [2, 'b'],
    [3, 'c'],
  ] as const) {
    const { result: answer } = JSON.parse(await desk.ask(call(id, name)));
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('[REPLY_MALFORMED]') }],
    });
  }
});

test.each([
  ['ends', ['EXIT'], /SERVER_EXIT/],
  ['floods', ['FLOOD 12000000'], /OUTPUT_LIMIT/],
])(
  'an upstream that %s ends the connection, after an error for what is open',
  async (_title, lines, code) => {
    const desk = await openDesk({ 'tools/call': lines, ping: [] });
    desk.stdin.write(`${ping(1)}\n${call(2)}\n`);
    const answers = [await desk.next(), await desk.next()];
    expect(answers.find((line) => line.includes('"id":2'))).toMatch(code);
    expect(answers.find((line) => line.includes('"id":1'))).toMatch(code);
    await desk.closed;
  },
  30_000,
);

test('a stuck upstream holds up nobody but who waits for it, and ends with its client', async () => {
  const desk = await openDesk({
    'tools/list': [tools(tool('stuck'), tool('quick'))],
    'tools/call stuck': [],
    'tools/call quick': [said],
  });
  desk.stdin.write(`${call(1, 'stuck')}\n`);
  expect(await desk.ask(call(2, 'quick'))).toBe(said.replace('$ID', '2'));
  desk.stdin.end();
  await desk.closed;
}, 30_000);

test('two clients have an upstream each, and their messages do not meet', async () => {
  const one = await openDesk({ 'tools/call': [said] });
  const other = await one.reopen();
  const text =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"another","version":"1"}}}';
  expect(await other.ask(text)).toContain('"result"');
  const answers = await Promise.all([one.ask(call(1)), other.ask(ping(1))]);
  expect(answers).toEqual([said.replace('$ID', '1'), '{"jsonrpc":"2.0","id":1,"result":{}}']);
  expect(one.received()).toEqual([call(1)]);
});
