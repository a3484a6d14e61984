import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { DecisionDocument, Runtime } from '../../../src/index.ts';
import { openRuntime } from '../../../src/index.ts';
import { rowsOf } from '../../table.ts';
import { newProject, runtimeYaml } from '../project.ts';
import { entry, messagesIn, nodeHook, pythonHook, shHook } from './scripts.ts';

const reviewGate = pythonHook(`
def handle_before_tool(params):
    tool = params["tool"]
    if tool == "echo_text":
        return {"action": "modify", "call": {"tool": tool, "arguments": {"text": params["arguments"]["text"] + "!"}}}
    if tool == "weather":
        result = {"for_llm": "sunny", "for_user": "It is sunny.", "silent": False, "response_handled": True}
        return {"action": "respond", "message": "from the cache", "result": result}
    if tool == "shell":
        return {"action": "deny_tool", "reason": "no shell here"}
    if tool == "format_disk":
        return {"action": "hard_abort", "message": "this session is over"}
    if tool == "quiet":
        return {}
    return {"action": "continue"}


def handle_after_tool(params):
    if "secret" in params["result"]["for_llm"]:
        redacted = dict(params["result"], for_llm="[redacted]")
        return {"action": "modify", "result": {"result": redacted, "duration": params["duration"]}}
    if params["result"]["is_error"]:
        return {"action": "abort_turn", "reason": "it failed"}
    return {"action": "continue"}
`);

const promptFilter = nodeHook(`
  before_llm: ({ model, messages, tools }) => {
    if (model === 'banned') return { action: 'abort_turn' };
    if (model !== 'big') return { action: 'continue' };
    const added = { type: 'function', function: { name: 'clock', description: 'Tells the time.', parameters: {} } };
    const system = { role: 'system', content: 'Be brief.' };
    return {
      action: 'modify',
      request: { model: 'small', messages: [system, ...messages], tools: [...tools, added], options: { temperature: 0 } },
    };
  },
  after_llm: ({ model, response }) =>
    response.content.includes('key')
      ? { action: 'modify', response: { model, response: { ...response, content: '[redacted]' } } }
      : { action: 'continue' },
`);

const approver = shHook(`    *'"tool":"rm"'*) answer '{"approved":false,"reason":"not on my watch"}' ;;
    *'"tool":"odd"'*) answer '{"allow":true}' ;;
    *) answer '{"approved":true,"reason":"fine"}' ;;`);

const second = shHook(`    *'hi!"'*) answer '{"action":"modify","call":{"arguments":{"text":"hi!!"}}}' ;;
    *) answer '{"action":"continue"}' ;;`);

const files = {
  'runtime.yaml': runtimeYaml(
    [
      'hooks:',
      entry('gate', 'intercept: [before_tool, after_tool]'),
      entry('second', 'intercept: [before_tool]'),
      entry('prompt', 'intercept: [before_llm, after_llm]'),
      entry('approver', 'intercept: [approve_tool]'),
      entry('legacy', 'observe: [tool_exec_start]'),
      entry('newer', 'version: head, observe: ["*"]'),
    ].join('\n'),
  ),
  gate: reviewGate,
  second,
  prompt: promptFilter,
  approver,
  legacy: shHook('', { log: 'legacy.log' }),
  newer: shHook('', { log: 'newer.log' }),
};

let folder: string;
let runtime: Runtime;
beforeAll(async () => {
  folder = newProject(files);
  runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  return () => runtime.close();
});

const fire = (point: string, payload: unknown) =>
  runtime.hooks.fire({ dialect: 'picoclaw', point, payload }, { wholeFaults: true });

const quiet = {
  verdict: 'allow',
  hook: null,
  dialect: 'picoclaw',
  reason: '',
  enforced: false,
  replace: null,
  result: null,
  context: [],
  abort: null,
  metadata: {},
} as const;

type Row = {
  readonly title: string;
  readonly point: string;
  readonly payload: object;
  readonly decision: Partial<DecisionDocument>;
};

