import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { type Fence, fenced } from '../../src/base/time/fence.ts';
import { unwatched } from '../../src/base/time/stopwatch.ts';
import type { Binding } from '../../src/process/binding.ts';
import { openHttpTransport } from '../../src/process/http.ts';
import type { LauncherName } from '../../src/process/launch/native.ts';
import { createPool, type Pool, withPool } from '../../src/process/pool.ts';
import type { Reply, Transport } from '../../src/process/transport.ts';
import { bind, faultOf, launchers, open, until } from './harness.ts';

interface Way {
  readonly title: string;
  open(pool: Pool): Promise<{ readonly transport: Transport; readonly effects: () => number }>;
}

const sh = 'read -r line; echo "$line" >> effects; echo "{}"';
const serverSh =
  'while read -r line; do echo "$line" >> effects; id=${line##*\\"id\\":}; id=${id%%[!0-9]*}; echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$id,\\"result\\":{}}"; done';
const python = 'import sys\nline = sys.stdin.readline()\nopen("effects", "a").write(line)\nprint("{}")';

function processWay(title: string, text: string, overrides: Partial<Binding>, launcher: LauncherName): Way {
  return {
    title: `${title}, ${launcher} launcher`,
    open: async (pool) => {
      const folder = mkdtempSync(join(tmpdir(), 'fence-'));
      const file = join(folder, 'program');
      const shebang = text === python ? '#!/usr/bin/env python3' : '#!/bin/sh';
      writeFileSync(file, `${shebang}\n${text}\n`, { mode: 0o755 });
      const { transport } = await open(bind(file, { cwd: folder, ...overrides }), { launcher, pool });
      return { transport, effects: () => linesOf(join(folder, 'effects')) };
    },
  };
}

