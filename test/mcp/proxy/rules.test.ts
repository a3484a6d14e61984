import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { initialize, openDesk, result, tool, tools } from './desk.ts';

const request = (method: string, params: string, id: number | string = 1) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}","params":${params}}`;
const notice = (method: string, params: string) =>
  `{"jsonrpc":"2.0","method":"notifications/${method}","params":${params}}`;
const call = (args: string, name = 'echo', id = 1) =>
  request('tools/call', `{"name":"${name}","arguments":${args}}`, id);
const said = (text: string) => result(`{"content":[{"type":"text","text":"${text}"}]}`);
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a call is denied before it reaches the upstream, and its result after', async () => {
  const desk = await openDesk({ 'tools/call': [said('FORBIDDEN')] });
  const before = JSON.parse(await desk.ask(call('{"a":"FORBIDDEN"}')));
  expect(before.result.isError).toBe(true);
  expect(before.result.content[0].text).toBe('Tool "up__echo" was blocked by hook "guard": forbidden');
  expect(desk.received()).toEqual([]);
  const after = await desk.ask(call('{"a":1}', 'echo', 2));
  expect(JSON.parse(after).result.isError).toBe(true);
  expect(after).not.toContain('FORBIDDEN');
  expect(desk.received()).toEqual([call('{"a":1}', 'echo', 2)]);
});

test('what hooks replace in a call is replaced, and nothing else', async () => {
  const content = `{"content":[ {"type":"text","text":"a SECRET"},{"type":"text" ,"text":"b"}],"structuredContent":{"s":"SECRET","n":12345678901234567890},"x":1.0}`;
  const desk = await openDesk({ 'tools/call': [result(content)] });
  const answer = await desk.ask(
    `{"id":1,"jsonrpc":"2.0","method":"tools/call", "params":{"name":"echo","arguments":{"a":"SECRET"}}}`,
  );
  expect(JSON.parse(answer).result).toMatchObject({
    content: [
      { type: 'text', text: 'a [hidden]' },
      { type: 'text', text: 'b' },
    ],
    structuredContent: { s: '[hidden]' },
    x: 1,
  });
  expect(answer).toContain('12345678901234567890');
  expect(desk.received()).toEqual([
    `{"id":1,"jsonrpc":"2.0","method":"tools/call", "params":{"name":"echo","arguments":{"a": "[hidden]"}}}`,
  ]);
});

test('what a hook replaces by itself keeps its bytes, beside what it changes', async () => {
  const contents = '[ {"uri":"a:b" ,"text":"SECRET"}, {"uri" :"a:c","text":"\\u0061"} ]';
  const desk = await openDesk({ 'resources/read': [result(`{"contents":${contents},"n":[ 1.0 ]}`)] });
  expect(await desk.ask(request('resources/read', '{"uri":"a:b"}'))).toBe(
    `{"jsonrpc":"2.0","id":1,"result":{"contents":[ {"uri":"a:b","text":"[hidden]"}, {"uri" :"a:c","text":"\\u0061"} ],"n":[ 1.0 ]}}`,
  );
});

test('a replaced structuredContent that does not fit the outputSchema is withheld', async () => {
  const schema = ',"outputSchema":{"type":"object","properties":{"s":{"const":"SECRET"}}}';
  const desk = await openDesk({
    'tools/list': [tools(tool('echo', schema))],
    'tools/call': [result('{"content":[],"structuredContent":{"s":"SECRET"}}')],
  });
  const answer = await desk.ask(call('{}'));
  expect(JSON.parse(answer).result.isError).toBe(true);
  expect(answer).not.toContain('"structuredContent"');
});

