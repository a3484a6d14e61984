import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { type EventInput, readEvent } from '../../../src/calls/hooks/event-input.ts';
import { type GateOptions, type Link, passGate } from '../../../src/calls/hooks/gate.ts';
import type { HookEvent, NativeEvent } from '../../../src/contract/hook.ts';
import { onTransports } from '../../cite.ts';
import {
  answering,
  type Bench,
  eventually,
  type HookEntry,
  newRecord,
  openBench,
} from '../capability/bench.ts';

const beforeCall: EventInput = {
  hook: 'provider',
  phase: 'before_call',
  request: { messages: [{ role: 'user', content: 'My card is 4111' }], system_prompt: 'Be kind.' },
};
const afterCall: EventInput = {
  ...beforeCall,
  phase: 'after_call',
  response: { message: { content: 'secret' } },
};
const beforeExecution: EventInput = {
  hook: 'tool',
  phase: 'before_execution',
  request: { name: 'w', args: new Json('{"city":"NYC"}'), call_id: 'call_1' },
};
const afterExecution: EventInput = {
  ...beforeExecution,
  phase: 'after_execution',
  response: { content: 'secret' },
};

function pass(links: readonly Link[], event: EventInput | NativeEvent, options: Partial<GateOptions> = {}) {
  return passGate(links, readEvent(event), { call: 'c', ...options });
}

/** Filters of the event's kind, named a, b, c … in file order. */
function filters(bench: Bench, { hook: kind }: EventInput, replies: readonly string[]): Link[] {
  return replies.map((reply, index) =>
    bench.links.filter({ ...answering('oneshot', reply), name: nameOf(index), kind }),
  );
}

function nameOf(index: number): string {
  return 'abcdefgh'.charAt(index);
}

const allowWith = (metadata: string) => `{"allow": true, "metadata": ${metadata}}`;
const replaceWith = (replace: string) => `{"allow": true, "replace": ${replace}}`;

test('a chain without hooks allows', async () => {
  const { decision, event } = await pass([], beforeCall);
  expect(decision).toEqual({
    verdict: 'allow',
    hook: null,
    dialect: null,
    reason: '',
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: new Json('{}'),
  });
  expect(event).toEqual(readEvent(beforeCall));
});

test('filters run in the order of the file, one after another [PK-6-58@oneshot]', async () => {
  const bench = openBench();
  const links = filters(bench, beforeCall, Array(6).fill('{"allow": true}'));
  const { decision } = await pass(links, beforeCall);
  expect(decision).toMatchObject({ verdict: 'allow', hook: null });
  expect(bench.started()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  // Each process ends before the next one starts.
  const life = bench.events.flatMap(({ type, ...event }) =>
    type === 'process.started' || type === 'process.ended'
      ? [`${'name' in event && event.name} ${type.slice(8)}`]
      : [],
  );
  expect(life).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name) => [`${name} started`, `${name} ended`]),
  );
});

test('only hooks of the kind and the phase run', async () => {
  const bench = openBench();
  const entry = answering('oneshot', '{"allow": true}');
  const places: readonly Required<Pick<HookEntry, 'name' | 'kind' | 'phases'>>[] = [
    { name: 'tool hook', kind: 'tool', phases: ['before_execution', 'after_execution'] },
    { name: 'other phase', kind: 'provider', phases: ['after_call'] },
    { name: 'both phases', kind: 'provider', phases: ['before_call', 'after_call'] },
    { name: 'this phase', kind: 'provider', phases: ['before_call'] },
    { name: 'session hook', kind: 'session', phases: ['session_start'] },
    { name: 'misplaced', kind: 'session', phases: ['before_call'] },
  ];
  const { filter, observe, shadow } = bench.links;
  const links = places.flatMap((place) =>
    [filter, observe, shadow].map((open) => open({ ...entry, ...place })),
  );
  await pass(links, beforeCall);
  await eventually(bench.started, 6);
  expect(bench.started().sort()).toEqual([...Array(3).fill('both phases'), ...Array(3).fill('this phase')]);
});

test('a filter sees the previous filter’s replacement [DS-HOOK-02@oneshot PK-6-40@oneshot]', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const mark = (name: string) =>
    bench.links.filter({ runs: ['modify-before-call', name], name, kind: 'provider' });
  const last = bench.links.filter({
    ...answering('oneshot', '{"allow": true}'),
    env,
    name: 'last',
    kind: 'provider',
  });
  const { decision, event } = await pass([mark('one'), mark('two'), last], beforeCall);
  const request = {
    messages: [{ role: 'user', content: 'My card is 4111 one two' }],
    system_prompt: 'Be kind. one two',
  };
  expect(decision).toMatchObject({ verdict: 'modify', hook: 'two', dialect: 'promptkit', result: null });
  expect(decision.replace?.value).toEqual(request);
  expect(event).toMatchObject({ request });
  expect(lines().map((line) => JSON.parse(line).request)).toMatchObject([request]);
});

