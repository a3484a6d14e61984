import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { callTool } from '../../../src/calls/tool-call/call.ts';
import { onTransports } from '../../cite.ts';
import { asking, failing, giving, refund, say } from '../../pipelines/refund.ts';
import { answering, newRecord, openBench } from '../capability/bench.ts';

const empty = onTransports([
  { title: 'absent', cites: 'PK-4-03@oneshot', args: undefined },
  { title: 'null', cites: 'PK-4-03@oneshot', args: null },
  { title: 'the text null', cites: 'PK-4-03@oneshot', args: 'null' },
  { title: 'an empty text', cites: 'PK-4-03@oneshot', args: '' },
  { title: 'white space', cites: 'PK-4-03@oneshot', args: ' \r\n\t ' },
]);

test.each(empty)('args that are $title are {}', async ({ args }) => {
  const { env, lines } = newRecord();
  const result = await callTool(refund(openBench(), { ...giving('oneshot', '1'), env }), args);
  expect(say(result)).toEqual({ ok: '1', content: '1', metadata: '{}' });
  expect(lines()).toEqual(['{"args":{}}']);
});

const itself: Record<string, unknown> = {};
itself['itself'] = itself;

const refused = onTransports([
  { title: 'text', cites: 'PK-4-04@oneshot', args: 'amount: 250' },
  { title: 'truncated', cites: 'PK-4-04@oneshot', args: '{"amount": 250' },
  { title: 'two objects', cites: 'PK-4-04@oneshot', args: '{} {}' },
  { title: 'JSON with a comma too many', cites: 'PK-4-04@oneshot', args: '{"amount": 250,}' },
  { title: 'an array', cites: 'PK-4-05@oneshot', args: '[{"amount": 250}]' },
  { title: 'a string', cites: 'PK-4-05@oneshot', args: '"{}"' },
  { title: 'a number', cites: 'PK-4-05@oneshot', args: '250' },
  { title: 'true', cites: 'PK-4-05@oneshot', args: 'true' },
  { title: 'false', cites: 'PK-4-05@oneshot', args: 'false' },
  { title: 'a list of the caller’s', cites: 'PK-4-05@oneshot', args: [{ amount: 250 }] },
  { title: 'a number of the caller’s', cites: 'PK-4-05@oneshot', args: 250 },
  { title: 'no number', cites: 'PK-4-05@oneshot', args: Number.NaN },
  { title: 'a function', cites: 'PK-4-05@oneshot', args: () => ({}) },
  { title: 'an object that holds itself', cites: 'PK-4-04@oneshot', args: itself },
  { title: 'a key twice', cites: 'PK-4-06@oneshot', args: '{"path": "/safe", "path": "/etc"}' },
  {
    title: 'a key twice, once with an escape',
    cites: 'PK-4-06@oneshot',
    args: '{"path": "/safe", "p\\u0061th": "/etc"}',
  },
  {
    title: 'a key twice further down',
    cites: 'PK-4-06@oneshot',
    args: '{"files": [1, {"a": {"path": 1, "path": 2}}]}',
  },
]);

test.each(refused)('args that are $title are invalid, and nothing starts', async ({ args }) => {
  const bench = openBench();
  const guard = bench.links.filter({ ...answering('oneshot', '{"allow": true}'), name: 'guard' });
  const result = await callTool(refund(bench, giving('oneshot', '1'), { links: [guard] }), args);
  expect(result.outcome).toMatchObject({ status: 'failed', error: { code: 'ARGS_INVALID' } });
  expect(result.outcome).toMatchObject({ error: { message: expect.stringContaining('"refund"') } });
  expect(bench.started()).toEqual([]);
});

const schema = {
  type: 'object',
  required: ['order', 'amount'],
  additionalProperties: false,
  properties: {
    order: { type: 'string', pattern: '^A-' },
    amount: { type: 'number', maximum: 100 },
    note: { enum: ['x'] },
  },
};