test('the message and the data of an error are judged', async () => {
  const error = (message: string) =>
    `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32021, "message":"${message}","data":{"d":"SECRET"}}}`;
  const plain =
    '{"jsonrpc":"2.0", "id":$ID,"error":{"message":"no","code":-32602,"data":{"n":12345678901234567890}}}';
  const desk = await openDesk({
    'tools/call a': [plain],
    'tools/call b': [error('x')],
    'tools/list': [tools(tool('a'), tool('b'))],
    'resources/read': [error('FORBIDDEN')],
    'prompts/get': [error('ok')],
  });
  expect(await desk.ask(call('{}', 'a'))).toBe(plain.replace('$ID', '1'));
  expect(await desk.ask(call('{}', 'b', 2))).not.toContain('SECRET');
  const denied = JSON.parse(await desk.ask(request('resources/read', '{"uri":"a:b"}', 3)));
  expect(denied).toEqual({
    jsonrpc: '2.0',
    id: 3,
    error: { code: -32010, message: 'blocked by hook "guard": forbidden' },
  });
  const hidden = JSON.parse(await desk.ask(request('prompts/get', '{"name":"p"}', 4)));
  expect(hidden.error).toEqual({ code: -32021, message: 'ok', data: { d: '[hidden]' } });
});

/** Where a text may stand in what an upstream sends, and as which call hooks see it. */
const incoming: readonly [string, string, string, string][] = [
  ['the text of a resource', 'resources/read', '{"uri":"a:b"}', '{"contents":[{"uri":"a:b","text":"@"}]}'],
  [
    'the bytes of a resource',
    'resources/read',
    '{"uri":"a:b"}',
    '{"contents":[{"uri":"a:b","blob":"@64","mimeType":"text/plain"}]}',
  ],
  [
    'the definition of a resource',
    'resources/list',
    '{}',
    '{"resources":[{"uri":"a:b","name":"n","description":"@"}]}',
  ],
  [
    'a template',
    'resources/templates/list',
    '{}',
    '{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"@"}]}',
  ],
  ['the definition of a prompt', 'prompts/list', '{}', '{"prompts":[{"name":"p","description":"@"}]}'],
  [
    'the text of a prompt',
    'prompts/get',
    '{"name":"p"}',
    '{"messages":[{"role":"user","content":{"type":"text","text":"@"}}]}',
  ],
  [
    'the bytes of a prompt',
    'prompts/get',
    '{"name":"p"}',
    '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","blob":"@64"}}}]}',
  ],
  ['the description of a prompt', 'prompts/get', '{"name":"p"}', '{"description":"@","messages":[]}'],
  [
    'a completion',
    'completion/complete',
    '{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}',
    '{"completion":{"values":["@"]}}',
  ],
  ['_meta', 'resources/list', '{}', '{"resources":[],"_meta":{"x/y":"@"}}'],
  ['a member that nobody knows', 'resources/list', '{}', '{"resources":[],"nobody":{"deep":["@"]}}'],
  ['a member name', 'resources/list', '{}', '{"resources":[],"@":1}'],
  ['the definition of a tool', 'tools/list', '{}', '{"tools":[],"nobody":"@"}'],
];
const fill = (template: string, text: string) =>
  template.replaceAll('@64', base64(text)).replaceAll('@', text);

test.each(incoming)('%s is judged', async (_title, method, params, template) => {
  const desk = await openDesk({ [method]: [result(fill(template, 'FORBIDDEN'))] });
  const denied = await desk.ask(request(method, params));
  expect(JSON.parse(denied)).toMatchObject({ error: { message: expect.stringContaining('forbidden') } });
  expect(desk.seen().map(([phase, name]) => `${phase} ${name}`)).toContain(`after up__${method}`);
});

test.each(incoming)('%s is replaced where it stands', async (_title, method, params, template) => {
  const desk = await openDesk({ [method]: [result(fill(template, 'a SECRET'))] });
  const answer = JSON.parse(await desk.ask(request(method, params)));
  expect(answer.result).toEqual(JSON.parse(fill(template, 'a [hidden]')));
});

