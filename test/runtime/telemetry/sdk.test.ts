import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openRuntime } from '../../../src/index.ts';
import { workspace } from '../../workspace.ts';

const folder = workspace(
  `
telemetry: {traces: false}
tools:
  greet: {exec: {command: ./greet.sh}}
`,
  { 'greet.sh': '#!/bin/sh\necho \'{"result": "hello"}\'\n' },
);

const open = async (env?: NodeJS.ProcessEnv) =>
  await openRuntime(`${folder}/runtime.yaml`, { ownsTelemetry: true, log: false, env });

async function callsIn(runtime: Awaited<ReturnType<typeof open>>): Promise<string[]> {
  const { text = '' } = (await runtime.telemetry.metrics?.()) ?? {};
  return text.split('\n').filter((line) => line.startsWith('gen_ai_execute_tool_duration_seconds_count'));
}

test('the counts of a process survive a reload of its config, and end with the last runtime', async () => {
  const before = await open();
  await before.tools.call('greet', {});
  const after = await open();
  await before.close();
  await after.tools.call('greet', {});
  expect(await callsIn(after)).toEqual([expect.stringMatching(/ 2$/)]);
  await after.close();
  const next = await open();
  expect(await callsIn(next)).toEqual([]);
  await next.close();
});

test('runtimes with different variables share nothing', async () => {
  const runtimes = await Promise.all(
    ['one', 'two'].map((name) => open({ PATH: process.env['PATH'], OTEL_SERVICE_NAME: name })),
  );
  const texts = await Promise.all(runtimes.map(async ({ telemetry }) => (await telemetry.metrics?.())?.text));
  expect(texts.map((text) => /service_name="(\w+)"/.exec(text ?? '')?.[1])).toEqual(['one', 'two']);
  await Promise.all(runtimes.map((runtime) => runtime.close()));
});

test('a library without a registered SDK exports nothing, and says so', async () => {
  const notes: string[] = [];
  const runtime = await openRuntime(`${folder}/runtime.yaml`, {
    log: false,
    // For the SDK of a host.
    env: { ...process.env, OTEL_METRICS_EXPORTER: 'console', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    onEvent: { types: ['note'], take: (event) => event.type === 'note' && notes.push(event.message) },
  });
  const none = 'no OpenTelemetry SDK is registered in this process';
  expect(notes).toEqual([`telemetry: ${none}, so nothing is exported`]);
  await expect(runtime.telemetry.metrics?.()).rejects.toThrow(none);
  await runtime.close();
});

/** A runtime that sends each span at once to a collector, which answers its requests with these statuses. */
async function openSending(statusOf: (request: number) => number) {
  let received = 0;
  const server = createServer((_, response) => {
    received += 1;
    response.writeHead(statusOf(received)).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const notes: string[] = [];
  const runtime = await openRuntime(`${folder}/runtime.yaml`, {
    ...{ ownsTelemetry: true, log: false },
    env: {
      ...{ PATH: process.env['PATH'], OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: url },
      OTEL_BSP_SCHEDULE_DELAY: '1',
    },
    onEvent: { types: ['note'], take: (event) => event.type === 'note' && notes.push(event.message) },
  });
  const close = async () => {
    await runtime.close();
    server.close();
  };
  return { runtime, url, notes, received: () => received, close };
}

test('a collector that refuses every span is reported once', async () => {
  const { runtime, url, notes, received, close } = await openSending(() => 400);
  while (received() < 5) await runtime.tools.call('greet', {});
  await close();
  expect(notes).toEqual([`telemetry: spans cannot be sent to ${url}/v1/traces: it answered with status 400`]);
});

test('spans that an overloaded collector did not take are sent again, at the latest at the end', async () => {
  const { runtime, notes, received, close } = await openSending((request) => (request === 1 ? 503 : 200));
  await runtime.tools.call('greet', {});
  while (received() === 0) await sleep(5);
  await close();
  expect({ received: received(), notes }).toEqual({ received: 2, notes: [] });
});
