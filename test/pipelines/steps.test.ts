import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/index.ts';
import { mostAtOnce, openDesk, outline, pendingOf, recording } from './desk.ts';

const spec = `
state_store: {type: memory}
tools:
  echo: {exec: {command: $bin/echo-args}}
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  fail: {exec: {command: $bin/answers, args: ['{"error": "no such order"}']}}
  ask: {exec: {command: $bin/pending.sh}}
  overlap: {exec: {command: $bin/overlap, runtime: server}}
`;

test('steps run in order, and each sees the input and earlier results [DS-RUN-01 DS-RUN-09]', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
input: {type: object, required: [city]}
steps:
  - {id: one, tool: echo, args: {city: "\${input.city}"}}
  - {id: two, tool: note, args: {seen: "\${steps.one.result.city}", text: "in \${steps.one.result.city}!"}}
  - {id: three, tool: note, args: {seen: "\${steps.two}"}}
output: {last: "\${steps.three.result}", all: "\${steps}"}
`,
    { city: 'Oslo' },
  );
  const views = {
    one: { status: 'ok', result: { city: 'Oslo' } },
    two: { status: 'ok', result: 'noted' },
    three: { status: 'ok', result: 'noted' },
  };
  const ended = { kind: 'tool', status: 'ok', duration_ms: expect.any(Number) };
  expect(end).toStrictEqual({
    run_id: expect.stringMatching(/^run_[0-9a-f]{16}$/),
    status: 'completed',
    output: { last: 'noted', all: views },
    pending: [],
    steps: ['one', 'two', 'three'].map((step) => ({ step, ...ended })),
  });
  expect(desk.lines('notes')).toEqual([
    '{"args":{"seen":"Oslo","text":"in Oslo!"}}',
    '{"args":{"seen":{"status":"ok","result":"noted"}}}',
  ]);
});

test('long numbers keep their digits from the input through steps to the output [DS-RUN-02]', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
steps:
  - {id: one, tool: echo, args: {id: "\${input.id}", next: "\${input.near + 1}", rate: "\${input.rate}", text: "#\${input.id}"}}
  - {id: two, tool: note, args: {got: "\${steps.one.result}"}}
  - id: loop
    for_each: "\${[steps.one.result.id]}"
    tool: echo
    args: {item: "\${item}"}
output: {got: "\${steps.one.result}", items: "\${steps.loop.items}"}
`,
    '{"id": 12345678901234567890, "near": 9007199254740993, "rate": 0.12345678901234567890123}',
  );
  const got =
    '{"id":12345678901234567890,"next":9007199254740994,"rate":0.12345678901234567890123,"text":"#12345678901234567890"}';
  expect(desk.lines('notes')).toEqual([`{"args":{"got":${got}}}`]);
  expect(stringifyJson(end.output)).toBe(
    `{"got":${got},"items":[{"status":"ok","result":{"item":12345678901234567890}}]}`,
  );
});

const conditions = [
  {
    title: 'true runs it',
    input: { go: true },
    view: { status: 'ok', result: 'noted' },
    status: 'completed',
  },
  { title: 'false skips it', input: { go: false }, view: { status: 'skipped' }, status: 'completed' },
  { title: 'a text fails it', input: { go: 'true' }, status: 'failed' },
  { title: 'null fails it', input: { go: null }, status: 'failed' },
  { title: 'a number fails it', input: { go: 1 }, status: 'failed' },
  { title: 'a missing member fails it', input: {}, status: 'failed' },
];

test.each(conditions)('of a condition, $title', async ({ input, view, status }) => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
steps:
  - {id: one, if: "\${input.go}", tool: note}
output: \${steps.one}
`,
    input,
  );
  expect(end).toMatchObject({ status, output: view ?? null });
  const [error] = view === undefined ? ['EXPRESSION_FAILED'] : [undefined];
  expect(end.error?.code).toBe(error);
  expect(desk.lines('notes')).toHaveLength(view?.result === undefined ? 0 : 1);
});

test.each([
  { go: true, steps: ['a tool ok', 'group steps ok'], b: false },
  { go: false, steps: ['b tool ok', 'group steps ok'], b: true },
])('a group whose condition is $go runs one of its two lists', async ({ go, steps, b }) => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
steps:
  - {id: group, if: "\${input.go}", steps: [{id: a, tool: note}], else: [{id: b, tool: note}]}
output: {b: "\${has(steps.b)}", group: "\${steps.group}"}
`,
    { go },
  );
  expect(outline(end)).toEqual(steps);
  expect(end.output).toEqual({ b, group: { status: 'ok' } });
});