test.each([
  ['notifications/message', '{"level":"info","data":"@"}'],
  ['notifications/message', '{"level":"info","data":{"a":["@"]},"logger":"x"}'],
  ['notifications/progress', '{"progressToken":1,"progress":1,"message":"@"}'],
  ['notifications/resources/updated', '{"uri":"@"}'],
  ['notifications/elicitation/complete', '{"elicitationId":"@"}'],
])('a notification of the upstream is judged: %s %s', async (method, params) => {
  const one = (text: string) => `{"jsonrpc":"2.0","method":"${method}","params":${fill(params, text)}}`;
  const desk = await openDesk({ ping: [one('FORBIDDEN'), one('SECRET'), one('fine'), result('{}')] });
  expect(JSON.parse(await desk.ask(request('ping', '{}')))).toEqual(JSON.parse(one('[hidden]')));
  expect(await desk.next()).toBe(one('fine'));
  expect(await desk.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
});

test.each([
  [
    'elicitation/create',
    '{"message":"@","requestedSchema":{"type":"object","properties":{}}}',
    '{"action":"accept","content":{"a":"@"}}',
  ],
  [
    'elicitation/create',
    '{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"@"}}}}',
    '{"action":"accept","content":{"a":"@"}}',
  ],
  [
    'elicitation/create',
    '{"mode":"url","url":"https://x.example/@","elicitationId":"1","message":"m"}',
    '{"action":"accept","x":"@"}',
  ],
  [
    'sampling/createMessage',
    '{"maxTokens":1,"systemPrompt":"@","messages":[]}',
    '{"role":"assistant","model":"m","content":{"type":"text","text":"@"}}',
  ],
  [
    'sampling/createMessage',
    '{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"@"}}]}',
    '{"role":"assistant","model":"@","content":{"type":"text","text":"t"}}',
  ],
  ['roots/list', '{"_meta":{"a/b":"@"}}', '{"roots":[{"uri":"file:///@"}]}'],
])('a request of the upstream and its answer are judged: %s %s', async (method, params, answer) => {
  const ask = (id: number, text: string) => request(method, fill(params, text), id);
  const reply = (id: number, text: string) => `{"jsonrpc":"2.0","id":${id},"result":${fill(answer, text)}}`;
  const desk = await openDesk({ ping: [ask(7, 'FORBIDDEN'), ask(8, 'SECRET'), ask(9, 'fine')] });
  desk.stdin.write(`${request('ping', '{}')}\n`);
  expect(JSON.parse(await desk.next())).toEqual(JSON.parse(ask(8, '[hidden]')));
  expect(await desk.next()).toBe(ask(9, 'fine'));
  for (const line of [reply(7, 'late'), reply(8, 'a SECRET'), reply(9, 'FORBIDDEN'), reply(9, 'again')])
    desk.stdin.write(`${line}\n`);
  await expect.poll(() => desk.received().length).toBe(4);
  const [, refused, hidden, denied] = desk.received().map((line) => JSON.parse(line));
  expect(refused).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32010, message: 'blocked by hook "guard": forbidden' },
  });
  expect(hidden).toEqual(JSON.parse(reply(8, 'a [hidden]')));
  expect(denied).toMatchObject({ id: 9, error: { code: -32010 } });
});

test('what a client sends to an upstream is judged', async () => {
  const desk = await openDesk({ 'prompts/get': [result('{"messages":[]}')] });
  expect(await desk.ask(request('prompts/get', '{"name":"p","arguments":{"a":"FORBIDDEN"}}'))).toContain(
    'forbidden',
  );
  await desk.ask(
    request(
      'prompts/get',
      '{"name":"p","_meta":{"progressToken":"SECRET","x":"SECRET"},"arguments":{"a":"SECRET"}}',
      2,
    ),
  );
  desk.stdin.write(`${notice('progress', '{"progressToken":1,"progress":1,"message":"FORBIDDEN"}')}\n`);
  desk.stdin.write(`${notice('progress', '{"progressToken":1,"progress":1,"message":"SECRET"}')}\n`);
  await expect.poll(() => desk.received().length).toBe(2);
  expect(desk.received().map((line) => JSON.parse(line).params)).toEqual([
    { name: 'p', arguments: { a: '[hidden]' }, _meta: { x: '[hidden]', progressToken: 'SECRET' } },
    { progressToken: 1, progress: 1, message: '[hidden]' },
  ]);
});

test('the other members of a call are judged: what programs say beside the arguments', async () => {
  const desk = await openDesk({ 'tools/call': [said('fine')] });
  const withMeta = (meta: string, id: number) =>
    request('tools/call', `{"name":"echo","arguments":{},"_meta":${meta}}`, id);
  expect(await desk.ask(withMeta('{"x":"FORBIDDEN"}', 1))).toContain('forbidden');
  await desk.ask(withMeta('{"x":"SECRET"}', 2));
  expect(
    await desk.ask(request('tools/call', '{"name":"echo","arguments":{},"task":{"ttl":1}}', 3)),
  ).toContain('`params.task` is not passed');
  expect(desk.received().map((line) => JSON.parse(line).params)).toEqual([
    { name: 'echo', arguments: {}, _meta: { x: '[hidden]' } },
  ]);
});

