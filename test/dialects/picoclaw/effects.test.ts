import { describe, expect, test } from 'vitest';
import { openChat } from './chat.ts';
import { entry, shHook } from './scripts.ts';

const go = `    *'"id":'*) answer '{"action":"continue"}' ;;`;
const callEcho = '{tool_calls: [{name: echo, args: {text: one}}]}';
const callBoth = '{tool_calls: [{name: echo, args: {text: one}}, {name: shout, args: {text: two}}]}';
const llm = 'intercept: [before_llm, after_llm]';
const tool = 'intercept: [before_tool, after_tool]';

/** A hook with this answer to a method. It lets other events pass. */
const at = (method: string, result: string, log = 'hook.log') =>
  shHook(`    *'hook.${method}"'*) answer '${result}' ;;\n${go}`, { log });

describe('calls that hooks answered', () => {
  const answer = (text: string) =>
    `answer '{"action":"respond","result":{"for_llm":"x","for_user":"${text}","response_handled":true}}'`;
  const hook = shHook(
    `    *'"tool":"echo"'*) ${answer('Echoed.')} ;;\n    *'"tool":"shout"'*) ${answer('Shouted.')} ;;\n${go}`,
  );

  test('for the caller end the turn: the output is their texts [PC-6-35@server]', async () => {
    const { run, ran } = await openChat({
      hooks: [entry('hook', tool)],
      files: { hook },
      responses: [callBoth, '{error: {status: 500}}'],
    });
    expect(await run()).toMatchObject({ status: 'completed', output: { text: 'Echoed.\nShouted.' } });
    expect(ran()).toEqual([]);
  });

  test('silently end the turn without their text', async () => {
    const silent = hook.replace('"for_user":"Shouted."', '"for_user":"Shouted.","silent":true');
    const { run } = await openChat({
      hooks: [entry('hook', tool)],
      files: { hook: silent },
      responses: [callBoth, '{error: {status: 500}}'],
    });
    expect(await run()).toMatchObject({ status: 'completed', output: { text: 'Echoed.\n' } });
  });

  test('with media go to the model, since no channel takes them', async () => {
    const { run } = await openChat({
      hooks: [entry('hook', tool)],
      files: { hook: hook.replaceAll('"response_handled"', '"media":["media://1"],"response_handled"') },
      responses: [callBoth, '{text: asked again}'],
    });
    expect(await run()).toMatchObject({ output: { text: 'asked again' } });
  });

  test('go to the model as soon as one of the round was not handled [PC-6-35@server]', async () => {
    const { run } = await openChat({
      hooks: [entry('hook', tool)],
      files: { hook: hook.replace('"shout"', '"other"') },
      responses: [callBoth, '{text: asked again}'],
    });
    expect(await run()).toMatchObject({ output: { text: 'asked again' } });
  });
});

const modifyCall = (call: string) => `answer '{"action":"modify","call":${call}}'`;
const calls = [
  {
    title: 'a renamed call runs the other tool, past all filters once more [PC-6-36@server]',
    script: shHook(
      `    *'"tool":"echo"'*) ${modifyCall('{"tool":"shout","arguments":{"text":"loud"}}')} ;;\n${go}`,
      { log: 'hook.log' },
    ),
    call: { status: 'ok', result: 'ran loud' },
    asked: ['echo', 'shout'],
  },
  {
    title: 'a call that is renamed a second time is denied [PC-6-36@server]',
    script: shHook(
      `    *'"tool":"echo"'*) ${modifyCall('{"tool":"shout"}')} ;;\n    *'"tool":"shout"'*) ${modifyCall('{"tool":"echo"}')} ;;\n${go}`,
      { log: 'hook.log' },
    ),
    call: {
      status: 'denied',
      result: 'Tool "shout" was blocked by hook "hook": a hook renamed the call a second time, to "echo"',
    },
    asked: ['echo', 'shout'],
  },
  {
    title: 'a filter that let another tool pass judges the renamed one [PC-6-36@server]',
    script: shHook(
      `    *'"tool":"echo"'*) ${modifyCall('{"tool":"shout"}')} ;;\n    *'"tool":"shout"'*) answer '{"action":"deny_tool","reason":"too loud"}' ;;\n${go}`,
      { log: 'hook.log' },
    ),
    call: { status: 'denied', result: 'Tool "shout" was blocked by hook "hook": too loud' },
    asked: ['echo', 'shout'],
  },
  {
    title: 'a call that is renamed to what nobody has fails [PC-6-38@server]',
    script: shHook(`    *'"tool":"echo"'*) ${modifyCall('{"tool":"gone"}')} ;;\n${go}`, { log: 'hook.log' }),
    call: { status: 'failed', result: expect.stringContaining('there is no tool "gone"') },
    asked: ['echo', 'gone'],
  },
  {
    title: 'changed arguments that do not fit the schema are a denial [PC-6-37@server]',
    script: shHook(`    *'"tool":"echo"'*) ${modifyCall('{"arguments":{"text":1}}')} ;;\n${go}`, {
      log: 'hook.log',
    }),
    call: {
      status: 'denied',
      result: expect.stringMatching(/^Tool "echo" was blocked by hook "hook": the hook failed/),
    },
    asked: ['echo'],
  },
];

