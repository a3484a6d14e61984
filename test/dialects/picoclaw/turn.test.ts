import { expect, test } from 'vitest';
import { openChat } from './chat.ts';
import { entry, pythonHook, shHook } from './scripts.ts';

const everything =
  'intercept: [before_llm, after_llm, before_tool, after_tool, approve_tool], observe: ["*"]';
const agree = `    *hook.approve_tool*) answer '{"approved":true}' ;;
    *'"id":'*) answer '{"action":"continue"}' ;;`;

const callEcho = '{tool_calls: [{name: echo, args: {text: one}}]}';

test('a turn reaches each method and each event in its order, whichever the version [PC-6-01 PC-8-05 PC-4-07@server]', async () => {
  const { run, log, runtime } = await openChat({
    hooks: [entry('page', everything), entry('head', `version: head, ${everything}`)],
    files: { page: shHook(agree, { log: 'page.log' }), head: shHook(agree, { log: 'head.log' }) },
    responses: [callEcho, '{text: done}'],
    chat: 'max_tokens: 9',
  });
  expect(await run()).toMatchObject({ status: 'completed', output: { text: 'done' } });
  await runtime.close();
  const say = (name: string) =>
    log(name).map(({ method, params }) => `${method} ${params['KindName'] ?? params['kind'] ?? ''}`.trim());
  const order = (event: string, names: Readonly<Record<string, string>>) => {
    const round = [
      'hook.before_llm',
      `${event} ${names['asked']}`,
      'hook.after_llm',
      `${event} ${names['answered']}`,
    ];
    return [
      `${event} ${names['start']}`,
      ...round,
      'hook.before_tool',
      'hook.approve_tool',
      `${event} ${names['toolStart']}`,
      'hook.after_tool',
      `${event} ${names['toolEnd']}`,
      ...round,
      `${event} ${names['end']}`,
    ];
  };
  expect(say('page.log')).toEqual(
    order('hook.event', {
      start: 'turn_start',
      asked: 'llm_request',
      answered: 'llm_response',
      toolStart: 'tool_exec_start',
      toolEnd: 'tool_exec_end',
      end: 'turn_end',
    }),
  );
  expect(say('head.log')).toEqual(
    order('hook.runtime_event', {
      start: 'agent.turn.start',
      asked: 'agent.llm.request',
      answered: 'agent.llm.response',
      toolStart: 'agent.tool.exec_start',
      toolEnd: 'agent.tool.exec_end',
      end: 'agent.turn.end',
    }),
  );
  const events = log('page.log').filter(({ method }) => method === 'hook.event');
  expect(events.map(({ params }) => [params['KindName'], params['Payload']])).toEqual([
    ['turn_start', { UserMessage: 'hello', MediaCount: 0 }],
    ['llm_request', { Model: 'm', MessagesCount: 2, ToolsCount: 2, MaxTokens: 9, Temperature: 0 }],
    ['llm_response', { ContentLen: 0, ToolCalls: 1, HasReasoning: false }],
    ['tool_exec_start', { Tool: 'echo', Arguments: { text: 'one' } }],
    [
      'tool_exec_end',
      {
        Tool: 'echo',
        Duration: expect.any(Number),
        ForLLMLen: 7,
        ForUserLen: 0,
        IsError: false,
        Async: false,
      },
    ],
    ['llm_request', { Model: 'm', MessagesCount: 4, ToolsCount: 2, MaxTokens: 9, Temperature: 0 }],
    ['llm_response', { ContentLen: 4, ToolCalls: 0, HasReasoning: false }],
    ['turn_end', { Status: 'completed', Iterations: 2, Duration: expect.any(Number), FinalContentLen: 4 }],
  ]);
  const meta = ({ params }: { readonly params: Record<string, unknown> }) => params['meta'] ?? params['Meta'];
  expect(log('page.log').map(meta)).toEqual(
    [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2].map((Iteration) =>
      expect.objectContaining({ AgentID: 'agent', TurnID: 'agent-turn-1', ParentTurnID: '', Iteration }),
    ),
  );
});

const editor = pythonHook(`
def handle_before_llm(params):
    messages = [m for m in params["messages"] if m["role"] != "system"]
    messages[0]["content"] = messages[0]["content"].replace("hello", "good day")
    weather = {"type": "function", "function": {"name": "weather", "description": "Tells it.", "parameters": {}}}
    tools = [t for t in params["tools"] if t["function"]["name"] != "shout"] + [weather]
    system = {"role": "system", "content": "Be brief."}
    return {"action": "modify", "request": {"messages": [system] + messages, "tools": tools}}


def handle_after_llm(params):
    response = params["response"]
    response["content"] = response["content"].replace("secret", "[redacted]")
    return {"action": "modify", "response": {"model": params["model"], "response": response}}


def handle_before_tool(params):
    if params["tool"] == "weather":
        return {"action": "respond", "result": {"for_llm": "sunny in " + params["arguments"]["city"]}}
    if params["tool"] == "echo":
        return {"action": "modify", "call": {"arguments": {"text": "two"}}}
    if params["tool"] == "shout":
        return {"action": "deny_tool", "reason": "be quiet"}
    return {"action": "continue"}


def handle_after_tool(params):
    result = params["result"]
    result["for_llm"] = result["for_llm"].upper()
    return {"action": "modify", "result": {"result": result}}
`);