function linesOf(file: string): number {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

const http: Way = {
  title: 'an endpoint',
  open: async (pool) => {
    let effects = 0;
    const server = createServer((request, response) => {
      effects += 1;
      request.resume();
      response.setHeader('content-type', 'application/json').end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const endpoint = {
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      privateHosts: [],
      timeoutMs: 15_000,
      maxOutputBytes: 1000,
    };
    return { transport: openHttpTransport({ name: 'demo', ...endpoint }, pool), effects: () => effects };
  },
};

const ways: readonly Way[] = [
  http,
  ...launchers.flatMap((launcher) => [
    processWay('a process for each call', sh, {}, launcher),
    processWay('a process that waits for its call', sh, { spares: 1 }, launcher),
    processWay('a forked process', python, { isForked: true }, launcher),
    processWay('a process with limits', sh, { nice: 1 }, launcher),
    processWay('a server', serverSh, { mode: 'server' }, launcher),
  ]),
];

const message = { method: 'execute', body: '{"args":{}}' };

/** The results of admission and of liveness checks, in order; every later one succeeds. */
function fenceOf(plan: { readonly admits?: readonly Error[]; readonly live?: readonly boolean[] }) {
  const admits = [...(plan.admits ?? [])];
  const live = [...(plan.live ?? [])];
  const seen = { admissions: 0, looks: 0 };
  const fence: Fence = {
    admit: async () => {
      seen.admissions += 1;
      const error = admits.shift();
      if (error !== undefined) throw error;
    },
    isLive: () => {
      seen.looks += 1;
      return live.shift() ?? true;
    },
  };
  return { fence, seen };
}

test.each(ways)('$title receives nothing that its fence refuses [DS-RUN-17]', async (way) => {
  const { transport, effects } = await way.open(createPool(2));
  const refusal = new RuntimeError('RUN_ENDED', 'run r1 was cancelled');
  const { fence, seen } = fenceOf({ admits: [refusal] });
  expect(await faultOf(fenced(fence, () => transport.exchange(message)))).toBe(refusal);
  expect([effects(), seen.looks]).toEqual([0, 0]);
  await fenced(fence, () => transport.exchange(message));
  expect([effects(), seen.admissions]).toEqual([1, 2]);
  expect(seen.looks).toBeGreaterThan(0);
});

test.each(ways)(
  '$title receives a message once, and only while the right to send it is valid',
  async (way) => {
    const { transport, effects } = await way.open(createPool(2));
    const { fence, seen } = fenceOf({ live: [false, false] });
    await fenced(fence, () => transport.exchange(message));
    // The right was requested again each time it had ended.
    expect(effects()).toBe(1);
    expect(seen.admissions).toBeGreaterThanOrEqual(3);
    const lost = new RuntimeError('STORE_FAILED', 'the claim is lost');
    const late = fenceOf({ live: [false] });
    const fence2: Fence = {
      isLive: late.fence.isLive,
      admit: async () => {
        await late.fence.admit();
        if (late.seen.looks > 0) throw lost;
      },
    };
    expect(await faultOf(fenced(fence2, () => transport.exchange(message)))).toBe(lost);
    expect(effects()).toBe(1);
  },
);

function openNoting(pool: Pool, concurrency = Number.POSITIVE_INFINITY) {
  const started: string[] = [];
  const reply: Reply = { via: 'process', exitCode: 0, signal: null, stdout: new Uint8Array(), stderr: '' };
  const transport: Transport = {
    exchange: async ({ body, requireStart }) => {
      requireStart?.();
      started.push(body);
      await new Promise((resolve) => setImmediate(resolve));
      return reply;
    },
    warm: () => {},
    close: async () => {},
  };
  return { transport: withPool(transport, { name: 'demo', concurrency }, pool), started };
}

test('in any order of waits and expiries, nothing starts without its own admission', async () => {
  const call = fc.record({ refused: fc.nat(2), dead: fc.nat(3), isFenced: fc.boolean(), pauses: fc.nat(3) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 12 }),
      fc.integer({ min: 1, max: 3 }),
      async (calls, slots) => {
        const { transport, started } = openNoting(createPool(slots), 2);
        const results = await Promise.all(
          calls.map(async ({ refused, dead, isFenced, pauses }, index) => {
            for (let turn = 0; turn < pauses; turn += 1) await new Promise((next) => setImmediate(next));
            const refusal = new RuntimeError('RUN_ENDED', `call ${index}`);
            const admits = refused === 2 ? [refusal] : [];
            const { fence } = fenceOf({ admits, live: Array(dead).fill(false) });
            const send = () => transport.exchange({ ...message, body: String(index) });
            const came = await fenced(isFenced ? fence : undefined, send).catch((error: unknown) => error);
            return isFenced && refused === 2 ? came === refusal : !(came instanceof Error);
          }),
        );
        expect(results).not.toContain(false);
        const allowed = calls.flatMap(({ refused, isFenced }, index) =>
          isFenced && refused === 2 ? [] : [String(index)],
        );
        expect(started.toSorted()).toEqual(allowed.toSorted());
      },
    ),
    { numRuns: 300 },
  );
});

test('a slow store is not awaited in a slot', async () => {
  const pool = createPool(1);
  const { transport, started } = openNoting(pool);
  const slow = Promise.withResolvers<void>();
  const fence: Fence = { admit: () => slow.promise, isLive: () => true };
  const waiting = fenced(fence, () => transport.exchange({ ...message, body: 'waits' }));
  await transport.exchange({ ...message, body: 'passes' });
  expect(started).toEqual(['passes']);
  slow.resolve();
  await waiting;
  expect(started).toEqual(['passes', 'waits']);
});

test('a caller that aborts during a slow store call starts nothing', async () => {
  const { transport, started } = openNoting(createPool(1));
  const slow = Promise.withResolvers<void>();
  const caller = new AbortController();
  const fence: Fence = { admit: () => slow.promise, isLive: () => true };
  const waiting = fenced(fence, () => transport.exchange(message, caller.signal));
  setTimeout(() => caller.abort(), 1_200);
  expect((await faultOf(waiting)).code).toBe('ABORTED');
  slow.resolve();
  await until(() => true, 'a turn');
  expect(started).toEqual([]);
});

test('a right that always ends before the start is an error, not an endless retry', async () => {
  const { transport, started } = openNoting(createPool(1));
  const fence: Fence = { admit: async () => {}, isLive: () => false };
  expect((await faultOf(fenced(fence, () => transport.exchange(message)))).code).toBe('STORE_FAILED');
  expect(started).toEqual([]);
});

test('work without a caller has no fence', async () => {
  const { transport, started } = openNoting(createPool(1));
  const { fence, seen } = fenceOf({});
  await fenced(fence, () => unwatched(() => transport.exchange(message)));
  expect([started.length, seen.admissions]).toEqual([1, 0]);
});