test.each(calls)('$title', async ({ script, call, asked }) => {
  const { run, log } = await openChat({
    hooks: [entry('hook', 'intercept: [before_tool]')],
    files: { hook: script },
    responses: [callEcho, '{text: ok}'],
  });
  expect(await run()).toMatchObject({ output: { calls: [call] } });
  const before = log('hook.log').filter(({ method }) => method === 'hook.before_tool');
  expect(before.map(({ params }) => params['tool'])).toEqual(asked);
});

test('a tool that was only offered, and that no hook answers, fails when it is called [PC-6-38@server]', async () => {
  const clock = '{"type":"function","function":{"name":"clock","description":"","parameters":{}}}';
  const { run } = await openChat({
    hooks: [entry('hook', llm)],
    files: { hook: at('before_llm', `{"action":"modify","request":{"tools":[${clock}]}}`) },
    responses: ['{tool_calls: [{name: clock, args: {}}], text: "${tools}"}', '{text: ok}'],
  });
  expect(await run()).toMatchObject({
    output: {
      messages: [{}, { content: '["clock"]' }, {}, {}],
      calls: [
        { name: 'clock', status: 'failed', result: expect.stringContaining('there is no tool "clock"') },
      ],
    },
  });
});

describe('a model that before_llm names', () => {
  const providers = `providers:
  - {id: main, type: mock, model: m, additional_config: {responses: [{text: of main}]}}
  - {id: other, type: mock, model: big, additional_config: {responses: [{text: of other}]}}`;
  test.each([
    { name: 'other', title: 'is a provider by its id', text: 'of other', model: 'big' },
    { name: 'big', title: 'is a provider by its model', text: 'of other', model: 'big' },
    { name: 'unheard-of', title: 'is one of the current provider', text: 'of main', model: 'unheard-of' },
  ])('$title [PC-6-39@server]', async ({ name, text, model }) => {
    const { run, log, runtime } = await openChat({
      hooks: [entry('hook', `${llm}, observe: [llm_request]`)],
      files: { hook: at('before_llm', `{"action":"modify","request":{"model":"${name}","tools":[]}}`) },
      responses: providers,
    });
    expect(await run()).toMatchObject({ output: { text } });
    await runtime.close();
    const told = log('hook.log').filter(({ method }) => method === 'hook.event');
    expect(told).toMatchObject([{ params: { Payload: { Model: model, ToolsCount: 0 } } }]);
  });
});

test('a stream is held until after_llm has judged all of it [PC-6-40@server]', async () => {
  const response = '{"response":{"role":"assistant","content":"[redacted]"}}';
  const { run, events } = await openChat({
    hooks: [entry('hook', llm)],
    files: { hook: at('after_llm', `{"action":"modify","response":${response}}`) },
    responses: ['{chunks: ["the ", "secret ", "word"]}'],
    chat: 'stream: hold',
  });
  expect(await run()).toMatchObject({ output: { text: '[redacted]' } });
  expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')).toBe('[redacted]');
});