test('the first denial ends the chain and is named [PK-6-59@oneshot]', async () => {
  const bench = openBench();
  const replies = [
    '{"allow": true}',
    replaceWith('{"system_prompt": "b"}'),
    '{"allow": false, "reason": "no"}',
  ];
  const links = filters(bench, beforeCall, [...replies, '{"allow": true}', '{"allow": false}']);
  const { decision } = await pass(links, beforeCall);
  expect(decision).toEqual({
    verdict: 'deny',
    hook: 'c',
    dialect: 'promptkit',
    reason: 'no',
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: new Json('{}'),
  });
  expect(bench.started()).toEqual(['a', 'b', 'c']);
});

test('a fault in the chain denies and names its hook [PK-6-59@oneshot]', async () => {
  const bench = openBench();
  const crash = bench.links.filter({ runs: ['crash.sh'], name: 'guard', kind: 'provider' });
  const links = [...filters(bench, beforeCall, ['{"allow": true}']), crash];
  const { decision } = await pass(links, beforeCall);
  expect(decision).toMatchObject({
    verdict: 'deny',
    hook: 'guard',
    reason: 'the hook failed: The process ended with an exit code other than 0.',
    error: { code: 'PROCESS_EXIT' },
  });
});

test('each decision is reported with its metadata, including an allow’s [PK-6-60@oneshot]', async () => {
  const bench = openBench();
  const replies = [
    '{"allow": true, "reason": "fine", "metadata": {"n": 12345678901234567890}}',
    '{"allow": true, "replace": {"system_prompt": "b"}, "metadata": {"p": 1.10}}',
    '{"allow": false, "reason": "no", "metadata": {"rule": 1}}',
  ];
  await pass(filters(bench, beforeCall, replies), beforeCall);
  const told = {
    type: 'decision',
    dialect: 'promptkit',
    kind: 'provider',
    phase: 'before_call',
    mode: 'filter',
    call: 'c',
  };
  expect(bench.events.filter(({ type }) => type === 'decision')).toEqual([
    {
      ...told,
      hook: 'a',
      verdict: 'allow',
      reason: 'fine',
      metadata: new Json('{"n": 12345678901234567890}'),
      durationMs: expect.any(Number),
      queueMs: expect.any(Number),
    },
    {
      ...told,
      hook: 'b',
      verdict: 'modify',
      reason: '',
      metadata: new Json('{"p": 1.10}'),
      durationMs: expect.any(Number),
      queueMs: expect.any(Number),
    },
    {
      ...told,
      hook: 'c',
      verdict: 'deny',
      reason: 'no',
      metadata: new Json('{"rule": 1}'),
      durationMs: expect.any(Number),
      queueMs: expect.any(Number),
    },
  ]);
});

const merged = onTransports([
  {
    title: 'a denial has its own alone',
    cites: 'PK-6-61@oneshot',
    replies: [allowWith('{"a": 1}'), '{"allow": false, "metadata": {"rule": 12345678901234567890}}'],
    metadata: '{"rule": 12345678901234567890}',
  },
  {
    title: 'a denial without any has none',
    cites: 'PK-6-61@oneshot',
    replies: [allowWith('{"a": 1}'), '{"allow": false}'],
    metadata: '{}',
  },
  {
    title: 'allows have all of it, later keys winning, with their bytes',
    cites: 'PK-6-62@oneshot',
    replies: [
      allowWith('{"a": 1, "b": [1.10]}'),
      '{"allow": true}',
      allowWith('{ "c" : {"x": 12345678901234567890} , "a":"\\u00e9" }'),
    ],
    metadata: '{"a":"\\u00e9","b":[1.10],"c":{"x": 12345678901234567890}}',
  },
  {
    title: 'so do allows and modifies together',
    cites: 'PK-6-62@oneshot',
    replies: [
      allowWith('{"a": 1, "z": {"deep": 1}}'),
      '{"allow": true, "replace": {"system_prompt": "b"}, "metadata": {"z": {"other": 2}}}',
      allowWith('{"__proto__": 1}'),
    ],
    metadata: '{"a":1,"z":{"other": 2},"__proto__":1}',
  },
]);

test.each(merged)('metadata: $title', async ({ replies, metadata }) => {
  const { decision } = await pass(filters(openBench(), beforeCall, replies), beforeCall);
  expect(decision.metadata.text).toBe(metadata);
});