test('a loop runs its step for each item, in order, and shows each result', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
steps:
  - {id: loop, for_each: "\${input.cities}", tool: note, args: {city: "\${item}", at: "\${index}"}}
output: \${steps.loop}
`,
    { cities: ['Oslo', 'Rome'] },
  );
  const item = { status: 'ok', result: 'noted' };
  expect(end.output).toEqual({ status: 'ok', items: [item, item] });
  expect(outline(end)).toEqual(['loop[0] tool ok', 'loop[1] tool ok', 'loop for_each ok']);
  expect(desk.lines('notes')).toEqual(['{"args":{"city":"Oslo","at":0}}', '{"args":{"city":"Rome","at":1}}']);
});

const lists = [
  { title: 'nothing', of: [], status: 'completed', error: undefined, output: { status: 'ok', items: [] } },
  { title: 'a text', of: 'Oslo', status: 'failed', error: 'EXPRESSION_FAILED', output: null },
  { title: 'an object', of: { a: 1 }, status: 'failed', error: 'EXPRESSION_FAILED', output: null },
  { title: 'null', of: null, status: 'failed', error: 'EXPRESSION_FAILED', output: null },
];

test.each(lists)('a loop over $title', async ({ of, status, error, output }) => {
  const desk = await openDesk(spec);
  const loop = 'steps: [{id: loop, for_each: "${input.of}", tool: note}]\noutput: ${steps.loop}\n';
  const end = await desk.run(loop, { of });
  expect([end.status, end.error?.code, end.output]).toEqual([status, error, output]);
  expect(desk.lines('notes')).toEqual([]);
});

test('a loop continues after a failed item, and the first failure is the loop’s', async () => {
  const desk = await openDesk(
    `${spec}\nhooks: {odd: {hook: tool, phases: [before_execution], command: $bin/judges-amount.sh, args: ['9', '5']}}`,
  );
  const end = await desk.run(`
steps:
  - {id: loop, for_each: [1, 7, 8, 2], tool: note, args: {amount: "\${item}"}, on_error: continue}
output: {statuses: "\${steps.loop.items.map(one, one.status)}", loop: "\${steps.loop.status}", error: "\${steps.loop.error}"}
`);
  expect(end).toMatchObject({ status: 'completed' });
  expect(end.output).toEqual({
    statuses: ['ok', 'denied', 'denied', 'ok'],
    loop: 'denied',
    error: {
      code: 'DENIED',
      message: 'tool "note" was denied by hook "odd": 7 is too much',
      hint: 'The message names the hook and its reason.',
    },
  });
  expect(desk.lines('notes')).toHaveLength(2);
});

const loops = [
  { title: 'one item of a loop at a time', step: 'for_each: [1, 2, 3, 4], tool: overlap', most: 1 },
  { title: 'two items at a time', step: 'for_each: [1, 2, 3, 4], concurrency: 2, tool: overlap', most: 2 },
  {
    title: 'two items at a time, said at the loop',
    step: 'for_each: {items: [1, 2, 3, 4], concurrency: 2}, tool: overlap',
    most: 2,
  },
] as const;

test.each(loops)('$title run at once', async ({ step, most }) => {
  const desk = await openDesk(`concurrency: 8${spec}`);
  const args = 'args: {file: "$folder/marks", ms: 300}';
  const end = await desk.run(`steps: [{id: loop, ${step}, ${args}}]\n`);
  expect(end.status).toBe('completed');
  expect(mostAtOnce(desk)).toBe(most);
});

const branches = [
  { title: 'all branches', more: '', most: 3 },
  { title: 'two branches', more: 'concurrency: 2, ', most: 2 },
];

test.each(branches)('$title of a parallel run at once', async ({ more, most }) => {
  const desk = await openDesk(`concurrency: 8${spec}`);
  const branch = (id: string) => `{id: ${id}, tool: overlap, args: {file: "$folder/marks", ms: 300}}`;
  const end = await desk.run(`
steps: [{id: all, ${more}parallel: [${['a', 'b', 'c'].map(branch).join(', ')}]}]
output: \${[steps.a.result, steps.b.result, steps.c.result, steps.all.status]}
`);
  expect(end.output).toEqual(['done', 'done', 'done', 'ok']);
  expect(mostAtOnce(desk)).toBe(most);
});

test('a failing branch lets the others end, and the parallel step fails with its error', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - id: all
    on_error: continue
    parallel:
      - {id: a, tool: fail}
      - {id: b, steps: [{id: b1, tool: note}, {id: b2, tool: note, args: {after: "\${steps.b1.result}"}}]}
  - {id: last, tool: note}
output: {all: "\${steps.all}", a: "\${steps.a.status}", b2: "\${steps.b2.status}"}
`);
  const error = {
    code: 'TOOL_ERROR',
    message: 'no such order',
    hint: 'The message comes from the tool: correct the tool or its input.',
  };
  expect(end.output).toEqual({ all: { status: 'failed', error }, a: 'failed', b2: 'ok' });
  expect(desk.lines('notes')).toHaveLength(3);
});

