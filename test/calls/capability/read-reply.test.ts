import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { readReply, redactReply } from '../../../src/calls/capability/invoke.ts';
import type { Decoded } from '../../../src/dialects/dialect.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { createScrubber } from '../../../src/runtime/log/scrub.ts';

const secret = 'a-secret-that-nobody-sees';
const scrubber = createScrubber([secret]);
const quoted = new Json(JSON.stringify(`key ${secret}`));

/** Returns an excerpt that ends inside the secret. */
const refuse = (reply: Reply): Decoded<object> => {
  const { result, error } = reply.via === 'rpc' ? reply : {};
  throw new RuntimeError('REPLY_MALFORMED', `it says ${(result ?? error)?.text.slice(0, 20)}`);
};

const messageOf = (reply: Reply, read: (reply: Reply) => Decoded<object>) => {
  try {
    return JSON.stringify(readReply(reply, scrubber, read));
  } catch (thrown) {
    return thrown instanceof RuntimeError ? thrown.message : String(thrown);
  }
};

test.each([
  { title: 'result', reply: { via: 'rpc', result: quoted } as const },
  { title: 'error', reply: { via: 'rpc', error: quoted } as const },
])('an excerpt that cuts a secret of a $title hides it', ({ reply }) => {
  expect(messageOf(reply, refuse)).toBe('it says "key [redacted]"');
});

test('a message about a reply without secrets is scrubbed too', () => {
  const reply: Reply = { via: 'rpc', result: new Json('{}') };
  const fail = (): Decoded<object> => {
    throw new RuntimeError('REPLY_MALFORMED', `not ${secret}`);
  };
  expect(messageOf(reply, fail)).toBe('not [redacted]');
  const note = { level: 'warn', message: `not ${secret}` } as const;
  const say = (): Decoded<object> => ({ output: { reason: `not ${secret}` }, notes: [note] });
  expect(messageOf(reply, say)).not.toContain(secret);
});

const printing = (stdout: Uint8Array): Reply => ({
  via: 'process',
  exitCode: 0,
  signal: null,
  stdout,
  stderr: '',
});

test.each<{ title: string; reply: Reply; becomes?: Reply }>([
  { title: 'a reply without secrets', reply: { via: 'rpc', result: new Json('1'), error: new Json('2') } },
  { title: 'a print without secrets', reply: printing(Buffer.from('1')) },
  { title: 'bytes that are no text', reply: printing(Buffer.from([0xff, ...Buffer.from(secret)])) },
  {
    title: 'a result',
    reply: { via: 'rpc', result: quoted },
    becomes: { via: 'rpc', result: new Json('"key [redacted]"') },
  },
  {
    title: 'an error beside a clean result',
    reply: { via: 'rpc', result: new Json('1'), error: quoted },
    becomes: { via: 'rpc', result: new Json('1'), error: new Json('"key [redacted]"') },
  },
  { title: 'a print', reply: printing(Buffer.from(secret)), becomes: printing(Buffer.from('[redacted]')) },
])('of $title only the secrets are hidden', ({ reply, becomes }) => {
  const redacted = redactReply(reply, scrubber);
  if (becomes === undefined) expect(redacted).toBe(reply);
  else expect(redacted).toEqual(becomes);
});

test('data stays exact, and messages about it use the redacted reply', () => {
  const read = (given: Reply): Decoded<object> => {
    const text = given.via === 'rpc' ? (given.result?.text ?? '') : '';
    return {
      output: { verdict: 'deny', reason: text.slice(0, 12), data: text },
      notes: [{ level: 'warn', message: text.slice(0, 12) }],
    };
  };
  const { output, notes } = readReply({ via: 'rpc', result: quoted }, scrubber, read);
  expect(output).toEqual({ verdict: 'deny', reason: '"key [redact', data: quoted.text });
  expect(notes).toEqual([{ level: 'warn', message: '"key [redact' }]);
});

test('a fault comes from the exact reply, even if the redacted one has another or none', () => {
  const failing =
    (exact: string, redacted: string | undefined) =>
    (given: Reply): Decoded<object> => {
      const isExact = given.via === 'rpc' && given.result === quoted;
      const message = isExact ? exact : redacted;
      if (message === undefined) return { output: {}, notes: [] };
      throw new RuntimeError(isExact || redacted === 'same' ? 'REPLY_MALFORMED' : 'OUTPUT_LIMIT', message);
    };
  const reply = { via: 'rpc', result: quoted } as const;
  expect(messageOf(reply, failing('exact', undefined))).toBe('exact');
  expect(messageOf(reply, failing('exact', 'other'))).toBe('exact');
  expect(messageOf(reply, failing('exact', 'same'))).toBe('same');
});

test('a reply without secrets is passed on unchanged', () => {
  const decoded = { output: { reason: 'fine' }, notes: [] };
  expect(readReply({ via: 'rpc', result: new Json('{}') }, scrubber, () => decoded)).toBe(decoded);
});

test('a note is scrubbed beside a clean output, and an output beside no note', () => {
  const reply: Reply = { via: 'rpc', result: new Json('{}') };
  const note = { level: 'warn', message: `not ${secret}` } as const;
  const output = { reason: 'fine' };
  expect(readReply(reply, scrubber, () => ({ output, notes: [note] }))).toEqual({
    output,
    notes: [{ level: 'warn', message: 'not [redacted]' }],
  });
  expect(readReply(reply, scrubber, () => ({ output: { reason: secret }, notes: [] }))).toEqual({
    output: { reason: '[redacted]' },
    notes: [],
  });
});

test('an error without a result gets none', () => {
  const redacted = redactReply({ via: 'rpc', error: quoted }, scrubber);
  expect(Object.keys(redacted)).toEqual(['via', 'error']);
  expect(Object.keys(redactReply({ via: 'rpc', result: quoted }, scrubber))).toEqual(['via', 'result']);
});