test('observers and shadows receive the event as it is at their place, also after a denial', async () => {
  const bench = openBench();
  const records = [newRecord(), newRecord(), newRecord()];
  const [first, between, behind] = records.map(({ env }) => ({
    ...answering('oneshot', '{"allow": true}'),
    env,
    kind: 'provider' as const,
  }));
  const links = [
    bench.links.observe({ runs: ['answers', ''], ...first, name: 'first' }),
    ...filters(bench, beforeCall, [replaceWith('{"system_prompt": "changed"}')]),
    bench.links.shadow({ runs: ['answers', ''], ...between, name: 'between' }),
    bench.links.filter({ ...answering('oneshot', '{"allow": false}'), name: 'denier', kind: 'provider' }),
    bench.links.observe({ runs: ['answers', ''], ...behind, name: 'behind' }),
  ];
  const { decision } = await pass(links, beforeCall);
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'denier' });
  const heard = () =>
    records.flatMap(({ lines }) => lines()).map((line) => JSON.parse(line).request.system_prompt);
  expect(await eventually(heard, 3)).toEqual(['Be kind.', 'changed', 'changed']);
});

const stock = 'This response was withheld by a guardrail.';
const enforce = (metadata: string) =>
  `{"allow": false, "enforced": true, "reason": "unsafe", "metadata": ${metadata}}`;

const enforced = onTransports(
  [
    {
      title: 'its own text',
      cites: 'PK-6-48@both',
      metadata: '{"replacement": "I cannot say that."}',
      result: 'I cannot say that.',
    },
    { title: 'a text that is empty', cites: 'PK-6-48@both', metadata: '{"replacement": ""}', result: '' },
    { title: 'no text', cites: 'PK-6-49@both', metadata: '{"rule": 1}', result: stock },
    {
      title: 'something that is no text',
      cites: 'PK-6-49@both',
      metadata: '{"replacement": {"a": 1}}',
      result: stock,
    },
    { title: 'null', cites: 'PK-6-49@both', metadata: '{"replacement": null}', result: stock },
  ].flatMap((row) => [beforeCall, afterCall].map((event) => ({ ...row, event, phase: event.phase }))),
);

test.each(enforced)(
  'an enforced denial at $phase with $title replaces the answer',
  async ({ on, event, metadata, result }) => {
    const link = openBench().links.filter({
      ...answering(on, enforce(metadata)),
      name: 'guard',
      kind: 'provider',
    });
    const { decision } = await pass([link], event);
    expect(decision).toEqual({
      verdict: 'deny',
      hook: 'guard',
      dialect: 'promptkit',
      reason: 'unsafe',
      enforced: true,
      replace: null,
      result: Json.from(result),
      context: [],
      abort: null,
      metadata: new Json(metadata),
    });
    expect(JSON.stringify(decision)).not.toContain('secret');
  },
);

const plain = onTransports(
  [beforeExecution, afterExecution].map((event) => ({
    title: `${event.phase}`,
    cites: 'PK-6-50@both',
    event,
  })),
);

test.each(plain)('an enforced denial at $title is a plain one', async ({ on, event }) => {
  const link = openBench().links.filter({ ...answering(on, enforce('{"replacement": "x"}')), name: 'guard' });
  const { decision } = await pass([link], event);
  expect(decision).toMatchObject({
    verdict: 'deny',
    hook: 'guard',
    reason: 'unsafe',
    enforced: false,
    result: null,
    context: [],
    abort: null,
  });
});

const withheld = onTransports([
  {
    title: 'a denial that does not enforce',
    cites: 'PK-6-49@both',
    says: '{"allow": false, "metadata": {"replacement": "x"}}',
  },
]);

test.each(withheld)('$title has no replacement', async ({ on, says }) => {
  const link = openBench().links.filter({ ...answering(on, says), kind: 'provider' });
  const { decision } = await pass([link], afterCall);
  expect(decision).toMatchObject({ verdict: 'deny', enforced: false, result: null });
});