test('unknown methods, notifications and results are refused in both directions', async () => {
  const desk = await openDesk({
    'resources/list': [
      '{"jsonrpc":"2.0","method":"notifications/nobody"}',
      '{"jsonrpc":"2.0","id":5,"method":"nobody/ask"}',
      result('{"resources":[]}'),
    ],
    'tools/call': [result('{"resultType":"task","taskId":"t","status":"working"}')],
  });
  for (const [id, method] of ['tasks/get', 'nobody', 'tasks/result', 'sampling/createMessage'].entries())
    expect(JSON.parse(await desk.ask(request(method, '{"taskId":"t"}', id)))).toMatchObject({
      id,
      error: { code: -32601 },
    });
  desk.stdin.write(`${notice('nobody', '{}')}\n${notice('initialized', '{"text":"hello"}')}\n`);
  expect(await desk.ask(request('resources/list', '{}', 10))).toBe(
    '{"jsonrpc":"2.0","id":10,"result":{"resources":[]}}',
  );
  expect(await desk.ask(call('{}', 'echo', 11))).toContain('which cannot be judged');
  expect(desk.received()).toEqual([
    request('resources/list', '{}', 10),
    expect.stringContaining('"id":5,"error":{"code":-32601'),
    call('{}', 'echo', 11),
  ]);
});

test('capabilities and extensions that nobody judges are removed on both sides', async () => {
  const capabilities =
    '{"tools":{"listChanged":true},"tasks":{"list":{}},"experimental":{"x":{}},"extensions":{"io.modelcontextprotocol/tasks":{}},"resources":{}}';
  const desk = await openDesk(
    {
      initialize: [
        result(
          `{"protocolVersion":"2025-11-25","capabilities":${capabilities},"serverInfo":{"name":"up","version":"1"}}`,
        ),
      ],
    },
    { begin: '', server: ', pass: [prompts]' },
  );
  const answer = await desk.ask(
    initialize.replace('"capabilities":{}', '"capabilities":{"tasks":{},"elicitation":{},"roots":{}}'),
  );
  expect(JSON.parse(answer).result.capabilities).toEqual({ tools: { listChanged: true } });
  expect(await desk.ask(request('resources/list', '{}'))).toContain('Method not found');
});

test('instructions and definitions pass by their pins: nothing new, changed or renamed', async () => {
  const info =
    '"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}';
  const script = (instructions: string, ...definitions: string[]) => ({
    initialize: [result(`{${info},"instructions":"${instructions}"}`)],
    'tools/list': [tools(...definitions)],
    'tools/call': [said('fine')],
  });
  const first = script(
    'one',
    tool('echo', ',"annotations":{"readOnlyHint":true},"nobody":[1.0]'),
    tool('other'),
  );
  const desk = await openDesk(first, { begin: '' });
  expect(JSON.parse(await desk.ask(initialize)).result.instructions).toBe('one');
  expect(await desk.ask(request('tools/list', '{}'))).toBe(
    tools(tool('echo', ',"nobody":[1.0]'), tool('other')).replace('$ID', '1'),
  );
  await desk.close();
  const changed = script('two', tool('echo', ',"nobody":[1.00]'), tool('renamed'), tool('other'));
  const file = `${desk.folder}/script.json`;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...changed }));
  const again = await desk.reopen();
  expect(JSON.parse(await again.ask(initialize)).result.instructions).toBeUndefined();
  // A call before any list is judged by the definition of this connection.
  for (const [id, name] of ['echo', 'renamed'].entries()) {
    const denied = await again.ask(call('{}', name, id));
    expect(denied).toContain('DEFINITION_UNACCEPTED');
  }
  expect(await again.ask(call('{}', 'other', 3))).toContain('fine');
  expect(JSON.parse(await again.ask(request('tools/list', '{}', 4))).result.tools).toEqual([
    JSON.parse(tool('other')),
  ]);
});