const user = { role: 'user', content: 'hello' };
const tool = (name: string, description = '') => ({
  type: 'function',
  function: { name, description, parameters: {} },
});
const result = (for_llm: string, more = {}) => ({ for_llm, is_error: false, ...more });

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | point | payload | decision
  before_llm passes a request that nobody changes | before_llm | ${{ model: 'm', messages: [user] }} | ${{}}
  after_llm passes a harmless answer | after_llm | ${{ model: 'm', response: { content: 'hello' } }} | ${{}}
  before_tool passes a call | before_tool | ${{ tool: 'echo', arguments: { a: 1 } }} | ${{}}
  approve_tool approves [PC-5-13] | approve_tool | ${{ tool: 'ls' }} | ${{ reason: 'fine', metadata: { picoclaw: { reason: 'fine' } } }}
  after_tool passes a result | after_tool | ${{ tool: 'echo', result: result('fine') }} | ${{}}
`,
  {
    title: 'before_llm changes model, messages, tools and options [PC-6-09 PC-6-10]',
    point: 'before_llm',
    payload: { model: 'big', messages: [user], tools: [tool('echo')], options: { max_tokens: 9 } },
    decision: {
      verdict: 'modify',
      hook: 'prompt',
      replace: {
        model: 'small',
        messages: [{ role: 'system', content: 'Be brief.' }, user],
        tools: [tool('echo'), tool('clock', 'Tells the time.')],
        options: { max_tokens: 9, temperature: 0 },
      },
    },
  },
  {
    title: 'before_llm ends the turn, with a stock reason [PC-6-05 PC-6-08]',
    point: 'before_llm',
    payload: { model: 'banned', messages: [user] },
    decision: { verdict: 'abort', abort: 'turn', hook: 'prompt', reason: 'hook "prompt" ended the turn' },
  },
  {
    title: 'after_llm redacts an answer [PC-6-12]',
    point: 'after_llm',
    payload: { model: 'm', response: { content: 'the key is 7' } },
    decision: {
      verdict: 'modify',
      hook: 'prompt',
      replace: {
        response: {
          role: 'assistant',
          content: '[redacted]',
          finish_reason: 'stop',
          reasoning: '',
          reasoning_details: null,
        },
      },
    },
  },
  {
    title: 'before_tool hands one hook’s arguments to the next [PC-6-02 PC-6-13]',
    point: 'before_tool',
    payload: { tool: 'echo_text', arguments: { text: 'hi' } },
    decision: { verdict: 'modify', hook: 'second', replace: { args: { text: 'hi!!' } } },
  },
  {
    title: 'before_tool answers in the tool’s place [PC-6-07 PC-6-18]',
    point: 'before_tool',
    payload: { tool: 'weather' },
    decision: {
      verdict: 'respond',
      hook: 'gate',
      reason: 'from the cache',
      result: 'sunny',
      metadata: {
        picoclaw: {
          message: 'from the cache',
          for_user: 'It is sunny.',
          silent: false,
          response_handled: true,
        },
      },
    },
  },
  {
    title: 'before_tool denies a call [PC-6-04]',
    point: 'before_tool',
    payload: { tool: 'shell', arguments: { cmd: 'ls' } },
    decision: {
      verdict: 'deny',
      hook: 'gate',
      reason: 'no shell here',
      metadata: { picoclaw: { reason: 'no shell here' } },
    },
  },
  {
    title: 'before_tool ends the session [PC-6-06 PC-6-08]',
    point: 'before_tool',
    payload: { tool: 'format_disk' },
    decision: {
      verdict: 'abort',
      abort: 'session',
      hook: 'gate',
      reason: 'this session is over',
      metadata: { picoclaw: { message: 'this session is over' } },
    },
  },
  {
    title: 'before_tool passes what a hook has nothing to say of, and names the rule [PC-5-09]',
    point: 'before_tool',
    payload: { tool: 'quiet' },
    decision: { metadata: { failed_open: { hook: 'gate', cause: 'picoclaw.no_action' } } },
  },
  {
    title: 'approve_tool denies [PC-5-13]',
    point: 'approve_tool',
    payload: { tool: 'rm', arguments: { path: '/' } },
    decision: {
      verdict: 'deny',
      hook: 'approver',
      reason: 'not on my watch',
      metadata: { picoclaw: { reason: 'not on my watch' } },
    },
  },
  {
    title: 'approve_tool takes no other word for approval [PC-10-01]',
    point: 'approve_tool',
    payload: { tool: 'odd' },
    decision: {
      verdict: 'deny',
      hook: 'approver',
      reason: 'hook "approver" answered without `approved: true`',
    },
  },
  {
    title: 'after_tool redacts a result [PC-6-14]',
    point: 'after_tool',
    payload: { tool: 'echo', result: result('a secret', { for_user: 'done' }), duration: 5 },
    decision: {
      verdict: 'modify',
      hook: 'gate',
      replace: { content: '[redacted]' },
      metadata: {
        picoclaw: {
          result: {
            for_user: 'done',
            silent: false,
            is_error: false,
            async: false,
            media: [],
            artifact_tags: [],
            response_handled: false,
          },
        },
      },
    },
  },
  {
    title: 'after_tool ends the turn [PC-6-05]',
    point: 'after_tool',
    payload: { tool: 'echo', result: result('broken', { is_error: true }) },
    decision: {
      verdict: 'abort',
      abort: 'turn',
      hook: 'gate',
      reason: 'it failed',
      metadata: { picoclaw: { reason: 'it failed' } },
    },
  },
];

test.each(rows)('$title', async ({ point, payload, decision }) => {
  expect(await fire(point, payload)).toEqual({ ...quiet, ...decision });
});

test('event and runtime_event tell observers in the form of their version, and allow at once [PC-8-01 PC-8-02]', async () => {
  const allowed = await Promise.all([
    fire('event', { KindName: 'tool_exec_start', Payload: { Tool: 'echo', Arguments: { a: 1 } } }),
    fire('runtime_event', { kind: 'agent.turn.end', payload: { Status: 'error' } }),
    fire('runtime_event', { kind: 'gateway.ready' }),
  ]);
  expect(allowed).toEqual([quiet, quiet, quiet]);
  await runtime.close();
  const told = (log: string) => messagesIn(readFileSync(join(folder, log), 'utf8'));
  expect(told('legacy.log')).toMatchObject([
    {
      method: 'hook.event',
      params: {
        Kind: 8,
        KindName: 'tool_exec_start',
        Meta: { AgentID: 'main', TracePath: '' },
        Payload: { Tool: 'echo', Arguments: { a: 1 } },
      },
    },
  ]);
  expect(told('newer.log').map(({ method, params }) => [method, params['kind'], params['severity']])).toEqual(
    [
      ['hook.runtime_event', 'agent.tool.exec_start', 'info'],
      ['hook.runtime_event', 'agent.turn.end', 'error'],
      ['hook.runtime_event', 'gateway.ready', 'info'],
    ],
  );
});

test.each(rowsOf<{ payload: object; point: string; message: string }>`
  payload | point | message
  ${{}} | before_llms | picoclaw has no point "before_llms"
  ${{}} | hello | picoclaw has no point "hello"
  ${{}} | before_tool | the payload of before_tool has no \`tool\`
  ${{ tool: 'x', args: {} }} | before_tool | the payload of before_tool has a member \`args\`, which is unknown
  ${{ KindName: 'x' }} | event | the payload of event has no known \`Kind\` or \`KindName\`
`)('$point with a wrong payload is refused: $message [PC-7-12]', async ({ point, payload, message }) => {
  const other = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  await expect(
    other.hooks.fire({ dialect: 'picoclaw', point, payload }, { wholeFaults: true }),
  ).rejects.toMatchObject({
    code: 'EVENT_INVALID',
    message,
  });
  await other.close();
});