test('args that miss the schema are invalid with every violation, and nothing starts [PK-4-07@oneshot PK-4-23@oneshot]', async () => {
  const bench = openBench();
  const guard = bench.links.filter({ ...answering('oneshot', '{"allow": true}'), name: 'guard' });
  const tool = refund(bench, giving('oneshot', '1'), { input: schema, links: [guard] });
  const { outcome, content } = await callTool(tool, '{"amount": 250, "note": "y", "by": "me"}');
  const message =
    'tool "refund": the arguments do not fit input_schema: ' +
    "must have required property 'order'; must NOT have additional properties (by); amount: must be <= 100; " +
    'note: must be equal to one of the allowed values (["x"])';
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ARGS_INVALID', message } });
  expect(content).toBe(`Tool "refund" failed: ${message}`);
  expect(bench.started()).toEqual([]);
});

test('args that fit the schema reach filter and tool', async () => {
  const bench = openBench();
  const guard = bench.links.filter({ ...answering('oneshot', '{"allow": true}'), name: 'guard' });
  const tool = refund(bench, giving('oneshot', '1'), { input: schema, links: [guard] });
  expect(say(await callTool(tool, { order: 'A-1', amount: 100 }))).toEqual({
    ok: '1',
    content: '1',
    metadata: '{}',
  });
});

const fine = onTransports([
  {
    title: 'text',
    cites: 'PK-4-08@both',
    args: ' { "z":12345678901234567890,"a":[1.10, 1e2],"é":"\\u00e9\\/" }\n',
    sent: '{ "z":12345678901234567890,"a":[1.10, 1e2],"é":"\\u00e9\\/" }',
  },
  {
    title: 'text on several lines',
    cites: 'PK-4-08@both',
    args: '{\n  "order": "A\\n1",\n  "amount": 12345678901234567890\n}',
    sent: '{   "order": "A\\n1",   "amount": 12345678901234567890 }',
  },
  {
    title: 'an object of the caller’s',
    cites: 'PK-4-08@both',
    args: { order: 'é', big: 12345678901234567890n, left: undefined, raw: new Json('[1.10]') },
    sent: '{"order":"é","big":12345678901234567890,"raw":[1.10]}',
  },
  { title: 'a key in two letter cases', cites: 'PK-4-08@both', args: '{"a":1,"A":2}', sent: '{"a":1,"A":2}' },
]);

test.each(fine)('args that are $title are sent unchanged', async ({ on, args, sent }) => {
  const { env, lines } = newRecord();
  const result = await callTool(refund(openBench(), { ...giving(on, '1'), env }), args);
  expect(result.outcome.status).toBe('ok');
  expect(lines()).toEqual([`{"args":${sent}}`]);
});

const texts = onTransports([
  {
    title: 'a string is read as it is',
    cites: 'PK-4-21@both',
    result: '"caf\\u00e9 \\"A\\"\\n"',
    content: 'café "A"\n',
  },
  {
    title: 'any other result as its raw text',
    cites: 'PK-4-21@both',
    result: '{ "id":12345678901234567890, "price":1.10 }',
    content: '{ "id":12345678901234567890, "price":1.10 }',
  },
  { title: 'null as null', cites: 'PK-4-21@both', result: 'null', content: 'null' },
  { title: 'a number with its digits', cites: 'PK-4-21@both', result: '1.10', content: '1.10' },
  { title: 'an empty string as nothing', cites: 'PK-4-21@both', result: '""', content: '' },
]);

test.each(texts)('for the model $title', async ({ on, result, content }) => {
  expect(say(await callTool(refund(openBench(), giving(on, result)), '{}'))).toEqual({
    ok: result,
    content,
    metadata: '{}',
  });
});

test.each(onTransports([{ title: 'in its words', cites: 'PK-4-22@both' }]))(
  'a failure is shown to the model $title',
  async ({ on }) => {
    const { outcome, content } = await callTool(refund(openBench(), failing[on]), '{}');
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'TOOL_ERROR', message: 'city not found' },
    });
    expect(content).toBe('Tool "refund" failed: city not found');
  },
);

test('the model reads only the last line of stderr [PK-2-17@oneshot]', async () => {
  const { outcome, content } = await callTool(refund(openBench(), { runs: ['crash.sh'] }), '{}');
  expect(content).toBe('Tool "refund" failed: the process exited with code 3: rules.txt: no such file');
  expect(outcome).toMatchObject({
    error: { details: { stderr: 'reading the rules\nrules.txt: no such file\n' } },
  });
});

const outputs = onTransports([{ title: 'is invalid', cites: 'PK-4-20@both' }]);