test.each([
  ['tools/call', '{"name":"echo","arguments":{"n":12345678901234567890}}'],
  ['resources/read', '{"uri":"a:b","n":12345678901234567890}'],
])('an approval by pattern holds, and the same %s passes after the decision', async (method, params) => {
  const spec = 'approvals: {all: {tools: ["up__*"]}}\n';
  const answer = result('{"content":[],"contents":[]}');
  const desk = await openDesk({ [method]: [answer] }, { spec });
  await desk.ask(request(method, params));
  const [pending] = await desk.runtime.pending.list();
  expect(desk.received()).toEqual([]);
  expect(await desk.ask(request(method, params, 2))).toContain(pending?.id);
  await desk.runtime.pending.approve(pending?.id ?? '', { by: 'ann', reason: '' });
  expect(await desk.ask(request(method, params, 3))).toBe(answer.replace('$ID', '3'));
  expect(desk.received()).toEqual([request(method, params, 3)]);
  expect(await desk.ask(request(method, params, 4))).not.toContain(pending?.id);
});

test('a call that is cancelled while hooks judge it never reaches the upstream', async () => {
  const desk = await openDesk({ 'tools/call': [said('done')] });
  desk.stdin.write(`${call('{"a":"SLOW"}')}\n${notice('cancelled', '{"requestId":1,"reason":"no"}')}\n`);
  expect(await desk.ask(request('ping', '{}', 2))).toContain('"id":2');
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(desk.received()).toEqual([request('ping', '{}', 2)]);
});

test('a cancellation follows a request that was sent, without a reason that hooks deny', async () => {
  const desk = await openDesk({ 'tools/call': [] });
  desk.stdin.write(`${call('{}')}\n`);
  await expect.poll(() => desk.received().length).toBe(1);
  desk.stdin.write(`${notice('cancelled', '{"requestId":1,"reason":"FORBIDDEN"}')}\n`);
  await expect.poll(() => desk.received().length).toBe(2);
  expect(JSON.parse(desk.received()[1] ?? '').params).toEqual({ requestId: 1 });
});

test('definitions and instructions cannot avoid their pins by a result of another type', async () => {
  const info =
    '"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"up","version":"1"}';
  const desk = await openDesk(
    { initialize: [result(`{${info}}`)], 'tools/list': [tools(tool('echo'))] },
    { begin: '' },
  );
  await desk.ask(initialize);
  await desk.ask(request('tools/list', '{}'));
  await desk.close();
  const other = {
    initialize: [result(`{"resultType":"input_required",${info},"instructions":"POISON"}`)],
    'tools/list': [
      tools(tool('echo', ',"description":"POISON"')).replace(
        '{"tools"',
        '{"resultType":"input_required","tools"',
      ),
    ],
  };
  const file = `${desk.folder}/script.json`;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...other }));
  const again = await desk.reopen();
  expect(await again.ask(initialize)).not.toContain('POISON');
  expect(await again.ask(request('tools/list', '{}', 2))).not.toContain('POISON');
});

test('an answer to a ping carries no text that no hook has seen', async () => {
  const desk = await openDesk({
    'resources/list': ['{"jsonrpc":"2.0","id":7,"method":"ping"}', result('{"resources":[]}')],
  });
  expect(await desk.ask(request('resources/list', '{}'))).toContain('ping');
  await desk.next();
  desk.stdin.write('{"jsonrpc":"2.0","id":7,"result":{"text":"UNSEEN"}}\n');
  await desk.ask(request('resources/list', '{}', 2));
  expect(desk.received().join()).not.toContain('UNSEEN');
});

test('a line break between two members does not make two messages for the client', async () => {
  const end = '\r';
  const inner = '{"jsonrpc":"2.0","id":8,"method":"nobody/ask"}';
  const desk = await openDesk({ 'resources/list': [result(`{"resources":[],"x":${end}${inner}${end}}`)] });
  expect(await desk.ask(request('resources/list', '{}'))).toBe(
    `{"jsonrpc":"2.0","id":1,"result":{"resources":[],"x": ${inner} }}`,
  );
});
