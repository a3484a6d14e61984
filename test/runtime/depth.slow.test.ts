import { expect, test } from 'vitest';
import { isTextTooDeep, isTooDeep } from '../../src/base/json/depth.ts';
import { Json } from '../../src/base/json/json.ts';
import type { PendingDecision } from '../../src/contract/approval.ts';
import { type Runtime, RuntimeError } from '../../src/index.ts';
import { openDesk, recording, writePipeline } from '../pipelines/desk.ts';

const spec = `
tools:
  plain: {exec: ${recording('echo-args', 'calls')}}
  strict: {input_schema: {type: object}, output_schema: true, exec: {command: $bin/echo-args}}
  when: {approval: {when: "\${args.n > 3}"}, exec: {command: $bin/echo-args}}
  ask: {approval: required, exec: {command: $bin/echo-args}}
evals:
  score: {command: $bin/eval-score}
hooks:
  tools: {command: $bin/allow.sh, hook: tool, phases: [before_execution, after_execution]}
  models: {command: $bin/allow.sh, hook: provider, phases: [before_call, after_call]}
`;

function nest(depth: number, isList: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = isList ? [value] : { a: value };
  return value;
}

type Doors = Readonly<Record<string, (value: unknown, text: string) => Promise<unknown>>>;

async function doorsOf(runtime: Runtime, folder: string): Promise<Doors> {
  const { tools, evals, hooks, pending } = runtime;
  const file = writePipeline(
    folder,
    'steps: [{id: one, tool: ask, args: {x: "${input}"}}]\noutput: ${input}\n',
  );
  const waits = await tools.call('ask', {});
  const id = waits.status === 'pending' ? waits.pending.id : '';
  const messages = (metadata: unknown) => [{ role: 'user', content: 'x', metadata }];
  const turn = (metadata: unknown) => ({ request: { metadata, messages: [{ role: 'user', content: 'x' }] } });
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  return {
    ...Object.fromEntries(
      ['plain', 'strict', 'when', 'ask'].flatMap((tool) => [
        [`args of ${tool}`, (value: unknown) => tools.call(tool, { value })],
        [`text of args of ${tool}`, (_: unknown, text: string) => tools.call(tool, `{"value":${text}}`)],
        [`args of ${tool} that contain themselves`, () => tools.call(tool, cyclic)],
      ]),
    ),
    'args on the spot': (value) =>
      tools.call(
        'ask',
        { value },
        { approve: async ({ id: own }) => ({ id: own, decision: 'approved', by: 'mara', reason: '' }) },
      ),
    params: (value) => evals.call('score', { content: 'x', params: { value } }),
    'params as text': (_, text) =>
      evals.call('score', { content: 'x', params: new Json(`{"value":${text}}`) }),
    context: (value) => evals.call('score', { content: 'x', context: { metadata: { value } } }),
    'a check': (_, text) => evals.call('is_valid_json', { content: text }),
    'metadata of a message': (value) =>
      hooks.fire({ hook: 'provider', phase: 'before_call', request: { messages: messages(value) } }),
    'metadata of a request': (value) =>
      hooks.fire({ hook: 'provider', phase: 'before_call', ...turn({ value }) }),
    'metadata of an answer': (value) =>
      hooks.fire({
        hook: 'provider',
        phase: 'after_call',
        ...turn({}),
        response: { message: { content: 'x', metadata: value } },
      }),
    'args of an event': (value) =>
      hooks.fire({
        hook: 'tool',
        phase: 'before_execution',
        request: { name: 't', args: { value }, call_id: 'c' },
      }),
    'an event that contains itself': () =>
      hooks.fire({
        hook: 'tool',
        phase: 'before_execution',
        request: { name: 't', args: cyclic, call_id: 'c' },
      }),
    'a point': (value) =>
      hooks.fire({
        dialect: 'claude',
        point: 'PreToolUse',
        payload: { tool_name: 't', tool_input: { value } },
      }),
    input: (value) => runtime.run(file, { value }),
    'input as text': (_, text) => runtime.run(file, `{"value":${text}}`),
    'edited args': (value) => pending.approve(id, { by: 'mara', args: { value } }),
    'a result': (value) => pending.respond(id, { by: 'mara', result: value }),
    'a decision on the spot': async (value) => {
      const decision = {
        kind: 'responded',
        result: value as Json,
        by: 'mara',
        reason: '',
      } satisfies PendingDecision;
      return await runtime.run(file, {}, { ask: async () => decision });
    },
  };
}

/** The error code, or undefined for a value. An error without a code fails the test. */
async function codeOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const { error } = ((await work()) ?? {}) as { readonly error?: { readonly code: string } };
    return error?.code;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return error.code;
  }
}

const depths = [
  1_000,
  1_500,
  3_000,
  10_000,
  1_000_000,
  ...Array.from({ length: 3 }, () => Math.floor(10 ** (3 + 3 * Math.random()))),
];

test.each(depths)(
  'a value that is %d levels deep gives a value or a code at every entry point',
  async (depth) => {
    const desk = await openDesk(spec);
    const doors = await doorsOf(desk.runtime, desk.folder);
    for (const isList of [true, false]) {
      const value = nest(depth, isList);
      const text = isList
        ? `${'['.repeat(depth)}1${']'.repeat(depth)}`
        : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      for (const [door, open] of Object.entries(doors)) {
        const code = await codeOf(() => open(value, text));
        expect([door, depth, code]).not.toEqual([door, depth, 'INTERNAL']);
      }
    }
    // Arguments that are too deep never reach a tool.
    expect(desk.lines('calls')).toEqual([]);
  },
);

test('up to 990 levels everything works', async () => {
  const desk = await openDesk(spec);
  const { tools, hooks, pending } = desk.runtime;
  const value = nest(990, true);
  expect(await tools.call('strict', { value })).toMatchObject({ status: 'ok' });
  const waits = await tools.call('ask', { value });
  if (waits.status !== 'pending') throw new Error(waits.status);
  expect(await pending.approve(waits.pending.id, { by: 'mara', args: { value } })).toMatchObject({
    status: 'approved',
  });
  const request = { name: 't', args: { value }, call_id: 'c' };
  expect(await hooks.fire({ hook: 'tool', phase: 'before_execution', request })).toMatchObject({
    verdict: 'allow',
  });
});

const nothings: readonly unknown[] = [undefined, null, 7, 'x', [], {}];

test.each(nothings.map((given) => ({ given })))(
  '$given for an event, an input or a name is reported with a code',
  async ({ given }) => {
    const { runtime } = await openDesk(spec);
    const any = given as never;
    expect(await codeOf(() => runtime.hooks.fire(any))).toBe('EVENT_INVALID');
    expect(await codeOf(() => runtime.evals.call('score', any))).toBe('USAGE');
    expect(await codeOf(() => runtime.tools.call(any, {}))).toBe('NAME_UNKNOWN');
  },
);

test('depth is counted alike in values and in texts, except in strings', () => {
  for (const [depth, isDeep] of [
    [999, false],
    [1_000, false],
    [1_001, true],
  ] as const) {
    const text = `${'['.repeat(depth)}"]]]]\\"{{{{"${']'.repeat(depth)}`;
    expect([depth, isTextTooDeep(text), isTooDeep(JSON.parse(text)), isTooDeep(new Json(text))]).toEqual([
      depth,
      isDeep,
      isDeep,
      isDeep,
    ]);
  }
  expect(isTooDeep({ a: Array.from({ length: 100_000 }, () => ({})) })).toBe(false);
  expect(isTextTooDeep('{"a":[]},'.repeat(100_000))).toBe(false);
});