test('a waiting branch lets the others end, and they are not repeated', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(`
steps:
  - id: all
    parallel:
      - {id: a, tool: ask}
      - {id: b, steps: [{id: b1, tool: note}, {id: b2, tool: note}]}
      - {id: c, tool: fail, on_error: continue}
  - {id: last, tool: note, args: {a: "\${steps.a.result}", b: "\${steps.b2.result}", c: "\${steps.c.status}"}}
`);
  expect(outline(paused).slice(-1)).toEqual(['a tool pending']);
  expect(outline(paused).slice(0, -1).toSorted()).toEqual([
    'b steps ok',
    'b1 tool ok',
    'b2 tool ok',
    'c tool failed TOOL_ERROR',
  ]);
  expect(desk.lines('notes')).toHaveLength(2);
  await desk.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 7 });
  const end = await desk.runtime.runs.resume(paused.run_id);
  expect(end).toMatchObject({ status: 'completed', output: { result: 'noted' } });
  expect(desk.lines('notes').slice(2)).toEqual(['{"args":{"a":7,"b":"noted","c":"failed"}}']);
});

test('several waiting branches are listed, and the run continues when all are decided', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(`
steps:
  - {id: all, parallel: [{id: a, tool: ask, args: {n: 1}}, {id: b, tool: ask, args: {n: 2}}]}
output: \${[steps.a.result, steps.b.result]}
`);
  expect(paused.pending.map(({ step }) => step).toSorted()).toEqual(['a/call', 'b/call']);
  const [one, two] = paused.pending;
  await desk.runtime.pending.respond(one?.id ?? '', { by: 'mara', result: one?.step });
  expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({ status: 'pending', pending: [two] });
  await desk.runtime.pending.respond(two?.id ?? '', { by: 'mara', result: two?.step });
  expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({ output: ['a/call', 'b/call'] });
});

test('a waiting item lets the others proceed as far as they can', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(`
steps:
  - id: loop
    for_each: {items: [1, 2, 3], concurrency: 3}
    steps: [{id: mine, tool: note}, {id: wait, if: "\${item != 2}", tool: ask}, {id: after, tool: note}]
output: \${steps.loop.items.map(one, one.steps.wait)}
`);
  expect(paused.pending.map(({ step }) => step).toSorted()).toEqual([
    'loop[0]/wait/call',
    'loop[2]/wait/call',
  ]);
  expect(desk.lines('notes')).toHaveLength(4);
  for (const { id, step } of paused.pending) {
    await desk.runtime.pending.respond(id, { by: 'mara', result: step });
  }
  const end = await desk.runtime.runs.resume(paused.run_id);
  expect(end).toMatchObject({
    status: 'completed',
    output: [{ result: 'loop[0]/wait/call' }, { status: 'skipped' }, { result: 'loop[2]/wait/call' }],
  });
  expect(desk.lines('notes')).toHaveLength(6);
});