test('before_llm runs once for a round; a retry is reported, and sends the filtered request [PC-6-41@server PC-8-11@server]', async () => {
  const { run, log, runtime } = await openChat({
    hooks: [entry('hook', `${llm}, observe: [llm_retry, llm_request, error]`)],
    files: {
      hook: at(
        'before_llm',
        '{"action":"modify","request":{"messages":[{"role":"user","content":"filtered"}]}}',
      ),
    },
    responses: `providers:
  - id: main
    type: mock
    model: m
    additional_config:
      max_retries: 2
      retry_base_ms: 1
      responses: [{error: {status: 500, message: down}}, {error: {status: 429, message: slow}}, {text: "got \${messages[0].content}"}]`,
  });
  expect(await run()).toMatchObject({ output: { text: 'got filtered' } });
  await runtime.close();
  expect(log('hook.log').map(({ method, params }) => [method, params['Payload']])).toEqual([
    ['hook.before_llm', undefined],
    ['hook.event', expect.objectContaining({ MessagesCount: 1 })],
    ...[
      { Attempt: 1, MaxRetries: 2, Reason: 'error', Error: expect.stringContaining('down') },
      { Attempt: 2, MaxRetries: 2, Reason: 'rate_limit', Error: expect.stringContaining('slow') },
    ].map((payload) => ['hook.event', { ...payload, Backoff: expect.any(Number) }]),
    ['hook.after_llm', undefined],
  ]);
});

test('a model call that fails finally is reported as error [PC-8-05 PC-8-09@server]', async () => {
  const { run, log, runtime } = await openChat({
    hooks: [entry('hook', 'version: head, observe: [error, turn_end]')],
    files: { hook: shHook('', { log: 'hook.log' }) },
    responses: ['{error: {status: 400, message: no such model}}'],
  });
  expect(await run()).toMatchObject({ status: 'failed' });
  await runtime.close();
  expect(
    log('hook.log').map(({ params }) => [params['kind'], params['severity'], params['payload']]),
  ).toEqual([
    ['agent.error', 'error', { Stage: 'llm', Message: expect.stringContaining('no such model') }],
    ['agent.turn.end', 'error', expect.objectContaining({ Status: 'error' })],
  ]);
});

test('a run that waits for a person has not ended: turn_end comes when it does [PC-8-09@server]', async () => {
  const { run, log, runtime } = await openChat({
    hooks: [entry('hook', 'observe: [turn_start, llm_response, turn_end]')],
    files: { hook: shHook('', { log: 'hook.log' }) },
    responses: ['{tool_calls: [{name: echo, args: {text: wait}}]}', '{text: done}'],
  });
  const { run_id, status, pending } = await run();
  expect(status).toBe('pending');
  const kinds = () => log('hook.log').map(({ params }) => params['KindName']);
  expect(kinds()).not.toContain('turn_end');
  const [{ id = '' } = {}] = pending;
  await runtime.pending.respond(id, { by: 'jo', result: 'yes' });
  const ended = await runtime.runs.resume(run_id);
  await runtime.close();
  expect([ended.status, kinds()]).toEqual([
    'completed',
    ['turn_start', 'llm_response', 'llm_response', 'turn_end'],
  ]);
});

test('hooks keep the order of the file: the second sees a filter between two, the first does not', async () => {
  const { run, log } = await openChat({
    hooks: [
      entry('first', 'intercept: [before_tool]'),
      '  native: {command: ./native, hook: tool, phases: [before_execution]}',
      entry('second', 'intercept: [before_tool]'),
    ],
    files: {
      first: shHook(go, { log: 'first.log' }),
      native: `#!/bin/sh\necho '{"allow":true,"replace":{"args":{"text":"native"}}}'`,
      second: shHook(go, { log: 'second.log' }),
    },
    responses: [callEcho, '{text: ok}'],
  });
  expect(await run()).toMatchObject({ output: { calls: [{ result: 'ran native' }] } });
  const seen = (name: string) =>
    log(name).flatMap(({ method, params }) => (method === 'hook.before_tool' ? [params['arguments']] : []));
  expect([seen('first.log'), seen('second.log')]).toEqual([[{ text: 'one' }], [{ text: 'native' }]]);
});
