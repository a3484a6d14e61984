import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { spread } from './run/line.ts';
import { type Served, startGateway, startUpstream } from './ways/served.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    streams: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '1000' },
    help: { type: 'boolean', default: false },
  },
});
const help = `npm run soak:gateway -- [--calls 100000] [--streams 10000] [--connections 1000]

Sends calls through \`signalbox serve\`, aborts streams, and holds slow connections open while it measures the calls of others.
Fails when the memory of the gateway grows by more than an eighth after the second tenth of the calls, when a call fails, or
when slow connections more than double the p99 of others.
`;

if (values.help) process.stdout.write(help);
else process.exitCode = await soak(Number(values.calls), Number(values.streams), Number(values.connections));

async function soak(calls: number, streams: number, connections: number): Promise<number> {
  const upstream = await startUpstream();
  const gateway = await startGateway(upstream.url, {});
  const pool = new Pool(gateway.url, { connections: 256 });
  const problems: string[] = [];
  try {
    const settled = await sendCalls(pool, gateway, calls);
    for (let fifth = 1; fifth <= 5; fifth++) {
      await spread(streams / 5, 64, () => abortStream(pool));
      print(`${(fifth * streams) / 5} streams aborted`, `${memoryOf(gateway)} MB`);
    }
    const after = memoryOf(gateway);
    if (after > settled * 1.125) problems.push(`memory grew from ${settled} to ${after} MB`);
    const alone = await measure(pool);
    const slow = await holdSlowConnections(gateway, connections, () => measure(pool));
    print('p99 alone', `${alone.toFixed(2)} ms`);
    print(`p99 with ${connections} slow connections`, `${slow.toFixed(2)} ms`);
    if (slow > alone * 2) problems.push('slow connections delay others');
  } finally {
    await pool.destroy();
    await gateway.stop();
    await upstream.stop();
  }
  for (const problem of problems) process.stdout.write(`fails: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

/** Returns the memory after a fifth of the calls, when everything has been used once. */
async function sendCalls(pool: Pool, gateway: Served, calls: number): Promise<number> {
  let settled = 0;
  for (let tenth = 1; tenth <= 10; tenth++) {
    const from = performance.now();
    await spread(calls / 10, 32, () => call(pool));
    const rate = Math.round(calls / 10 / ((performance.now() - from) / 1000));
    if (tenth === 2) settled = memoryOf(gateway);
    print(`${(tenth * calls) / 10} calls`, `${memoryOf(gateway)} MB, ${rate} /s`);
  }
  return settled;
}

async function call(pool: Pool): Promise<void> {
  const { statusCode, body } = await pool.request(requestOf(false));
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
}

async function abortStream(pool: Pool): Promise<void> {
  const { body } = await pool.request(requestOf(true));
  for await (const _ of body) break;
}

/** Returns the p99 latency in milliseconds of 3,000 calls, four at once. */
async function measure(pool: Pool): Promise<number> {
  const times: number[] = [];
  await spread(3000, 4, async () => {
    const from = performance.now();
    await call(pool);
    times.push(performance.now() - from);
  });
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0;
}

/** Runs the work while many clients send their headers slowly, line by line. */
async function holdSlowConnections<Result>(
  { url }: Served,
  count: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n');
    return socket;
  });
  const dripping = setInterval(() => {
    for (const socket of sockets) if (Math.random() < 0.1) socket.write('x-slow: yes\r\n');
  }, 100);
  try {
    await sleep(500);
    return await work();
  } finally {
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
  }
}

function requestOf(stream: boolean) {
  const messages = [{ role: 'user', content: 'Hello there, how are you today? '.repeat(20) }];
  return {
    ...{ path: '/v1/chat/completions', method: 'POST' as const },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages }),
  };
}

/** Resident memory, in MB. */
function memoryOf({ pid }: Served): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

function print(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(40)} ${figure}\n`);
}