test('loops, groups and branches can be nested', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - id: orders
    for_each: [{lines: [1, 2]}, {lines: [3]}]
    steps:
      - {id: lines, for_each: "\${item.lines}", tool: echo, args: {line: "\${item}", at: "\${index}"}}
      - id: both
        parallel:
          - {id: sum, tool: echo, args: {count: "\${steps.lines.items.size()}"}}
          - {id: maybe, if: "\${index == 1}", tool: echo, args: {order: "\${index}"}}
      - {id: after, tool: note, args: {count: "\${steps.sum.result.count}", maybe: "\${steps.maybe.status}"}}
output: \${steps.orders.items}
`);
  const line = (result: object) => ({ status: 'ok', result });
  expect(end.output).toEqual([
    {
      status: 'ok',
      steps: {
        lines: { status: 'ok', items: [line({ line: 1, at: 0 }), line({ line: 2, at: 1 })] },
        both: { status: 'ok' },
        sum: line({ count: 2 }),
        maybe: { status: 'skipped' },
        after: { status: 'ok', result: 'noted' },
      },
    },
    {
      status: 'ok',
      steps: {
        lines: { status: 'ok', items: [line({ line: 3, at: 0 })] },
        both: { status: 'ok' },
        sum: line({ count: 1 }),
        maybe: line({ order: 1 }),
        after: { status: 'ok', result: 'noted' },
      },
    },
  ]);
  expect(desk.lines('notes')).toEqual([
    '{"args":{"count":2,"maybe":"skipped"}}',
    '{"args":{"count":1,"maybe":"ok"}}',
  ]);
  expect(outline(end)).toContain('orders[1]/lines[0] tool ok');
});

test('steps may have the names of built-in object members', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`
steps:
  - id: loop
    for_each: [1]
    steps: [{id: toString, if: "\${false}", tool: note}, {id: constructor, tool: note}, {id: valueOf, tool: note}]
  - {id: hasOwnProperty, tool: echo, args: {n: 1}}
output: {own: "\${steps.hasOwnProperty.result}", inner: "\${steps.loop.items[0].steps.constructor.result}"}
`);
  expect(end).toMatchObject({ status: 'completed', output: { own: { n: 1 }, inner: 'noted' } });
});

const outputs = [
  { title: 'nothing: the view of the last step', output: '', gives: { status: 'ok', result: { n: 1 } } },
  {
    title: 'a tree',
    output: 'output: {a: ["${steps.one.result.n}", 2], b: null}',
    gives: { a: [1, 2], b: null },
  },
  { title: 'a text', output: 'output: "got ${steps.one.result}"', gives: 'got {"n":1}' },
  { title: 'a constant', output: 'output: 7', gives: 7 },
];

test.each(outputs)('the output may say $title', async ({ output, gives }) => {
  const desk = await openDesk(spec);
  const end = await desk.run(`steps: [{id: one, tool: echo, args: {n: 1}}]\n${output}\n`);
  expect(end).toMatchObject({ status: 'completed', output: gives });
});

test('an output that cannot be evaluated fails the run, whose steps stay completed', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: one, tool: note}]\noutput: ${steps.one.result.n}\n');
  expect(end).toMatchObject({ status: 'failed', output: null, error: { code: 'EXPRESSION_FAILED' } });
  expect(outline(end)).toEqual(['one tool ok']);
});

const inputs = [
  { title: 'nothing is an empty object', input: undefined, sees: {} },
  { title: 'JSON text', input: ' {"city": "Oslo"}\n', sees: { city: 'Oslo' } },
  { title: 'a value', input: { city: 'Oslo', left: undefined }, sees: { city: 'Oslo' } },
  { title: 'a list', input: [1, 2], sees: [1, 2] },
];

test.each(inputs)('an input may be $title', async ({ input, sees }) => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: one, tool: note}]\noutput: ${input}\n', input);
  expect(end.output).toEqual(sees);
});

test.each([
  { title: 'does not fit its schema', input: { city: 1 } },
  { title: 'is no JSON', input: '{"city": ' },
])('an input that $title is refused, and no run starts', async ({ input }) => {
  const desk = await openDesk(spec);
  const running = desk.run(
    'input: {properties: {city: {type: string}}}\nsteps: [{id: one, tool: note}]\n',
    input,
  );
  await expect(running).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  expect(await desk.runtime.runs.list()).toEqual([]);
  expect(desk.lines('notes')).toEqual([]);
});

test('arguments that are not an object fail their step', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('steps: [{id: one, tool: note, args: "${input.args}"}]\n', { args: [1] });
  expect(end).toMatchObject({ status: 'failed', error: { code: 'ARGS_INVALID' } });
  expect(desk.lines('notes')).toEqual([]);
});
