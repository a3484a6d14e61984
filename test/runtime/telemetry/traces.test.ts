import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CallOptions, Runtime } from '../../../src/index.ts';
import { pipeline } from '../../workspace.ts';
import { type Exported, exportsOf, treeOf, valuesOf } from './exported.ts';

/** A server of MCP whose tool answers with the metadata of its call. */
const upstream = `#!/usr/bin/env node
const { createInterface } = require('node:readline');
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'meta', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ _meta }) => ({ content: [{ type: 'text', text: JSON.stringify(_meta) }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = results[method]?.(params);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ? { result: answer } : { error: { code: -32601, message: 'unknown' } }) }));
});
`;
const files = {
  'meta.cjs': upstream,
  'run.pipeline.yaml': pipeline('steps: [{id: a, tool: oneshot}]', 'run'),
};
const writes = (name: string) =>
  `command: sh, args: ["-c", 'echo "$TRACEPARENT" > $folder/${name}; echo "{\\"allow\\": true}"']`;
const spec = `
tools:
  oneshot: {exec: {command: $bin/print-env}}
  warm: {exec: {command: $bin/print-env, warm: 1}}
  server: {exec: {command: $bin/server, args: [line], runtime: server}}
mcp_servers: [{name: desk, command: $folder/meta.cjs}]
state_store: {type: sqlite, path: $folder/state.db}
hooks:
  filter: {${writes('filter')}, hook: tool, phases: [before_execution]}
  watch: {${writes('watch')}, hook: tool, phases: [after_execution], mode: observe}
  guess: {${writes('guess')}, hook: tool, phases: [before_execution], mode: shadow}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: hi, repeat: true}]}}]
`;

const trace = (flags: string) => ({
  traceparent: `00-${'1'.repeat(32)}-00f067aa0ba902b7-${flags}`,
  tracestate: 'vendor=1',
});

/** The trace that a tool was given. */
async function seenBy(runtime: Runtime, tool: string, options?: CallOptions): Promise<string> {
  const document = await runtime.tools.call(tool, {}, options);
  if (document.status !== 'ok') throw new Error(JSON.stringify(document));
  const { result } = document as { result: unknown };
  if (typeof result === 'string') return JSON.parse(result).params._meta.traceparent;
  const { TRACEPARENT, content } = result as { TRACEPARENT?: string; content?: [{ text: string }] };
  return TRACEPARENT ?? JSON.parse(content?.[0].text ?? '').traceparent;
}

const parentOf = ({ traceId, spanId }: Exported) => `00-${traceId}-${spanId}-01`;

function spanOf(spans: readonly Exported[], name: string, hook?: string): Exported {
  const [found, ...more] = spans.filter(
    (span) => span.name === name && valuesOf(span)['signalbox.hook.name'] === hook,
  );
  if (found === undefined || more.length > 0) throw new Error(`${1 + more.length} spans are ${name}`);
  return found;
}

test.each(['oneshot', 'warm', 'server', 'desk__meta'])(
  'the program of %s continues the span of the tool, and programs of hooks those of the hooks',
  async (tool) => {
    let seen = '';
    const { spans, folder } = await exportsOf({ spec, files }, async (runtime) => {
      seen = await seenBy(runtime, tool);
    });
    expect(seen).toBe(parentOf(spanOf(spans, `execute_tool ${tool}`)));
    for (const hook of ['filter', 'watch', 'guess'])
      expect(readFileSync(join(folder, hook), 'utf8').trim()).toBe(
        parentOf(spanOf(spans, 'signalbox.hook', hook)),
      );
  },
);

const gateway = async (runtime: Runtime) => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  const request = new Request('http://127.0.0.1/v1/chat/completions', {
    ...{ method: 'POST', body, headers: trace('01') },
  });
  await (await runtime.gateway().fetch(request)).text();
};

test.each<readonly [string, (runtime: Runtime, folder: string) => Promise<unknown>]>([
  ['a tool call', (runtime) => runtime.tools.call('oneshot', {}, { trace: trace('01') })],
  ['a run', (runtime, folder) => runtime.run(join(folder, 'run.pipeline.yaml'), {}, { trace: trace('01') })],
  ['a request', gateway],
])('the trace of the caller of %s is the parent of its first span', async (_, act) => {
  const { spans } = await exportsOf({ spec, files }, act);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId));
  expect(roots.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([
    ['1'.repeat(32), '00f067aa0ba902b7'],
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(['1'.repeat(32)]));
});

test('a trace that its caller does not sample makes no spans, and programs learn that', async () => {
  const seen: string[] = [];
  const { spans, folder } = await exportsOf({ spec, files }, async (runtime) => {
    for (const tool of ['oneshot', 'server', 'desk__meta'])
      seen.push(await seenBy(runtime, tool, { trace: trace('00') }));
  });
  expect(spans).toEqual([]);
  const told = ['filter', 'watch', 'guess'].map((hook) => readFileSync(join(folder, hook), 'utf8').trim());
  for (const each of [...seen, ...told]) expect(each).toMatch(/^00-1{32}-[\da-f]{16}-00$/);
});

test('a ratio of zero samples nothing, also not in traces that begin here', async () => {
  let seen = '';
  const { spans } = await exportsOf(
    { spec, files, telemetry: '{metrics: false, traces: {sample: 0}}' },
    async (runtime) => {
      seen = await seenBy(runtime, 'oneshot');
    },
  );
  expect([spans, seen.slice(-3)]).toEqual([[], '-00']);
});

test('spans of work that never ends are exported when the runtime closes', async () => {
  const stuck = `
tools: {stuck: {exec: {command: sleep, args: ["600"]}}}
`;
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const onEvent = { types: ['process.started'], take: () => resolve() } as const;
  const { spans } = await exportsOf({ spec: stuck, onEvent }, async (runtime) => {
    void runtime.tools.call('stuck', {}).catch(() => {});
    await started;
  });
  expect(treeOf(spans)).toEqual(['execute_tool stuck']);
});

test('every part lies within its whole', async () => {
  const { spans } = await exportsOf({ spec, files }, async (runtime, folder) => {
    for (let run = 0; run < 20; run += 1) await runtime.tools.call('server', {});
    await runtime.run(join(folder, 'run.pipeline.yaml'), {});
  });
  const within = spans.filter((part) => {
    const whole = spans.find(({ spanId }) => spanId === part.parentSpanId);
    const isLate = BigInt(part.endTimeUnixNano) > BigInt(whole?.endTimeUnixNano ?? part.endTimeUnixNano);
    const isEarly = BigInt(part.startTimeUnixNano) < BigInt(whole?.startTimeUnixNano ?? 0);
    // Observers and shadows may take longer than the call.
    return isEarly || (isLate && valuesOf(part)['signalbox.hook.mode'] === 'filter');
  });
  expect(within).toEqual([]);
});
