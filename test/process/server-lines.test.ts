import { afterAll, describe, expect, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import { titled } from '../cite.ts';
import { allOf, bind, bindPuppet, bindServer, dropped, faultOf, open, until } from './harness.ts';

/** Most rows share one process. Each makes one or two requests and knows their ids. */
const sendTheId =
  'Send the id of the request back. Remove `runtime: server` for a script that serves one call without ids.';
const puppet = await open(bindPuppet(), { shared: true });
afterAll(() => puppet.transport.close());
let lastId = 0;

function ask<Answer>(way: (args: object) => Promise<Answer>, write: string): Promise<Answer> {
  lastId += 1;
  return way({ write });
}

/** The text of a row, about the latest request. */
function ofLast(text: string): string {
  return text.replaceAll('%ID', `${lastId}`);
}

const good = '{"jsonrpc":"2.0","id":%ID,"result":"good"}\n';
const malformed = (message: string, hint = 'Print the reply to stdout and nothing else; log to stderr.') => ({
  code: 'REPLY_MALFORMED',
  message: `"demo": ${message}`,
  hint,
});

test('a reply that names two requests fails both at once', async () => {
  const script = `read -r a; read -r b; echo '{"id":1,"id":2,"result":"yes"}'; read -r end`;
  const opened = await open(bind('/bin/sh', { mode: 'server', args: ['-c', script] }));
  const faults = await Promise.all([opened.fault({ n: 1 }), opened.fault({ n: 2 })]);
  const hint = 'Write `id`, and `result` or `error`, once each and in lower case.';
  const each = { ...malformed('the reply has a duplicate `id`', hint), details: undefined };
  expect(faults.map((fault) => ({ ...toFault(fault), details: undefined }))).toEqual([each, each]);
  expect(faults.map(({ details }) => details['problem'])).toEqual([undefined, undefined]);
});

const accepted = titled([
  { title: 'a result', cites: 'PK-5-04@server', write: good, text: '"good"' },
  {
    title: 'a null result',
    cites: 'PK-5-32@server',
    write: '{"jsonrpc":"2.0","id":%ID,"result":null}\n',
    text: 'null',
  },
  {
    title: 'an error object',
    cites: 'PK-5-28@server',
    write: '{"jsonrpc":"2.0","id":%ID,"error":{"code":-1,"message":"no"}}\n',
    text: '{"code":-1,"message":"no"}',
  },
  {
    title: 'an error object beside a result',
    cites: 'PK-5-28@server',
    write: '{"jsonrpc":"2.0","id":%ID,"result":1,"error":{"code":-1}}\n',
    text: '{"code":-1}',
  },
  {
    title: 'a null error beside a result',
    cites: 'PK-5-30@server',
    write: '{"jsonrpc":"2.0","id":%ID,"result":1,"error":null}\n',
    text: '1',
  },
  {
    title: 'the id with a decimal point and a zero',
    cites: 'PK-5-19@server',
    write: '{"jsonrpc":"2.0","id":%ID.0,"result":1}\n',
    text: '1',
  },
  {
    title: 'a line that ends in CR LF',
    cites: 'PK-5-13@server',
    write: good.replace('\n', '\r\n'),
    text: '"good"',
  },
  {
    title: 'a result that looks like an envelope',
    cites: 'PK-5-34@server',
    write: '{"jsonrpc":"2.0","id":%ID,"result":{"result":1,"error":"x","pending":null}}\n',
    text: '{"result":1,"error":"x","pending":null}',
  },
  {
    title: 'digits that no double holds, and white space inside',
    cites: 'PK-5-04@server',
    write: '{"jsonrpc":"2.0","id":%ID,"result":{ "n" : 12345678901234567890, "x":1.10 }}\n',
    text: '{ "n" : 12345678901234567890, "x":1.10 }',
  },
]);

test.each(accepted)('a reply is accepted: $title', async ({ write, text }) => {
  const before = puppet.events.length;
  expect(await ask(puppet.call, write)).toBe(text);
  expect(dropped(puppet.events.slice(before))).toEqual([]);
});

const noise = titled([
  {
    title: 'text',
    cites: 'PK-5-12@server',
    write: 'ready on port 5000\n',
    told: ['noise: not JSON: ready on port 5000'],
  },
  { title: 'a blank line', cites: 'PK-5-12@server', write: '\n', told: ['noise: not JSON: '] },
  { title: 'white space', cites: 'PK-5-12@server', write: ' \t\n', told: ['noise: not JSON:  \t'] },
  { title: 'a string', cites: 'PK-5-12@server', write: '"id"\n', told: ['noise: not a JSON object: "id"'] },
  { title: 'a number', cites: 'PK-5-12@server', write: '1\n', told: ['noise: not a JSON object: 1'] },
  { title: 'a boolean', cites: 'PK-5-12@server', write: 'true\n', told: ['noise: not a JSON object: true'] },
  { title: 'null', cites: 'PK-5-12@server', write: 'null\n', told: ['noise: not a JSON object: null'] },
  {
    title: 'half an object',
    cites: 'PK-5-12@server',
    write: '{"id":%ID,"res\n',
    told: ['noise: not JSON: {"id":%ID,"res'],
  },
  {
    title: 'two objects',
    cites: 'PK-5-12@server',
    write: '{"id":%ID}{}\n',
    told: ['noise: not JSON: {"id":%ID}{}'],
  },
  {
    title: 'a byte order mark later on',
    cites: 'PK-5-12@server',
    write: 'x\n\ufeff{"id":%ID,"result":1}\n',
    told: ['noise: not JSON: x', 'noise: not JSON: \ufeff{"id":%ID,"result":1}'],
  },
  {
    title: 'bytes that are not UTF-8 without an id',
    cites: 'PK-5-15@server',
    write: 'caf\udce9\n',
    told: ['noise: not UTF-8: caf\ufffd'],
  },
  {
    title: 'bytes that are not UTF-8 with the id of nobody',
    cites: 'PK-5-15@server',
    write: '{"id":999999,"result":"\udce9"}\n',
    told: ['unknown reply: there never was a request 999999'],
  },
  {
    title: 'a notification',
    cites: 'PK-5-16@server',
    write: '{"jsonrpc":"2.0","method":"progress","params":{}}\n',
    told: ['server request: Signalbox does not answer progress'],
  },
  {
    title: 'a request of the server’s own that has the same id',
    cites: 'PK-5-16@server',
    write: '{"jsonrpc":"2.0","id":%ID,"method":"ping"}\n',
    told: ['server request: Signalbox does not answer ping'],
  },
  {
    title: 'a request whose method is no text',
    cites: 'PK-5-16@server',
    write: '{"jsonrpc":"2.0","id":%ID,"method":{"toString":0}}\n',
    told: ['server request: Signalbox does not answer a method without a name'],
  },
  {
    title: 'an object that says nothing',
    cites: 'PK-5-12@server',
    write: '{"level":"info"}\n',
    told: ['noise: neither id, result nor error: {"level":"info"}'],
  },
  {
    title: 'a batch that names nobody in flight',
    cites: 'PK-5-18@server',
    write: '[{"id":999999,"result":1},{"result":2},3]\n',
    told: ['noise: a JSON array: [{"id":999999,"result":1},{"result":2},3]'],
  },
  { title: 'an empty batch', cites: 'PK-5-18@server', write: '[]\n', told: ['noise: a JSON array: []'] },
  {
    title: 'a reply to nobody',
    cites: 'PK-5-25@server',
    write: '{"jsonrpc":"2.0","id":999999,"result":1}\n',
    told: ['unknown reply: there never was a request 999999'],
  },
  {
    title: 'a reply to request 0',
    cites: 'PK-5-25@server',
    write: '{"jsonrpc":"2.0","id":0,"result":1}\n',
    told: ['unknown reply: there never was a request 0'],
  },
  {
    title: 'a reply to request -1',
    cites: 'PK-5-25@server',
    write: '{"jsonrpc":"2.0","id":-1,"result":1}\n',
    told: ['unknown reply: there never was a request -1'],
  },
  {
    title: 'a reply to a text that spells nobody',
    cites: 'PK-5-25@server',
    write: '{"jsonrpc":"2.0","id":"999999","result":1}\n',
    told: ['unknown reply: there never was a request 999999'],
  },
  {
    title: 'an id that is a list',
    cites: 'PK-5-12@server',
    write: '{"jsonrpc":"2.0","id":[1],"result":1}\n',
    told: ['noise: an id that is not an integer: {"jsonrpc":"2.0","id":[1],"result":1}'],
  },
]);

test.each(noise)('is reported and has no effect: $title', async ({ write, told }) => {
  const before = puppet.events.length;
  expect(await ask(puppet.call, `${write}${good}`)).toBe('"good"');
  expect(dropped(puppet.events.slice(before))).toEqual(told.map(ofLast));
});

const number = 'Send the id back as the number that it was, not as text or a fraction.';
const refused = titled([
  {
    title: 'the id as text',
    cites: 'PK-5-20@server PC-4-03@server',
    write: '{"jsonrpc":"2.0","id":"%ID","result":1}\n',
    fault: {
      ...malformed('the reply’s id is "%ID", not the number %ID', number),
      details: { problem: 'id' },
    },
  },
  {
    title: 'the id as a fraction',
    cites: 'PK-5-20@server',
    write: '{"jsonrpc":"2.0","id":%ID.5,"result":1}\n',
    fault: {
      ...malformed('the reply’s id is %ID.5, not the number %ID', number),
      details: { problem: 'id' },
    },
  },
  {
    title: 'a null id and a result',
    cites: 'PK-5-21@server',
    write: '{"jsonrpc":"2.0","id":null,"result":1}\n',
    fault: malformed('the reply has no id', sendTheId),
  },
  {
    title: 'no id and an error',
    cites: 'PK-5-21@server',
    write: '{"jsonrpc":"2.0","error":{"code":-32700}}\n',
    fault: malformed('the reply has no id', sendTheId),
  },
  {
    title: 'an error that is text',
    cites: 'PK-5-31@server',
    write: '{"jsonrpc":"2.0","id":%ID,"error":"no such city"}\n',
    fault: {
      ...malformed('the reply’s error is not an object'),
      details: { text: '"no such city"', problem: 'error_type' },
    },
  },
  {
    title: 'an error that is text, beside a result',
    cites: 'PK-5-31@server',
    write: '{"jsonrpc":"2.0","id":%ID,"error":0,"result":1}\n',
    fault: {
      ...malformed('the reply’s error is not an object'),
      details: { text: '0', problem: 'error_type' },
    },
  },
  {
    title: 'neither result nor error',
    cites: 'PK-5-32@server',
    write: '{"jsonrpc":"2.0","id":%ID}\n',
    fault: {
      ...malformed('the reply has neither result nor error'),
      details: { text: '{"jsonrpc":"2.0","id":%ID}', problem: 'no_result' },
    },
  },
  {
    title: 'a null error alone',
    cites: 'PK-5-30@server PK-5-32@server',
    write: '{"jsonrpc":"2.0","id":%ID,"error":null}\n',
    fault: {
      ...malformed('the reply has neither result nor error'),
      details: { text: '{"jsonrpc":"2.0","id":%ID,"error":null}', problem: 'no_result' },
    },
  },
  {
    title: 'a batch that holds the reply',
    cites: 'PK-5-17@server',
    write: '[{"jsonrpc":"2.0","id":%ID,"result":1}]\n',
    fault: { ...malformed('batches of replies are not supported'), details: { problem: 'batch' } },
  },
  {
    title: 'bytes that are not UTF-8',
    cites: 'PK-5-14@server',
    write: '{"jsonrpc":"2.0","id":%ID,"result":"caf\udce9"}\n',
    fault: malformed('the reply is not UTF-8'),
  },
  {
    title: 'bytes that are not UTF-8, the id behind them',
    cites: 'PK-5-14@server',
    write: '{"result":{"id":999999,"name":"caf\udce9"},"id":%ID}\n',
    fault: malformed('the reply is not UTF-8'),
  },
]);

test.each(refused)('fails only its request: $title', async ({ write, fault }) => {
  const before = puppet.events.length;
  const given = toFault(await ask(puppet.fault, write));
  expect(given).toEqual(JSON.parse(ofLast(JSON.stringify(fault))));
  expect(await ask(puppet.call, good)).toBe('"good"');
  expect(dropped(puppet.events.slice(before))).toEqual([]);
});

describe('a reply without id', () => {
  const anonymous = '{"jsonrpc":"2.0","result":"whose?"}\n';

  test('is dropped and reported while several are in flight [PK-5-22@server]', async () => {
    const { call, events } = await open(bindPuppet());
    const first = call({});
    const reply = '{"jsonrpc":"2.0","id":1,"result":"first"}\n';
    expect(await call({ write: `${anonymous}${good}${reply}` })).toBe('"good"');
    expect(await first).toBe('"first"');
    expect(dropped(events)).toEqual([`noise: a reply without an id: ${anonymous.trim()}`]);
  });

  test('is dropped and reported while nothing is in flight [PK-5-22@server]', async () => {
    const { call, events, event } = await open(bindPuppet());
    expect(await call({ write: `${good}${anonymous}` })).toBe('"good"');
    expect((await event('dropped')).what).toBe('noise');
    expect(dropped(events)).toEqual([`noise: a reply without an id: ${anonymous.trim()}`]);
  });

  test('is dropped after a timeout, since it may answer that request [PK-5-22@server]', async () => {
    const { call, fault, events } = await open(bindPuppet({ timeoutMs: 1_000 }));
    expect((await fault({})).code).toBe('PROCESS_TIMEOUT');
    expect(await call({ write: `${anonymous}${good}` })).toBe('"good"');
    expect(dropped(events)).toEqual([`noise: a reply without an id: ${anonymous.trim()}`]);
  });

  test('fails the only one in flight again once the late reply has arrived [PK-5-21@server]', async () => {
    const { call, fault } = await open(bindPuppet());
    await call({ write: good });
    const caller = new AbortController();
    const givenUp = fault({}, caller.signal);
    await call({ write: good });
    caller.abort();
    expect((await givenUp).code).toBe('ABORTED');
    expect(await call({ write: `{"jsonrpc":"2.0","id":2,"result":"late"}\n${good}` })).toBe('"good"');
    expect((await fault({ write: anonymous })).message).toBe('"demo": the reply has no id');
  });

  test('is dropped for good after more timeouts than are remembered [PK-5-22@server]', async () => {
    const { call, fault, events } = await open(bindPuppet());
    const gone = new AbortController();
    const givenUp = Array.from({ length: 1_001 }, () => fault({}, gone.signal));
    await call({ write: good });
    gone.abort();
    await Promise.all(givenUp);
    const late = Array.from({ length: 1_001 }, (_, id) => `{"jsonrpc":"2.0","id":${id + 1},"result":0}\n`);
    expect(await call({ write: `${late.join('')}${good}` })).toBe('"good"');
    expect(new Set(allOf(events, 'dropped').map(({ what }) => what))).toEqual(new Set(['late reply']));
    expect(await call({ write: `${anonymous}${good}` })).toBe('"good"');
  });
});

describe('an unexpected reply', () => {
  test('after a timeout is dropped and affects no later call [PK-5-23@server PK-5-36@server]', async () => {
    const reply = `printf '{"jsonrpc":"2.0","id":%s,"result":"number %s"}\\n' "$n" "$n"`;
    const script = `n=0; while read -r line; do n=$((n + 1)); [ $n = 2 ] && sleep 1; ${reply}; done`;
    const { call, fault, events } = await open(
      bind('/bin/sh', { mode: 'server', args: ['-c', script], timeoutMs: 700 }),
    );
    expect(await call()).toBe('"number 1"');
    expect((await fault()).code).toBe('PROCESS_TIMEOUT');
    expect([await call(), await call()]).toEqual(['"number 3"', '"number 4"']);
    expect(dropped(events)).toEqual(['late reply: the reply to request 2 came after the timeout']);
    expect(allOf(events, 'process.started')).toHaveLength(1);
  });

  test('a second time is dropped [PK-5-24@server]', async () => {
    const { call, events, event } = await open(bindPuppet());
    const twice = '{"jsonrpc":"2.0","id":1,"result":"second"}\n';
    expect(await call({ write: `${good}${twice}` })).toBe('"good"');
    await event('dropped');
    expect(await call({ write: good })).toBe('"good"');
    expect(dropped(events)).toEqual(['late reply: no call waits for a reply to request 1 any more']);
  });

  test('that is malformed is dropped likewise', async () => {
    const { call, events, event } = await open(bindPuppet());
    expect(await call({ write: `${good}{"jsonrpc":"2.0","id":1,"error":"x"}\n` })).toBe('"good"');
    await event('dropped');
    expect(dropped(events)).toEqual(['late reply: no call waits for a reply to request 1 any more']);
  });

  test('with a future id belongs to no request', async () => {
    const { call, events } = await open(bindPuppet());
    const early = '{"jsonrpc":"2.0","id":2,"result":"too early"}\n';
    expect(await call({ write: `${early}${good}` })).toBe('"good"');
    expect(await call({ write: good })).toBe('"good"');
    expect(dropped(events)).toEqual(['unknown reply: there never was a request 2']);
  });
});

test('a batch fails exactly the requests in flight that it names [PK-5-17@server]', async () => {
  const { call, fault, events } = await open(bindPuppet());
  const [one, two, three] = [fault({}), fault({}), call({})];
  const third = '{"jsonrpc":"2.0","id":3,"result":"third"}\n';
  await call({ write: `[{"id":1,"result":1},{"id":9},{"id":"2","error":{}}]\n${third}${good}` });
  expect([await one, await two].map(({ code, message }) => `${code} ${message}`)).toEqual(
    Array(2).fill('REPLY_MALFORMED "demo": batches of replies are not supported'),
  );
  expect(await three).toBe('"third"');
  expect(dropped(events)).toEqual([]);
});

describe('a line over the limit', () => {
  const binding = bindPuppet({ maxOutputBytes: 8_192 });
  const tooLong = { code: 'OUTPUT_LIMIT', message: '"demo": a reply is longer than 8192 bytes' };

  test('fails its request and does not affect others [PK-5-26@server PK-2-27@server]', async () => {
    const { call, fault } = await open(binding);
    const other = call({});
    const long = '{"jsonrpc":"2.0","id":%ID,"result":"%FILL"}\n';
    expect(await fault({ fill: 100_000, write: long })).toMatchObject(tooLong);
    expect(await call({ write: `{"jsonrpc":"2.0","id":1,"result":"other"}\n${good}` })).toBe('"good"');
    expect(await other).toBe('"other"');
  });

  test('fails all in flight if its start shows no id [PK-5-27@server]', async () => {
    const { call, fault, events } = await open(binding);
    const faults = [fault({}), fault({}), fault({ fill: 9_000, write: '{"result":"%FILL","id":%ID}\n' })];
    expect(await Promise.all(faults)).toMatchObject([tooLong, tooLong, tooLong]);
    expect(await call({ write: good })).toBe('"good"');
    expect(allOf(events, 'process.started')).toHaveLength(1);
  });

  test('is never taken for the reply to a request that its data names [PK-5-27@server]', async () => {
    const { fault } = await open(binding);
    const write = '{"result":{"id":1,"text":"%FILL"},"id":%ID}\n';
    const faults = [fault({}), fault({ fill: 9_000, write })];
    expect(await Promise.all(faults)).toMatchObject([tooLong, tooLong]);
  });

  test('shows its id after other members too', async () => {
    const { call, fault } = await open(binding);
    const other = call({});
    const write = '{"meta":{"id":1,"x":["%ID"]},"id" : %ID , "result":"%FILL"}\n';
    expect(await fault({ fill: 9_000, write })).toMatchObject(tooLong);
    await call({ write: `{"jsonrpc":"2.0","id":1,"result":"other"}\n${good}` });
    expect(await other).toBe('"other"');
  });

  test('of an aborted request is dropped', async () => {
    const { call, fault, events } = await open(binding);
    await call({ write: good });
    const caller = new AbortController();
    const givenUp = fault({}, caller.signal);
    await call({ write: good });
    caller.abort();
    await givenUp;
    expect(await call({ fill: 9_000, write: `{"id":2,"result":"%FILL"}\n${good}` })).toBe('"good"');
    expect(dropped(events)).toEqual(['late reply: the reply to request 2 came after the timeout']);
  });

  test('fails its request while it is still being written', async () => {
    const { fault } = await open(binding);
    const long = '{"jsonrpc":"2.0","id":%ID,"result":"%FILL';
    expect(await fault({ fill: 100_000, write: long })).toMatchObject(tooLong);
  });

  test('and one of exactly the limit is read [PK-2-28@server]', async () => {
    const { call, fault } = await open(binding);
    const frame = '{"jsonrpc":"2.0","id":1,"result":""}'.length;
    const write = '{"jsonrpc":"2.0","id":%ID,"result":"%FILL"}\n';
    expect(await call({ fill: 8_192 - frame, write })).toHaveLength(8_192 - frame + 2);
    expect(await fault({ fill: 8_192 - frame + 1, write })).toMatchObject(tooLong);
  });
});

describe('a reply without "jsonrpc": "2.0"', () => {
  test('is accepted, with one warning for each process [PK-5-35@server]', async () => {
    const { call, events } = await open(bindPuppet());
    const bare = '{"id":%ID,"result":"bare"}\n';
    expect([await call({ write: bare }), await call({ write: bare })]).toEqual(['"bare"', '"bare"']);
    await call({ exit: 0, write: good });
    await until(() => allOf(events, 'process.ended').length === 1, 'end of the first process');
    expect([await call({ write: bare }), await call({ write: bare })]).toEqual(['"bare"', '"bare"']);
    const note = { type: 'note', name: 'demo', level: 'warn', message: 'its replies lack "jsonrpc": "2.0"' };
    expect(allOf(events, 'note')).toEqual([note, note]);
  });
});

test('a byte order mark at the start of the stream is dropped [PK-5-13@server]', async () => {
  const { call, events } = await open(bindPuppet());
  expect(await call({ write: `\ufeff${good}` })).toBe('"good"');
  expect(dropped(events)).toEqual([]);
});

test('a last line without newline is a reply [PK-5-13@server]', async () => {
  const { call } = await open(bindPuppet());
  expect(await call({ write: good.trimEnd(), exit: 0 })).toBe('"good"');
});

const pretty = `read -r line; printf '{\\n "id": 1,\\n "result": 1\\n}\\n'; sleep 60`;
const early = `read -r line; printf 'noise\\n{"jsonrpc":"2.0","id":1,"result":1}\\n'; sleep 60`;

test('noise during a call that times out becomes its hint [PK-5-37@server]', async () => {
  const { fault } = await open(bind('/bin/sh', { mode: 'server', args: ['-c', pretty], timeoutMs: 500 }));
  expect(toFault(await fault())).toEqual({
    code: 'PROCESS_TIMEOUT',
    message: '"demo" did not answer within 500 ms',
    hint: 'In the meantime the process wrote lines that are not JSON objects. A reply must be one line, and logs belong on stderr.',
    details: { timeout_ms: 500 },
  });
});

test('noise before a call does not become its hint [PK-5-37@server]', async () => {
  const { call, fault } = await open(
    bind('/bin/sh', { mode: 'server', args: ['-c', early], timeoutMs: 500 }),
  );
  expect(await call()).toBe('1');
  expect((await fault()).hint).toBe('Raise timeout_ms, or find out what the process waits for.');
});

test('seven kinds of noise around each reply have no effect [PK-5-12@server]', async () => {
  const { call, events } = await open(bindServer('noise-between'));
  const replies = await Promise.all([1, 2, 3].map((n) => call({ n })));
  expect(replies).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  expect(allOf(events, 'dropped')).toHaveLength(21);
});

test('an aborted call is forgotten like a timed-out one [DS-PROC-10@server]', async () => {
  const { call, transport, events } = await open(bindPuppet());
  const caller = new AbortController();
  const body = JSON.stringify({ args: { ms: 300, write: '{"jsonrpc":"2.0","id":%ID,"result":"late"}\n' } });
  const given = faultOf(transport.exchange({ method: 'execute', body }, caller.signal));
  await until(() => allOf(events, 'process.started').length === 1, 'start');
  caller.abort('enough');
  expect(await given).toMatchObject({ code: 'ABORTED', cause: 'enough' });
  expect(await call({ write: good })).toBe('"good"');
  expect(allOf(events, 'process.started')).toHaveLength(1);
});