/** Replacements for each phase. Only a verbatim copy preserves their bytes. */
const replaced = onTransports([
  {
    title: 'messages',
    cites: 'PK-6-40@both PK-3-21@both',
    event: beforeCall,
    replace:
      '{"messages": [ {"role":"user", "content":"[card] \\u00e9", "meta":{"n": 12345678901234567890,"p":1.10}} ]}',
    decision:
      '{"messages":[ {"role":"user", "content":"[card] \\u00e9", "meta":{"n": 12345678901234567890,"p":1.10}} ]}',
    left: {
      messages: [
        { role: 'user', content: '[card] é', meta: new Json('{"n": 12345678901234567890,"p":1.10}') },
      ],
      system_prompt: 'Be kind.',
    },
  },
  {
    title: 'the system prompt alone',
    cites: 'PK-6-40@both',
    event: beforeCall,
    replace: '{"system_prompt":"\\u00e9"}',
    decision: '{"system_prompt":"\\u00e9"}',
    left: { messages: [{ role: 'user', content: 'My card is 4111' }], system_prompt: 'é' },
  },
  {
    title: 'args',
    cites: 'PK-6-42@both PK-3-21@both',
    event: beforeExecution,
    replace: '{"args": { "n":12345678901234567890, "p":1.10 }}',
    decision: '{"args":{ "n":12345678901234567890, "p":1.10 }}',
    left: { args: new Json('{ "n":12345678901234567890, "p":1.10 }') },
  },
]);

test.each(replaced)('a filter replaces $title', async ({ on, event, replace, decision, left }) => {
  const bench = openBench();
  const link = bench.links.filter({ ...answering(on, replaceWith(replace)), name: 'mask', kind: event.hook });
  const passed = await pass([link], event);
  expect(passed.decision).toMatchObject({ verdict: 'modify', hook: 'mask', replace: { text: decision } });
  expect(passed.event).toMatchObject({ request: left });
});

const answers = onTransports([
  {
    title: 'replaces the whole message, tool calls that it does not repeat included',
    cites: 'PK-6-41@both',
    event: {
      ...afterCall,
      response: { message: { content: 'secret', tool_calls: [{ id: '1', name: 'w', args: {} }] } },
    },
    replace: '{"message":{"role":"assistant","content":"[masked]","note":1.0}}',
    response: { message: { role: 'assistant', content: '[masked]', note: new Json('1.0') } },
  },
  {
    title: 'replaces the content of a tool',
    cites: 'PK-6-44@both',
    event: afterExecution,
    replace: '{"content":"[masked]"}',
    response: { name: 'w', call_id: 'call_1', content: '[masked]', error: '', latency_ms: 0 },
  },
]);

test.each(answers)('a filter $title', async ({ on, event, replace, response }) => {
  const bench = openBench();
  const link = bench.links.filter({ ...answering(on, replaceWith(replace)), kind: event.hook });
  const passed = await pass([link], event);
  expect(passed.decision.replace?.text).toBe(replace);
  expect('response' in passed.event && passed.event.response).toMatchObject(response);
  expect(JSON.stringify(passed.event)).not.toContain('secret');
  expect('response' in passed.event && Object.keys(passed.event.response)).not.toContain('tool_calls');
});

test('replacements of several filters are merged, the last one for each member', async () => {
  const replies = [
    replaceWith('{"messages": [], "system_prompt": "a"}'),
    replaceWith('{"messages": [{"role":"user","content":"c","n":1.0}]}'),
    '{"allow": true}',
  ];
  const { decision } = await pass(filters(openBench(), beforeCall, replies), beforeCall);
  expect(decision).toMatchObject({
    verdict: 'modify',
    hook: 'b',
    replace: { text: '{"messages":[{"role":"user","content":"c","n":1.0}],"system_prompt":"a"}' },
  });
});

test('the next filter reads a replaced message with its bytes, on one line', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const message = '{"role":"user",\n"content":"hi","meta":{"n":12345678901234567890,\n"p":1.10}}';
  const [mask] = filters(bench, beforeCall, [replaceWith(`{"messages": [${message}]}`)]);
  const next = bench.links.filter({ ...answering('server', '{"allow": true}'), env, kind: 'provider' });
  const { decision } = await pass(mask === undefined ? [] : [mask, next], beforeCall);
  expect(decision.verdict).toBe('modify');
  expect(lines().join()).toContain(
    '"messages":[{"role":"user","content":"hi","meta":{"n":12345678901234567890, "p":1.10},"parts":[{"type":"text","text":"hi"}]}]',
  );
});

const refusals = [
  {
    title: 'arguments in which a key stands twice',
    event: beforeExecution,
    replace: '{"args": {"path": "/safe", "path": "/etc"}}',
    check: () => undefined,
  },
  {
    title: 'arguments in which a key stands twice further down',
    event: beforeExecution,
    replace: '{"args": {"files": [{"path": "/safe", "path": "/etc"}]}}',
    check: () => undefined,
  },
  {
    title: 'what the caller finds wrong',
    event: beforeExecution,
    replace: '{"args": {"city": 1}}',
    check: (event: HookEvent) =>
      `it is ${event.phase === 'before_execution' && JSON.stringify(event.request.args)}`,
  },
];

