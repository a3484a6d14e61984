import { expect, test } from 'vitest';
import { volatileFieldsOf } from '../../../src/dialects/registry.ts';
import { describeRequest, digestRequest, type Entry } from '../../../src/process/cassette/format.ts';
import { withoutVolatileFields } from '../../../src/process/cassette/volatile-fields.ts';
import type { Message, ProcessReply, Transport } from '../../../src/process/transport.ts';
import { bind, bindPuppet, open } from '../harness.ts';
import { bare, linesOf, neverOpened, newFile, openTape, record, replay } from './bench.ts';

const native: Entry = {
  name: 'demo',
  capability: 'tool',
  dialect: 'promptkit',
  volatileFields: volatileFieldsOf('promptkit'),
  mode: 'oneshot',
};
const plugin: Entry = { ...native, dialect: 'chibi', volatileFields: volatileFieldsOf('chibi') };

function digest(entry: Entry, message: Message): string {
  return digestRequest(describeRequest(entry, message, (text) => text.replaceAll('topsecret', '[redacted]')));
}

test('requests of native entries keep their cassette keys', () => {
  const message = { method: 'execute', body: '{"args":{"x":1},"idempotency_key":"call_1"}' };
  expect(digest(native, message)).toBe('c1cb063c99841dd183f218534253b84135ea3fb6a04f096e63ee1fb745f6730a');
});

const read: Message = { method: 'call', body: '{"path":"a"}', env: { CHIBI_TOOL_NAME: 'read' } };
const apart = [
  { title: 'another tool', other: { ...read, env: { CHIBI_TOOL_NAME: 'write' } } },
  { title: 'another point', other: { ...read, method: 'pre_tool' } },
  { title: 'a variable more', other: { ...read, env: { ...read.env, CHIBI_CONTEXT: 'main' } } },
  { title: 'a variable that is taken away', other: { ...read, env: { ...read.env, CHIBI_HOOK: undefined } } },
  { title: 'no variables', other: { method: read.method, body: read.body } },
];

test.each(apart)('$title makes another request', ({ other }) => {
  expect(digest(plugin, other)).not.toBe(digest(plugin, read));
});

const same = [
  { title: 'another place on the machine', env: { CHIBI_HOME: '/home/ann/.chibi', CHIBI_TOOL_NAME: 'read' } },
  { title: 'another secret', env: { CHIBI_TOOL_NAME: 'read', KEY: 'topsecret' } },
  { title: 'another order', env: { KEY: '[redacted]', CHIBI_TOOL_NAME: 'read' } },
];

test.each(same)('$title makes no other request', ({ env }) => {
  const usual = 'KEY' in env ? { CHIBI_TOOL_NAME: 'read', KEY: '[redacted]' } : read.env;
  expect(digest(plugin, { ...read, env })).toBe(digest(plugin, { ...read, ...(usual && { env: usual }) }));
});

const run = 'run_0123456789abcdef';
const uuid = '01234567-89ab-4cde-8f01-23456789abcd';
const chances = [
  {
    title: 'Claude’s ids, transcript and time',
    dialect: 'claude',
    body: `{"session_id":"${run}","prompt_id":"p","transcript_path":"/t/x","tool_use_id":"call_1","duration_ms":7,"tool_input":{"session_id":"${run}","duration_ms":1},"tool_calls":[{"tool_use_id":"a","tool_input":{"tool_use_id":"mine"}},"odd"]}`,
    left: `{"session_id":null,"prompt_id":null,"transcript_path":null,"tool_use_id":null,"duration_ms":null,"tool_input":{"session_id":"${run}","duration_ms":1},"tool_calls":[{"tool_use_id":null,"tool_input":{"tool_use_id":"mine"}},"odd"]}`,
  },
  {
    title: 'the same of Agentao, and its envelope’s session',
    dialect: 'agentao',
    body: `{"event":"PreToolUse","data":{"toolInput":{"sessionId":"${run}"},"sessionId":"${run}"},"session_id":"${run}"}`,
    left: `{"event":"PreToolUse","data":{"toolInput":{"sessionId":"${run}"},"sessionId":null},"session_id":null}`,
  },
  {
    title: 'PicoClaw’s session, chat and duration',
    dialect: 'picoclaw',
    body: `{"meta":{"SessionKey":"${run}","TurnID":"${run}-turn-2","Iteration":1},"context":{"inbound":{"chat_id":"${run}"}},"chat_id":"${run}","arguments":{"chat_id":"${run}"},"duration":15000000}`,
    left: `{"meta":{"SessionKey":null,"TurnID":null,"Iteration":1},"context":{"inbound":{"chat_id":null}},"chat_id":null,"arguments":{"chat_id":"${run}"},"duration":null}`,
  },
  {
    title: 'the session of a lone call and of a fired event, and where the project lies,',
    dialect: 'agentao',
    body: `{"data":{"sessionId":"call_${uuid}","cwd":"/a"},"cwd":"/a","session_id":"event_${uuid}","turn_id":"call_${uuid}-turn-1"}`,
    left: '{"data":{"sessionId":null,"cwd":null},"cwd":null,"session_id":null,"turn_id":null}',
  },
  {
    title: 'the place and time of PicoClaw’s event',
    dialect: 'picoclaw',
    body: `{"id":"evt-1","time":"t","scope":{"session_key":"${run}","turn_id":"${run}-turn-1"},"Time":"t","Meta":{"TurnID":"call_${uuid}-turn-1"}}`,
    left: '{"id":null,"time":null,"scope":{"session_key":null,"turn_id":null},"Time":null,"Meta":{"TurnID":null}}',
  },
  {
    title: 'nothing of chibi, whose tools get their arguments bare,',
    dialect: 'chibi',
    body: `{"session_id":"${run}","duration_ms":5,"context":{"session_id":"${run}"}}`,
    left: `{"session_id":"${run}","duration_ms":5,"context":{"session_id":"${run}"}}`,
  },
  {
    title: 'no session that a host names',
    dialect: 'claude',
    body: '{"session_id":"ann-1"}',
    left: '{"session_id":"ann-1"}',
  },
  {
    title: 'no session that a host names by a bare UUID',
    dialect: 'claude',
    body: `{"session_id":"${uuid}"}`,
    left: `{"session_id":"${uuid}"}`,
  },
] as const;

