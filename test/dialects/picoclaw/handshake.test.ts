import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { handshakeMessage, readHandshake } from '../../../src/dialects/picoclaw/dialect.ts';
import { answered, seatOf } from './seat.ts';

const refused = (reply: Parameters<typeof readHandshake>[1], isLenient = false) => {
  const greeting = readHandshake(seatOf({ isLenient }), reply);
  return greeting.accepted
    ? greeting.notes.map(({ level }) => level)
    : [greeting.error.code, greeting.error.details['stage']];
};

test('the hello names the hook and its methods [PC-2-04 PC-3-03]', () => {
  expect(handshakeMessage(seatOf())).toEqual({
    method: 'hook.hello',
    body: '{"name":"gate","version":1,"modes":["observe","llm","tool","approve"]}',
    timeoutMs: 11,
  });
  const body = '{"name":"gate","version":1,"modes":["tool"]}';
  expect(handshakeMessage(seatOf({ observe: [], intercept: ['after_tool'] })).body).toBe(body);
});

test.each(['{"ok":true}', '{}', 'null', '{"OK":false}'])('the reply %s is accepted [PC-3-04]', (says) => {
  expect(refused(answered(says))).toEqual([]);
});

test('an empty reply is accepted too, and its self-description is reported [PC-3-04 PC-3-07]', () => {
  expect(refused({ via: 'rpc' })).toEqual([]);
  expect(refused(new RuntimeError('REPLY_MALFORMED', 'x', { details: { problem: 'no_result' } }))).toEqual(
    [],
  );
  expect(readHandshake(seatOf(), answered('{"ok":true,"name":"py","version":"1"}'))).toEqual({
    accepted: true,
    notes: [{ level: 'debug', message: 'it describes itself: name "py", version "1"' }],
  });
});

test.each(['false', 'null', '1', '"true"', '{}'])(
  'ok: %s is refused unless the entry is lenient [PC-3-05]',
  (ok) => {
    expect(refused(answered(`{"ok":${ok}}`))).toEqual(['REPLY_MALFORMED', 'hello']);
    expect(refused(answered(`{"ok":${ok}}`), true)).toEqual(['warn']);
  },
);

test.each(['[]', '"ok"', '1', 'true'])('the reply %s is refused, lenient or not [PC-3-06]', (says) => {
  expect([false, true].map((isLenient) => refused(answered(says), isLenient))).toEqual([
    ['REPLY_MALFORMED', 'hello'],
    ['REPLY_MALFORMED', 'hello'],
  ]);
});

test('a hello that timed out names its own limit', () => {
  const late = readHandshake(seatOf(), new RuntimeError('PROCESS_TIMEOUT', 'late'));
  expect(late.accepted ? '' : late.error.hint).toContain('picoclaw.hello_timeout_ms');
});

test('an error and a fault are refused, with their stage [PC-3-06 PC-3-08]', () => {
  expect(refused({ via: 'rpc', error: new Json('{"code":1}') }, true)).toEqual(['REPLY_MALFORMED', 'hello']);
  expect(refused(new RuntimeError('SERVER_EXIT', 'gone'), true)).toEqual(['SERVER_EXIT', 'hello']);
  expect(refused(new RuntimeError('PROCESS_TIMEOUT', 'late'), true)).toEqual(['PROCESS_TIMEOUT', 'hello']);
  expect(refused(new RuntimeError('PROCESS_START', 'none'), true)).toEqual(['PROCESS_START', 'start']);
});
