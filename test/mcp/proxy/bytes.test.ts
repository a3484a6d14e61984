import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDesk, result } from './desk.ts';

const PING = '{"jsonrpc":"2.0","id":2,"method":"ping"}';

const values = [
  '{ "n" : 12345678901234567890 , "a":[1.0,-0,1e400] }',
  '{"__proto__":{"x":1},"constructor":2}',
  String.raw`{"text":"\u0061\/é😀\ud83d\ude00\"","b":1,"a":2}`,
  '{"deep":[[[[{"z":null}]]]]}',
];

const content = (value: string) =>
  `{ "content":[ {"text":"ok" ,"type":"text"} ],"structuredContent":${value} ,"_meta":{"x/y": 1.50}, "nobody": [ ] }`;

test.each(values)('what hooks allow stays byte for byte, in both directions: %s', async (value) => {
  const answers = {
    'tools/call': [result(content(value))],
    'resources/read': [result(`{"contents":[{"uri":"a:b","text":"x","more":${value}}]}`)],
    'prompts/get': [
      result(`{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"more":${value}}`),
    ],
  };
  const desk = await openDesk(answers);
  const requests = [
    `{"id":1, "jsonrpc":"2.0","params":{"arguments":${value},"name":"echo"},"method":"tools/call"}`,
    `{"method":"resources/read","params":{"uri":"a:b","more":${value}},"jsonrpc":"2.0","id":"ä"}`,
    `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"p","arguments":{},"more":${value}}}`,
  ];
  for (const request of requests) {
    const { id, method } = JSON.parse(request);
    const [reply = ''] = answers[method as keyof typeof answers];
    expect(await desk.ask(request)).toBe(reply.replace('$ID', JSON.stringify(id)));
  }
  expect(desk.received()).toEqual(requests);
});

test('notifications and requests of the server stay byte for byte, and so do the answers', async () => {
  const asked = [
    '{"method":"notifications/message","params":{"data":{ "n":12345678901234567890},"level":"info"},"jsonrpc":"2.0"}',
    '{"method":"notifications/progress","params":{"progress":1.0,"progressToken":7,"message":"half"},"jsonrpc":"2.0"}',
    '{"id":9, "method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}},"jsonrpc":"2.0"}',
    '{"id":"s","method":"sampling/createMessage","params":{"maxTokens":1.0,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]},"jsonrpc":"2.0"}',
  ];
  const desk = await openDesk({ 'resources/list': [...asked, result('{"resources":[]}')] });
  const request = '{"jsonrpc":"2.0","id":1,"method":"resources/list"}';
  const first = await desk.ask(request);
  const shown = [first, ...(await Promise.all([desk.next(), desk.next(), desk.next(), desk.next()]))];
  expect(shown.slice(0, 4)).toEqual(asked);
  const answers = [
    '{"jsonrpc":"2.0", "id":9,"result":{"action":"accept","content":{"n":12345678901234567890}}}',
    '{"jsonrpc":"2.0", "id":"s","error":{"code":-1.0,"message":"no"}}',
    '{"jsonrpc":"2.0", "method":"notifications/progress","params":{"progressToken":1,"progress":1.0}}',
  ];
  for (const answer of answers) desk.stdin.write(`${answer}\n`);
  await desk.ask(PING);
  expect(desk.received()).toEqual([request, ...answers, PING]);
}, 20_000);

test('any arguments and any result stay byte for byte', async () => {
  const answers = await fc.sample(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), 30);
  for (const answer of answers.slice(0, 3)) {
    const value = JSON.stringify(answer);
    const reply = result(content(value));
    const desk = await openDesk({ 'tools/call': [reply] });
    const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${value}}}`;
    expect(await desk.ask(request)).toBe(reply.replace('$ID', '1'));
    expect(desk.received()).toEqual([request]);
  }
});
