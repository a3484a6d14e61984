import { expect, test } from 'vitest';
import { toProviderError } from '../../src/models/provider-error.ts';
import { canary as key } from '../canary.ts';
import { open } from './open.ts';

const env = { PATH: process.env['PATH'] ?? '', DESK_KEY: key };

function shows(text: string): boolean {
  return Array.from({ length: key.length - 7 }, (_, at) => key.slice(at, at + 8)).some((piece) =>
    text.includes(piece),
  );
}

const spec = `
tools:
  puppet: {description: d, input_schema: {type: object}, exec: {command: $bin/puppet, runtime: server, env: [DESK_KEY]}}
`;

const long = 'x'.repeat(185);

test.each([
  { title: 'noise of a server', write: `${long} ${key}\n{"jsonrpc":"2.0","id":%ID,"result":1}\n` },
  { title: 'a reply without a result', write: `{"jsonrpc":"2.0","id":%ID,"${long.slice(30)}":"${key}"}\n` },
  { title: 'an error that is none', write: `{"jsonrpc":"2.0","id":%ID,"error":"${long}${key}"}\n` },
  {
    title: 'a request of the server',
    write: `{"method":"${long}${key}"}\n{"jsonrpc":"2.0","id":%ID,"result":1}\n`,
  },
  {
    title: 'an error of the server',
    write: `{"jsonrpc":"2.0","id":%ID,"error":{"code":1,"message":"${key} is wrong"}}\n`,
  },
])('$title shows no part of a secret', async ({ write }) => {
  const { runtime, events } = await open(spec, { env });
  const document = await runtime.tools.call('puppet', { write });
  expect(shows(JSON.stringify(events) + JSON.stringify(document))).toBe(false);
  expect(JSON.stringify(events) + JSON.stringify(document)).toContain('[redacted]');
});

test('a fault of the arguments shows no part of a secret', async () => {
  const { runtime } = await open(spec, { env });
  const document = await runtime.tools.call('puppet', `{"${key}":1,"${key}":2}`);
  expect(document).toMatchObject({
    status: 'failed',
    error: { code: 'ARGS_INVALID', message: 'tool "puppet": duplicate argument "[redacted]"' },
  });
});

test('a literal under a credential’s name is a secret, and any other is not', async () => {
  const own = spec.replace('[DESK_KEY]', '["API_TOKEN=literal-4711-abc", "PLACE=harbour-side"]');
  const { runtime, events } = await open(own, { env });
  await runtime.tools.call('puppet', {
    stderr: 'literal-4711-abc harbour-side',
    write: '{"jsonrpc":"2.0","id":%ID,"result":1}\n',
  });
  const lines = () => events.flatMap((event) => (event.type === 'stderr' ? [event.line] : []));
  await expect.poll(lines).toEqual(['[redacted] harbour-side']);
});

test.each([
  Buffer.from(key).toString('base64'),
  Buffer.from(`user:${key}`).toString('base64url'),
  encodeURIComponent(key),
  JSON.stringify(JSON.stringify(key)),
  `${'y'.repeat(470)}${key}`,
])('an API’s message about a key is shown without the key, in any form', (written) => {
  const { message } = toProviderError(new Error(`401: ${written} is no key`), { id: 'desk', secrets: [key] });
  expect(shows(message) || shows(Buffer.from(message.replace(/.*401: /, ''), 'base64').toString())).toBe(
    false,
  );
  expect(message).toContain('[redacted]');
});