test('hooks can change prompt, tools, calls, results and answers; an injected tool is answered [PC-6-01 PC-6-07 PC-6-09 PC-6-10 PC-6-30@server PC-6-31@server]', async () => {
  const { run, ran, verdicts } = await openChat({
    hooks: [entry('editor', 'intercept: [before_llm, after_llm, before_tool, after_tool]')],
    files: { editor },
    responses: [
      `{tool_calls: [{name: weather, args: {city: Rome}}, {name: echo, args: {text: one}}, {name: shout, args: {text: x}}, {name: nobody, args: {}}], text: "\${system} \${messages[0].content} \${size(tools)} \${tools[1]}", when: "round == 1"}`,
      '{text: "the secret: ${messages[2].content}"}',
    ],
  });
  expect(await run()).toMatchObject({
    status: 'completed',
    output: {
      text: 'the [redacted]: sunny in Rome',
      calls: [
        { name: 'weather', status: 'ok', result: 'sunny in Rome' },
        { name: 'echo', args: { text: 'one' }, status: 'ok', result: 'RAN TWO' },
        { name: 'shout', status: 'denied', result: 'Tool "shout" was blocked by hook "editor": be quiet' },
        { name: 'nobody', status: 'failed', result: expect.stringContaining('THERE IS NO TOOL "NOBODY"') },
      ],
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'Be brief. good day 2 weather' },
        ...['sunny in Rome', 'RAN TWO'].map((content) => ({ role: 'tool', content })),
        { role: 'tool' },
        { role: 'tool' },
        { role: 'assistant' },
      ],
    },
  });
  expect(ran()).toEqual(['two']);
  expect(verdicts().filter((each) => each.includes('after_tool'))).toEqual([
    'editor after_tool modify',
    'editor after_tool modify',
  ]);
});

test('after_tool also judges a failed call, which stays failed [PC-6-30@server]', async () => {
  const { run, log } = await openChat({
    hooks: [entry('watch', 'intercept: [after_tool]')],
    files: {
      watch: shHook(
        `    *hook.after_tool*) answer '{"action":"modify","result":{"result":{"for_llm":"it broke"}}}' ;;
    *) answer '{"action":"continue"}' ;;`,
        { log: 'watch.log' },
      ),
    },
    responses: ['{tool_calls: [{name: echo, args: {text: fail}}]}', '{text: ok}'],
  });
  expect(await run()).toMatchObject({ output: { calls: [{ status: 'failed', result: 'it broke' }] } });
  expect(log('watch.log').filter(({ method }) => method === 'hook.after_tool')).toMatchObject([
    { params: { tool: 'echo', arguments: { text: 'fail' }, result: { is_error: true } } },
  ]);
});

test('an answered call has its events with duration 0, and filters of other dialects see the answer [PC-6-42@server PC-9-02@server]', async () => {
  const { run, log, runtime } = await openChat({
    hooks: [
      entry('cache', 'intercept: [before_tool, after_tool], observe: [tool_exec_start, tool_exec_end]'),
      '  native: {command: ./native, hook: tool, phases: [after_execution]}',
    ],
    files: {
      cache: shHook(
        `    *hook.before_tool*) answer '{"action":"respond","result":{"for_llm":"cached"}}' ;;`,
        { log: 'cache.log' },
      ),
      native: `#!/bin/sh\nread -r line\ncase "$line" in *cached*) echo '{"allow":true,"replace":{"content":"seen"}}' ;; *) echo '{"allow":false}' ;; esac`,
    },
    responses: [callEcho, '{text: ok}'],
  });
  expect(await run()).toMatchObject({ output: { calls: [{ status: 'ok', result: 'seen' }] } });
  await runtime.close();
  expect(
    log('cache.log').map(({ method, params }) => [method, params['KindName'], params['Payload']]),
  ).toEqual([
    ['hook.before_tool', undefined, undefined],
    ['hook.event', 'tool_exec_start', { Tool: 'echo', Arguments: { text: 'one' } }],
    [
      'hook.event',
      'tool_exec_end',
      { Tool: 'echo', Duration: 0, ForLLMLen: 4, ForUserLen: 0, IsError: false, Async: false },
    ],
  ]);
});

test('approvers see the call after all filters, and the first denial ends it [PC-6-32@server]', async () => {
  const approve = (verdict: string, log: string) =>
    shHook(`    *hook.approve_tool*) answer '${verdict}' ;;`, { log });
  const { run, log, ran, runtime } = await openChat({
    hooks: [
      entry('first', 'intercept: [approve_tool]'),
      entry('second', 'intercept: [approve_tool], observe: [tool_exec_skipped, tool_exec_end]'),
      entry('third', 'intercept: [approve_tool]'),
      '  native: {command: ./native, hook: tool, phases: [before_execution]}',
      entry('last', 'intercept: [before_tool]'),
    ],
    files: {
      first: approve('{"approved":true}', 'first.log'),
      second: approve('{"approved":false,"reason":"no"}', 'second.log'),
      third: approve('{"approved":true}', 'third.log'),
      native: `#!/bin/sh\necho '{"allow":true,"replace":{"args":{"text":"native"}}}'`,
      last: shHook(
        `    *native*) answer '{"action":"modify","call":{"arguments":{"text":"last"}}}' ;;\n    *) answer '{"action":"deny_tool"}' ;;`,
      ),
    },
    responses: [callEcho, '{text: ok}'],
  });
  expect(await run()).toMatchObject({
    output: { calls: [{ status: 'denied', result: 'Tool "echo" was blocked by hook "second": no' }] },
  });
  await runtime.close();
  const asked = (name: string) =>
    log(name).map(({ method, params }) => [method, params['arguments'] ?? params['Payload']]);
  expect([asked('first.log'), asked('second.log'), asked('third.log'), ran()]).toEqual([
    [['hook.approve_tool', { text: 'last' }]],
    [
      ['hook.approve_tool', { text: 'last' }],
      ['hook.event', { Tool: 'echo', Reason: 'no' }],
    ],
    [],
    [],
  ]);
});