test.each(chances)('$title does not count', ({ dialect, body, left }) => {
  expect(withoutVolatileFields(body, volatileFieldsOf(dialect))).toBe(left);
});

test('requests in variables are answered from the cassette, and a miss names them', async () => {
  const file = newFile();
  const binding = bind('print-env', { dialect: 'chibi', env: { PATH: bind('print-env').env['PATH'] ?? '' } });
  const write = { ...read, env: { CHIBI_TOOL_NAME: 'write', CHIBI_HOOK: undefined } };
  const recorded = await record(file, binding, [read, write]);
  expect(linesOf(file).flatMap(({ env }) => env ?? [])).toEqual([
    { CHIBI_TOOL_NAME: 'read' },
    { CHIBI_HOOK: null, CHIBI_TOOL_NAME: 'write' },
  ]);
  const gone = { ...binding, command: '/nowhere/at/all' };
  expect(await replay(file, gone, [write, read])).toStrictEqual(recorded.toReversed());
  const third = { ...read, env: { CHIBI_TOOL_NAME: 'rm' } };
  expect(await replay(file, gone, [third])).toMatchObject([
    {
      code: 'REPLAY_MISS',
      message:
        'the cassette has no reply to this request of tool "demo": all 2 of its exchanges are for other requests; the recording has chibi, oneshot, call, CHIBI_TOOL_NAME=read, the request is chibi, oneshot, call, CHIBI_TOOL_NAME=rm',
    },
  ]);
});

test('the status of an HTTP reply is replayed', async () => {
  const file = newFile();
  const entry: Entry = {
    name: 'demo',
    capability: 'hook',
    dialect: 'claude',
    volatileFields: volatileFieldsOf('claude'),
    mode: 'oneshot',
  };
  const reply: ProcessReply = {
    via: 'process',
    exitCode: null,
    signal: null,
    stdout: Buffer.from('{}'),
    stderr: '',
    httpStatus: 503,
  };
  const endpoint: Transport = { exchange: async () => reply, warm: () => {}, close: async () => {} };
  const recorder = await openTape({ record: file });
  const message = { method: 'PreToolUse', body: '{}' };
  await recorder.wrap(entry, () => endpoint).exchange(message);
  await recorder.close();
  const again = (await openTape({ replay: file })).wrap(entry, neverOpened);
  expect(bare(await again.exchange(message))).toStrictEqual(bare(reply));
});

test('a notification is recorded without a reply and replayed without one', async () => {
  const file = newFile();
  const binding = bindPuppet({ capability: 'hook', dialect: 'picoclaw' });
  const { transport, event } = await open(binding);
  const recorder = await openTape({ record: file });
  const note = { method: 'hook.event', body: '{"args":{}}' };
  await recorder.wrap(binding, () => transport).notify?.(note);
  expect(await event('process.started')).toMatchObject({ name: 'demo' });
  await recorder.close();
  expect(linesOf(file)).toEqual([]);
  const player = await openTape({ replay: file });
  const silent = player.wrap(binding, neverOpened);
  expect(await silent.notify?.(note)).toBeUndefined();
  expect(player.misses()).toBe(0);
  await silent.close();
  await expect(silent.notify?.(note)).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
});

test('a one-shot process gets no notifications from a cassette either', async () => {
  const file = newFile();
  await record(file, bind('echo-args'), []);
  const player = await openTape({ replay: file });
  expect(player.wrap(native, neverOpened).notify).toBeUndefined();
});
