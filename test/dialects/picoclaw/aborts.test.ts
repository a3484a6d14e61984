import { describe, expect, test } from 'vitest';
import { openChat } from './chat.ts';
import { entry, shHook } from './scripts.ts';

const go = `    *'"id":'*) answer '{"action":"continue"}' ;;`;
const callBoth = '{tool_calls: [{name: echo, args: {text: one}}, {name: shout, args: {text: two}}]}';
const llm = 'intercept: [before_llm, after_llm]';
const tool = 'intercept: [before_tool, after_tool]';

const at = (method: string, result: string, log = 'hook.log') =>
  shHook(`    *'hook.${method}"'*) answer '${result}' ;;\n${go}`, { log });

/** Two turns of one session; the second begins whatever the outcome of the first. */
const twoTurns = `
apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: agent}
spec:
  runtime: ./runtime.yaml
  steps:
    - id: chat
      on_error: continue
      chat: {provider: main, messages: [{role: user, content: "\${input.text}"}], tools: [echo, shout], tool_concurrency: 1}
    - id: next
      on_error: continue
      chat: {provider: main, messages: [{role: user, content: again}]}
  output: {chat: "\${steps.chat}"}`;

const echoAborted = [
  { status: 'denied', result: 'Tool "echo" was blocked by hook "hook": enough' },
  { status: 'denied', result: 'Tool "shout" was not run: hook "hook" ended the turn: enough' },
];
const stages = [
  { method: 'before_llm', block: llm, ran: [], calls: [], events: ['turn_end'] },
  { method: 'after_llm', block: llm, ran: [], calls: [], events: ['llm_request', 'turn_end'] },
  {
    method: 'before_tool',
    block: tool,
    ran: [],
    calls: echoAborted,
    events: ['llm_request', 'tool_exec_skipped', 'turn_end'],
  },
  {
    method: 'after_tool',
    block: tool,
    ran: ['one'],
    calls: echoAborted,
    events: ['llm_request', 'turn_end'],
  },
];

describe.each(stages)('at $method', ({ method, block, ran, calls, events }) => {
  const openAbort = async (action: string) =>
    await openChat({
      hooks: [
        entry('hook', `${block}, observe: [turn_end, llm_request, tool_exec_skipped]`),
        entry('later', block),
      ],
      files: {
        hook: shHook(
          `    *again*) answer '{"action":"continue"}' ;;
    *'hook.${method}"'*) answer '{"action":"${action}","reason":"enough"}' ;;\n${go}`,
          { log: 'hook.log' },
        ),
        later: shHook(go, { log: 'later.log' }),
      },
      responses: [callBoth.replace('{', '{when: "messages[0].content == \'hello\'", '), '{text: again}'],
      pipeline: twoTurns,
    });

  test('abort_turn ends only the turn, with hook and reason [PC-6-05 PC-6-33@server PC-8-09@server]', async () => {
    const { run, ran: texts, log, runtime } = await openAbort('abort_turn');
    const { steps, output } = await run();
    await runtime.close();
    expect(steps).toMatchObject([
      {
        step: 'chat',
        status: 'denied',
        error: { code: 'DENIED', message: expect.stringMatching(/"hook".*: enough$/) },
      },
      { step: 'next', status: 'ok' },
    ]);
    expect(output).toMatchObject({ chat: { hook: 'hook', reason: 'enough', tool_calls: calls } });
    expect(texts()).toEqual(ran);
    const first = log('later.log').filter((message) => !JSON.stringify(message).includes('again'));
    expect(first.filter(({ method: asked }) => asked === `hook.${method}`)).toEqual([]);
    const told = log('hook.log').filter(({ method: asked }) => asked === 'hook.event');
    const firstTurn = told.slice(0, events.length);
    expect(firstTurn.map(({ params }) => params['KindName'])).toEqual(events);
    expect(firstTurn.at(-1)?.params['Payload']).toMatchObject({ Status: 'error', FinalContentLen: 0 });
  });

  test('hard_abort lets no later turn of the session start [PC-6-06 PC-6-34@server]', async () => {
    const { run, log, runtime } = await openAbort('hard_abort');
    const { steps, output } = await run();
    await runtime.close();
    expect([steps, output]).toMatchObject([
      [
        { step: 'chat', status: 'denied' },
        {
          step: 'next',
          status: 'denied',
          error: { message: expect.stringMatching(/"hook".*: enough$/) },
        },
      ],
      { chat: { hook: 'hook', reason: 'enough', abort: 'session' } },
    ]);
    expect(JSON.stringify(log('hook.log'))).not.toContain('again');
    const ends = log('hook.log').filter(({ params }) => params['KindName'] === 'turn_end');
    expect(ends).toHaveLength(1);
  });
});

test('hard_abort of a single-step call ends the session too [PC-6-34@server]', async () => {
  const { run } = await openChat({
    hooks: [entry('hook', tool)],
    files: { hook: at('before_tool', '{"action":"hard_abort","reason":"enough"}') },
    responses: ['{text: again}'],
    pipeline: twoTurns.replace(/chat: .*tools.*/, 'tool: echo\n      args: {text: one}'),
  });
  const { steps, output } = await run();
  expect([steps, output]).toMatchObject([
    [
      { step: 'chat', status: 'denied' },
      { step: 'next', status: 'denied' },
    ],
    { chat: { hook: 'hook', reason: 'enough', abort: 'session' } },
  ]);
});
