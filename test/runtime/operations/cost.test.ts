import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { startOperation } from '../../../src/contract/operation.ts';
import type { Runtime, RuntimeEvent, RuntimeOptions } from '../../../src/index.ts';
import { pipeline } from '../../workspace.ts';
import { open } from '../open.ts';

const spec = `
tools: {echo: {exec: {command: $bin/server, args: [echo], runtime: server}}}
hooks: {toll: {command: $bin/server, args: [allow], runtime: server, hook: tool, phases: [before_execution]}}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: hi, repeat: true}]}}]
`;

const acts: Readonly<Record<string, (runtime: Runtime, folder: string) => Promise<unknown>>> = {
  'a tool call': (runtime) => runtime.tools.call('echo'),
  'an eval': (runtime) => runtime.evals.call('contains', { content: 'x', params: { patterns: ['x'] } }),
  'a chat in a run': (runtime, folder) => runtime.run(join(folder, 'chat.pipeline.yaml'), {}),
  'a request': async (runtime) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
    await (await runtime.gateway().fetch(request)).text();
  },
};

const files = {
  'chat.pipeline.yaml': pipeline(
    'steps: [{id: answer, chat: {provider: main, messages: [{role: user, content: hi}]}}]',
    'chat',
  ),
};

afterEach(() => {
  vi.restoreAllMocks();
});

interface Count {
  /** How often async storage got the context of an operation or of a trace. */
  readonly contexts: number;
  /** How many operations were begun: each takes the next number. */
  readonly operations: number;
}

/** Counts the work of a second, equal act. */
async function count(act: (typeof acts)[string], onEvent: RuntimeOptions['onEvent']): Promise<Count> {
  const { runtime, folder } = await open(spec, { onEvent }, files);
  await act(runtime, folder);
  const before = numberOfNext();
  const run = vi.spyOn(AsyncLocalStorage.prototype, 'run');
  await act(runtime, folder);
  const contexts = run.mock.calls.filter(([store]) => isContext(store)).length;
  run.mockRestore();
  return { contexts, operations: numberOfNext() - before - 1 };
}

function isContext(store: unknown): boolean {
  return typeof store === 'object' && store !== null && ('operation' in store || 'trace' in store);
}

/** Begins an operation. Its start reads the clock and makes its objects. */
function numberOfNext(): number {
  let id = '';
  const emit = (event: RuntimeEvent) => {
    if (event.type === 'operation.started') ({ id } = event);
  };
  startOperation(emit, { operation: 'tool', name: 'counter', call: '' });
  return Number.parseInt(id.slice(-12), 16);
}

const others: readonly RuntimeEvent['type'][] = [
  'decision',
  'call.started',
  'call.finished',
  'step.finished',
];

test.each(Object.entries(acts))('%s begins no operation unless somebody listens to them', async (_, act) => {
  const take = () => {};
  const nothing = { contexts: 0, operations: 0 };
  expect(await count(act, undefined)).toEqual(nothing);
  expect(await count(act, { types: others, take })).toEqual(nothing);
  const { contexts, operations } = await count(act, { types: ['operation.finished'], take });
  expect(Math.min(contexts, operations)).toBeGreaterThan(0);
});