test.each(outputs)('a result that misses the output schema $title', async ({ on }) => {
  const output = { type: 'object', required: ['id'], properties: { price: { type: 'string' } } };
  const { outcome, content } = await callTool(
    refund(openBench(), giving(on, '{"price": 1}'), { output }),
    '{}',
  );
  const message =
    'the result of tool "refund" does not fit output_schema: ' +
    "must have required property 'id'; price: must be string";
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'RESULT_INVALID', message } });
  expect(content).toBe(`Tool "refund" failed: ${message}`);
});

test('a result that cannot be checked is invalid, without an exception', async () => {
  const output = {
    $ref: '#/$defs/tree',
    $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } },
  };
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const { outcome } = await callTool(refund(openBench(), giving('oneshot', deep), { output }), '{}');
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'REPLY_MALFORMED' } });
});

test('filters decide before the process starts [PK-6-51@oneshot]', async () => {
  const bench = openBench();
  const links = ['one', 'two'].map((name) =>
    bench.links.filter({ ...answering('oneshot', '{"allow": true}'), name, phases: ['before_execution'] }),
  );
  const last = bench.links.filter({
    ...answering('oneshot', '{"allow": true}'),
    name: 'after',
    phases: ['after_execution'],
  });
  await callTool(refund(bench, giving('oneshot', '1'), { links: [last, ...links] }), '{}');
  expect(bench.started()).toEqual(['one', 'two', 'refund', 'after']);
});

const blocked = onTransports([
  {
    title: 'a reason',
    cites: 'PK-6-51@both',
    says: '{"allow": false, "reason": "too much", "metadata": {"limit": 100}}',
    reason: 'too much',
    metadata: '{"limit": 100}',
  },
  {
    title: 'none',
    cites: 'PK-6-51@both',
    says: '{"allow": false}',
    reason: 'hook "limit" denied',
    metadata: '{}',
  },
  {
    title: 'an enforced one',
    cites: 'PK-6-51@both PK-6-50@both',
    says: '{"allow": false, "enforced": true, "reason": "no", "metadata": {"replacement": "x"}}',
    reason: 'no',
    metadata: '{"replacement": "x"}',
  },
]);

test.each(blocked)('a denied tool does not run, with $title', async ({ on, says, reason, metadata }) => {
  const bench = openBench();
  const link = bench.links.filter({ ...answering(on, says), name: 'limit', phases: ['before_execution'] });
  const result = await callTool(refund(bench, giving(on, '1'), { links: [link] }), '{"amount": 250}');
  expect(say(result)).toEqual({
    denied: 'limit',
    reason,
    content: `Tool "refund" was blocked by hook "limit": ${reason}`,
    metadata,
  });
  expect(bench.started()).toEqual(['limit']);
});

test.each(onTransports([{ title: 'from all', cites: 'PK-6-52@both' }]))(
  'a denied result is withheld $title',
  async ({ on }) => {
    const bench = openBench();
    const link = bench.links.filter({
      ...answering(on, '{"allow": false, "reason": "it has a card number"}'),
      name: 'mask',
      phases: ['after_execution'],
    });
    const result = await callTool(refund(bench, giving(on, '"4111"'), { links: [link] }), '{}');
    expect(say(result)).toEqual({
      denied: 'mask',
      reason: 'it has a card number',
      content: 'Tool "refund" was blocked by hook "mask": it has a card number',
      metadata: '{}',
    });
    expect(JSON.stringify(result)).not.toContain('4111');
  },
);

test('a fault of an after filter withholds the result too [PK-6-52@oneshot]', async () => {
  const bench = openBench();
  const link = bench.links.filter({ runs: ['crash.sh'], name: 'mask', phases: ['after_execution'] });
  const result = await callTool(refund(bench, giving('oneshot', '"4111"'), { links: [link] }), '{}');
  expect(result.outcome).toMatchObject({ status: 'denied', hook: 'mask', error: { code: 'PROCESS_EXIT' } });
  expect(JSON.stringify(result)).not.toContain('4111');
});

const failures = onTransports([{ title: 'the words for the model', cites: 'PK-4-26@both' }]);