test.each(refusals)(
  'a replace with $title denies, and is reported as a denial',
  async ({ event, replace, check }) => {
    const bench = openBench();
    const [link] = filters(bench, event, [replaceWith(replace)]);
    const { decision, event: left } = await pass(link === undefined ? [] : [link], event, { check });
    expect(decision).toMatchObject({
      verdict: 'deny',
      hook: 'a',
      reason: 'the hook failed: The reply is not the one JSON object that the dialect requires.',
      replace: null,
      error: { code: 'REPLY_MALFORMED' },
    });
    expect(left).toEqual(readEvent(event));
    expect(bench.events.filter(({ type }) => type === 'decision')).toMatchObject([
      { hook: 'a', verdict: 'deny', reason: expect.stringMatching(/^hook "a" gave no verdict: ./) },
    ]);
  },
);

const asks = (reason: string, metadata = '{}') =>
  `{"allow": false, "ask": true, "reason": "${reason}", "metadata": ${metadata}}`;

test('the first question ends the chain and is named, with the arguments as the filters left them', async () => {
  const bench = openBench();
  const links = filters(bench, beforeExecution, [
    replaceWith('{"args": {"city": "Oslo"}}'),
    asks('unsure', '{"n": 1.0}'),
    '{"allow": false}',
  ]);
  const { decision, event } = await pass(links, beforeExecution);
  expect(decision).toEqual({
    verdict: 'ask',
    hook: 'b',
    dialect: 'promptkit',
    reason: 'unsure',
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: new Json('{"n": 1.0}'),
  });
  expect(event).toMatchObject({ request: { args: new Json('{"city": "Oslo"}') } });
  expect(bench.started()).toEqual(['a', 'b']);
});

test('an answered question passes; later hooks run, and may deny [DS-ASK-02]', async () => {
  const bench = openBench();
  const links = filters(bench, beforeExecution, [
    asks('one', '{"a": 1}'),
    replaceWith('{"args": {"city": "Oslo"}}'),
    asks('two'),
    '{"allow": false, "reason": "no"}',
  ]);
  const approvedBy = (names: string) => ({ isApproved: (hook: string) => names.includes(hook) });
  const verdicts = [];
  for (const names of ['', 'a', 'ac', 'c', 'd', 'acd']) {
    const { decision } = await pass(links, beforeExecution, approvedBy(names));
    verdicts.push(`${decision.verdict} ${decision.hook}`);
  }
  expect(verdicts).toEqual(['ask a', 'ask c', 'deny d', 'ask a', 'ask a', 'deny d']);
});

test('an approval never turns a denial or a fault into an allow', async () => {
  const bench = openBench();
  const hasApproval = () => true;
  const said = [];
  for (const reply of ['{"allow": false}', 'babble', '{"ask": true}', '{"allow": true, "ask": true}']) {
    const { decision } = await pass(filters(bench, beforeExecution, [reply]), beforeExecution, {
      isApproved: hasApproval,
    });
    said.push(decision.verdict);
  }
  expect(said).toEqual(['deny', 'deny', 'deny', 'deny']);
});

test('the metadata of an answered question is merged with that of the others', async () => {
  const links = filters(openBench(), beforeExecution, [
    allowWith('{"a": 1, "b": 1}'),
    asks('unsure', '{"b": 2}'),
  ]);
  const { decision } = await pass(links, beforeExecution, { isApproved: () => true });
  expect(decision).toMatchObject({ verdict: 'allow', hook: null, metadata: new Json('{"a":1,"b":2}') });
});

test('if only filters are wanted, observers and shadows do not run', async () => {
  const bench = openBench();
  const entry = answering('oneshot', '{"allow": true}');
  const { filter, observe, shadow } = bench.links;
  const links = [
    filter({ ...entry, name: 'filter' }),
    observe({ ...entry, name: 'observer' }),
    shadow({ ...entry, name: 'shadow' }),
  ];
  await pass(links, beforeExecution, { filtersOnly: true });
  expect(bench.started()).toEqual(['filter']);
  await pass(links, beforeExecution);
  expect(new Set(await eventually(bench.started, 4))).toEqual(new Set(['filter', 'observer', 'shadow']));
});

test('a caller that has aborted gets a denial, and nothing is started', async () => {
  const bench = openBench();
  const { decision } = await pass(filters(bench, beforeCall, ['{"allow": true}']), beforeCall, {
    signal: AbortSignal.abort(),
  });
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'a', error: { code: 'ABORTED' } });
  expect(bench.started()).toEqual([]);
});
