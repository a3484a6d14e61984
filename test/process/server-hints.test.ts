import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import type { Reply } from '../../src/process/transport.ts';
import { bind, bindPuppet, fixture, launchers, open } from './harness.ts';

const silent =
  'It has written nothing to stdout since it started: if it is not just slow, it must flush each reply (Python: `print(…, flush=True)`)';
const standard = 'Raise timeout_ms, or find out what the process waits for.';
const asServer = { mode: 'server', timeoutMs: 1_000 } as const;

describe('a server that does not answer is distinguished from a slow one', () => {
  test.each([
    {
      title: 'a server that never flushes',
      command: 'never-flushes',
      code: 'PROCESS_TIMEOUT',
      hint: `${silent}. A script that reads stdin to its end serves one call: remove \`runtime: server\` for it.`,
    },
    {
      title: 'a one-shot script that reads stdin to its end',
      command: 'echo-args',
      code: 'PROCESS_TIMEOUT',
      hint: `${silent}. A script that reads stdin to its end serves one call: remove \`runtime: server\` for it.`,
    },
    {
      title: 'a one-shot script that reads one line',
      command: 'answers-a-line.sh',
      code: 'REPLY_MALFORMED',
      hint: 'Send the id of the request back. Remove `runtime: server` for a script that serves one call without ids.',
    },
    {
      title: 'a script that ends after a line, and says nothing',
      command: 'ends-after-a-line.sh',
      code: 'SERVER_EXIT',
      hint: 'It ended without an answer. A server answers lines until its stdin ends; remove `runtime: server` for a script that serves one call.',
    },
  ])('$title', async ({ command, code, hint }) => {
    const { fault } = await open(bind(command, asServer));
    const error = await fault();
    expect({ code: error.code, hint: error.hint }).toEqual({ code, hint });
  });

  test('a server that has answered before is slow, and gets no further hint', async () => {
    const { call, fault } = await open(bindPuppet({ timeoutMs: 1_000 }));
    await call({ write: '{"jsonrpc":"2.0","id":%ID,"result":1}\n' });
    expect((await fault({ ms: 3_000 })).hint).toBe(standard);
  });

  test('a dialect that only has servers gets no hint about one-shot scripts', async () => {
    const greeting = {
      message: { method: 'hook.hello', body: '{}', timeoutMs: 1_000 },
      check: (reply: Reply | RuntimeError) => (reply instanceof RuntimeError ? reply : undefined),
    };
    const { fault } = await open(bind('never-flushes', asServer), { greeting });
    const error = await fault();
    expect(error.hint).toBe(`${silent}, and must not wait for the end of stdin.`);
  });
});

describe.each(launchers)('a one-shot process through the %s launcher', (launcher) => {
  test('that has written its reply and lives on gets a hint', async () => {
    const { fault } = await open(bind('hang-after-reply.sh', { timeoutMs: 1_000 }), { launcher });
    const { code, hint } = await fault();
    expect({ code, hint }).toEqual({
      code: 'PROCESS_TIMEOUT',
      hint: 'It had written 41 bytes to stdout and did not end: the reply of a one-shot process is complete when it exits. Set `runtime: server` for a process that keeps running.',
    });
  });

  test('that has written nothing gets none', async () => {
    const { fault } = await open(bind(fixture('hang.sh'), { timeoutMs: 500 }), { launcher });
    expect((await fault()).hint).toBe(standard);
  });
});