test.each(failures)('after filters see a failed call, its error and $title', async ({ on }) => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const link = bench.links.filter({ ...answering(on, '{"allow": true}'), env, phases: ['after_execution'] });
  const result = await callTool(refund(bench, failing[on], { links: [link] }), '{"a":1}', {
    callId: 'call_7',
  });
  expect(result).toMatchObject({ outcome: { status: 'failed' }, callId: 'call_7' });
  expect(lines().map((line) => JSON.parse(line))).toEqual([
    {
      hook: 'tool',
      phase: 'after_execution',
      request: { name: 'refund', args: { a: 1 }, call_id: 'call_7' },
      response: {
        name: 'refund',
        call_id: 'call_7',
        content: 'Tool "refund" failed: city not found',
        error: 'city not found',
        latency_ms: expect.any(Number),
      },
    },
  ]);
});

test('the result is checked before after filters see it [PK-4-25@oneshot]', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const link = bench.links.filter({
    ...answering('oneshot', '{"allow": true}'),
    env,
    phases: ['after_execution'],
  });
  const around = { links: [link], output: { type: 'string' } };
  await callTool(refund(bench, giving('oneshot', '4111'), around), '{}');
  const message = 'the result of tool "refund" does not fit output_schema: must be string';
  expect(lines().map((line) => JSON.parse(line).response)).toMatchObject([
    { content: `Tool "refund" failed: ${message}`, error: message },
  ]);
});

test.each(onTransports([{ title: 'for a person', cites: 'PK-4-27@both' }]))(
  'after filters do not receive a call that waits $title',
  async ({ on }) => {
    const bench = openBench();
    const after = answering('oneshot', '{"allow": false}');
    const links = [
      bench.links.filter({
        ...answering('oneshot', '{"allow": true, "metadata": {"seen": 1}}'),
        phases: ['before_execution'],
      }),
      bench.links.filter({ ...after, name: 'filter', phases: ['after_execution'] }),
      bench.links.observe({ ...after, name: 'observer', phases: ['after_execution'] }),
    ];
    expect(say(await callTool(refund(bench, asking[on], { links }), '{}'))).toEqual({
      pending: ['requires_approval', 'Refund 250 EUR?'],
      content: 'Refund 250 EUR?',
      metadata: '{"seen":1}',
    });
    expect(bench.started()).toEqual(['entry', 'refund']);
  },
);

const changedArgs = onTransports([{ title: 'byte for byte', cites: 'PK-6-42@both PK-3-21@both' }]);

test.each(changedArgs)('the tool reads the args that a filter left $title', async ({ on }) => {
  const bench = openBench();
  const [tool, after] = [newRecord(), newRecord()];
  const args = '{ "amount":12345678901234567890,\n"rate":1.10 }';
  const links = [
    bench.links.filter({
      ...answering(on, `{"allow": true, "replace": {"args": ${args.replace('\n', ' ')}}}`),
      phases: ['before_execution'],
    }),
    bench.links.filter({ ...answering(on, '{"allow": true}'), env: after.env, phases: ['after_execution'] }),
  ];
  await callTool(refund(bench, { ...giving(on, '1'), env: tool.env }, { links }), '{"amount":1}');
  const sent = args.replace('\n', ' ');
  expect(tool.lines()).toEqual([`{"args":${sent}}`]);
  expect(after.lines().join()).toContain(`"request":{"name":"refund","args":${sent},`);
});

const misfits = onTransports([
  {
    title: 'miss the schema',
    cites: 'PK-6-43@both',
    args: '{"order": 1}',
  },
  {
    title: 'have a key twice',
    cites: 'PK-6-43@both',
    args: '{"order": "A-1", "amount": 500, "amount": 1}',
  },
]);

test.each(misfits)('replaced args that $title deny, and the tool does not run', async ({ on, args }) => {
  const reason = 'the hook failed: The reply is not the one JSON object that the dialect requires.';
  const bench = openBench();
  const link = bench.links.filter({
    ...answering(on, `{"allow": true, "replace": {"args": ${args}}}`),
    name: 'mask',
  });
  const tool = refund(bench, giving(on, '1'), { links: [link], input: schema });
  expect(say(await callTool(tool, '{"order": "A-1", "amount": 1}'))).toEqual({
    denied: 'mask',
    reason,
    content: `Tool "refund" was blocked by hook "mask": ${reason}`,
    metadata: '{}',
  });
  expect(bench.started()).toEqual(['mask']);
});

