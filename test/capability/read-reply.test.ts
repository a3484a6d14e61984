import { expect, test } from 'vitest';
import { readReply } from '../../src/capability/read-reply.ts';
import type { Decoded } from '../../src/dialects/dialect.ts';
import { RuntimeError } from '../../src/errors.ts';
import { Json } from '../../src/json/json.ts';
import { createScrubber } from '../../src/log/scrub.ts';
import type { Reply } from '../../src/transport/transport.ts';

const secret = 'a-secret-that-nobody-sees';
const scrubber = createScrubber([secret]);
const quoted = new Json(JSON.stringify(`key ${secret}`));

/** Says an excerpt that ends inside the secret. */
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

test('what is said of a reply without secrets is scrubbed all the same', () => {
  const reply: Reply = { via: 'rpc', result: new Json('{}') };
  const fail = (): Decoded<object> => {
    throw new RuntimeError('REPLY_MALFORMED', `not ${secret}`);
  };
  expect(messageOf(reply, fail)).toBe('not [redacted]');
  const note = { level: 'warn', message: `not ${secret}` } as const;
  const say = (): Decoded<object> => ({ output: { reason: `not ${secret}` }, notes: [note] });
  expect(messageOf(reply, say)).not.toContain(secret);
});
