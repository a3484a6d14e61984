import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRateQueue } from '../../../src/models/rate/rate-queue.ts';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import { createSharedSupply } from '../../../src/store/shared-rates.ts';
import type { Transaction } from '../../../src/store/shared-work.ts';
import { signalbox, suite, workspace } from '../../cli/command-line.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../../store/postgres/server.ts';

describe.runIf(hasPostgres)(`a limit that processes share${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const openQueue = async (url: string, requestsPerMinute: number) => {
    const store = await openPostgresStore(addressOf(url));
    onTestFinished(() => store.close());
    const { work } = store;
    if (work === undefined) throw new Error('it has no work');
    let statements = 0;
    const counted = {
      ...work,
      transact: async <Result>(asked: (transaction: Transaction) => Promise<Result>) => {
        statements += 1;
        return await work.transact(asked);
      },
    };
    const supply = createSharedSupply('p', { requestsPerMinute }, async () => counted);
    return { queue: createRateQueue('p', supply), count: () => statements };
  };

  test('three processes together keep to one limit, as the API counts their calls [DS-RATE-05]', async () => {
    const times: number[] = [];
    const api = createServer((request, response) => {
      times.push(performance.now());
      request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(answer));
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    onTestFinished(() => void api.close());
    const { port } = api.address() as AddressInfo;
    const rows = Array.from({ length: 120 }, (_, at) => JSON.stringify({ id: `c${at}`, question: `q${at}` }));
    const cwd = workspace(specOf(port), {
      'rows.jsonl': `${rows.join('\n')}\n`,
      'demo.suite.yaml': suite(questions),
    });
    const env = { PATH: process.env['PATH'], HOME: cwd, DATABASE_URL: await server.newUrl(), KEY: 'k' };
    const ended = [1, 2, 3].map(async () => {
      const [program, ...args] = signalbox;
      const child = spawn(program, [...args, 'eval', 'run', 'demo.suite.yaml'], { cwd, env });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      const [code] = await once(child, 'close');
      return { code, output };
    });
    for (const { code, output } of await Promise.all(ended)) expect(code, output).toBe(0);
    expect(times).toHaveLength(360);
    // In any window: the rate, a burst of ten seconds, and one second that each process holds.
    for (const [from, first] of times.entries())
      for (let to = from; to < times.length; to++) {
        const seconds = ((times[to] ?? 0) - first) / 1_000;
        expect(to - from + 1).toBeLessThanOrEqual(20 * seconds + 200 + 3 * 20 + 5);
      }
  });

  test('one statement serves many calls, and unused reservations are returned at the end [DS-RATE-06]', async () => {
    const url = await server.newUrl();
    const { queue, count } = await openQueue(url, 60_000);
    for (let call = 0; call < 500; call++) await queue.take(1, new AbortController().signal);
    expect(count()).toBeLessThan(20);
    await queue.close();
    const [row] = await server.ask(
      'SELECT requests FROM signalbox.rate_buckets',
      new URL(url).pathname.slice(1),
    );
    expect(Number(row?.['requests'])).toBeGreaterThanOrEqual(9_500);
  });

  test('the reservation of a dead process becomes available again [DS-RATE-06]', async () => {
    const url = await server.newUrl();
    const never = new AbortController().signal;
    const [gone, other] = [await openQueue(url, 6_000), await openQueue(url, 6_000)];
    // It takes a hundred in advance and never returns.
    await gone.queue.take(1, never);
    const beganAt = performance.now();
    for (let call = 0; call < 1_000; call++) await other.queue.take(1, never);
    // A full bucket is a thousand, of which a tenth is gone. The limit refills a hundred a second.
    expect(performance.now() - beganAt).toBeGreaterThanOrEqual(800);
  });

  test('a wait that the API requests delays the calls of all processes [DS-RATE-06]', async () => {
    const url = await server.newUrl();
    const never = new AbortController().signal;
    const [one, other] = [await openQueue(url, 6_000), await openQueue(url, 6_000)];
    const turn = await one.queue.take(1, never);
    const beganAt = performance.now();
    turn.hold(900);
    // Time for the write to reach the database.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await other.queue.take(1, never);
    expect(performance.now() - beganAt).toBeGreaterThanOrEqual(850);
  });
});

const answer = JSON.stringify({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

function specOf(port: number): string {
  return `
state_store: {type: postgres, url_env: DATABASE_URL}
providers:
  - id: api
    type: openai-compatible
    model: m
    base_url: http://127.0.0.1:${port}/v1
    credential: {credential_env: KEY}
    rate_limit: {requests_per_minute: 1200}
`;
}

const questions = `
runtime: runtime.yaml
dataset: {path: rows.jsonl}
subject:
  chat: {provider: api, messages: [{role: user, content: "\${case.question}"}]}
evals:
  - {id: says, type: contains, params: {patterns: ["yes"]}}
`;