const contents = onTransports([
  {
    title: 'a string stays a string',
    cites: 'PK-6-44@both PK-6-45@both',
    result: '"secret"',
    content: '{"a": 1}',
    becomes: '"{\\"a\\": 1}"',
  },
  {
    title: 'what was no string is parsed if it is JSON',
    cites: 'PK-6-44@both PK-6-45@both',
    result: '{"card": "secret"}',
    content: '{ "n":12345678901234567890, "p":1.10 }',
    becomes: '{ "n":12345678901234567890, "p":1.10 }',
  },
  {
    title: 'what was no string is a string if it is none',
    cites: 'PK-6-45@both',
    result: '{"card": "secret"}',
    content: '[masked]',
    becomes: '"[masked]"',
  },
  {
    title: 'nothing is an empty string',
    cites: 'PK-6-45@both',
    result: '["secret"]',
    content: '',
    becomes: '""',
  },
  {
    title: 'null can become a number',
    cites: 'PK-6-45@both',
    result: 'null',
    content: '1.0',
    becomes: '1.0',
  },
]);

test.each(contents)(
  'a replaced content is the new result: $title',
  async ({ on, result, content, becomes }) => {
    const bench = openBench();
    const says = JSON.stringify({ allow: true, replace: { content } });
    const link = bench.links.filter({ ...answering(on, says), phases: ['after_execution'] });
    const called = await callTool(refund(bench, giving(on, result), { links: [link] }), '{}');
    expect(say(called)).toEqual({ ok: becomes, content, metadata: '{}' });
    expect(JSON.stringify(called)).not.toContain('secret');
  },
);

test('a failed outcome whose content is replaced stays failed, and reveals nothing [PK-6-46@oneshot]', async () => {
  const bench = openBench();
  const says = '{"allow": true, "replace": {"content": "{\\"fine\\": true}"}}';
  const link = bench.links.filter({ ...answering('oneshot', says), phases: ['after_execution'] });
  const result = await callTool(refund(bench, { runs: ['crash.sh'] }, { links: [link] }), '{}');
  expect(result).toMatchObject({
    outcome: { status: 'failed', error: { code: 'PROCESS_EXIT', message: '{"fine": true}' } },
    content: '{"fine": true}',
  });
  expect(JSON.stringify(result)).not.toContain('rules');
});

test('the metadata of both points is merged, later keys winning [PK-6-62@oneshot]', async () => {
  const bench = openBench();
  const saying = (metadata: string, phase: 'before_execution' | 'after_execution') =>
    bench.links.filter({
      ...answering('oneshot', `{"allow": true, "metadata": ${metadata}}`),
      phases: [phase],
    });
  const links = [
    saying('{"a": 1.10, "b": 1}', 'before_execution'),
    saying('{"b": 2, "c": [1.0]}', 'after_execution'),
  ];
  expect(say(await callTool(refund(bench, giving('oneshot', '1'), { links }), '{}'))).toEqual({
    ok: '1',
    content: '1',
    metadata: '{"a":1.10,"b":2,"c":[1.0]}',
  });
});

test('a tool with nothing to run fails with that reason', async () => {
  const bench = openBench();
  const tool = { ...refund(bench, giving('oneshot', '1')), port: undefined };
  const { outcome, content } = await callTool(tool, '{}');
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'TOOL_NOT_RUNNABLE' } });
  expect(content).toMatch(/^Tool "refund" failed: /);
});

test('each call has its own id, unless one is given', async () => {
  const tool = refund(openBench(), giving('oneshot', '1'));
  const ids = [
    await callTool(tool, '{}'),
    await callTool(tool, '{}'),
    await callTool(tool, '{}', { callId: 'mine' }),
  ];
  expect(new Set(ids.map(({ callId }) => callId)).size).toBe(3);
  expect(ids.map(({ callId }) => callId)).toEqual([
    expect.stringMatching(/^call_./),
    expect.stringMatching(/^call_./),
    'mine',
  ]);
});

test('a caller that has aborted gets a failure, and nothing starts', async () => {
  const bench = openBench();
  const { outcome } = await callTool(refund(bench, giving('oneshot', '1')), '{}', {
    signal: AbortSignal.abort(),
  });
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ABORTED' } });
  expect(bench.started()).toEqual([]);
});
