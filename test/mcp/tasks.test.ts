import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { serveOverHttp } from '../../src/mcp/serve.ts';
import { workspace } from '../workspace.ts';

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const forms = { ...tasks, elicitation: { form: {} } };

const files = {
  'refund.sh': '#!/bin/sh\ncat > /dev/null\necho run >> runs.txt\necho \'{"result": "paid"}\'\n',
  'slow.sh': '#!/bin/sh\ncat > /dev/null\necho run >> runs.txt\nsleep 0.5\necho \'{"result": "done"}\'\n',
  'stuck.sh': '#!/bin/sh\ncat > /dev/null\necho run >> runs.txt\nexec sleep 600\n',
  'broken.sh': '#!/bin/sh\necho \'{"error": "out of paper"}\'\n',
};

const spec = (decide: string) => `
mcp: {decide: ${decide}}
tools:
  refund: {approval: required, exec: {command: ./refund.sh}}
  pairs: {approval: {by: [local, mara, joe], quorum: 2}, exec: {command: ./refund.sh}}
  plain: {exec: {command: ./refund.sh}}
  reads: {annotations: {read_only: true}, exec: {command: ./refund.sh}}
  slow: {mcp: {task: allowed}, exec: {command: ./slow.sh}}
  stuck: {mcp: {task: allowed}, exec: {command: ./stuck.sh}}
  broken: {mcp: {task: required}, exec: {command: ./broken.sh}}
`;

/** A result, or `{error}`. */
interface Answer {
  readonly taskId: string;
  readonly status: string;
  readonly requestState: string;
}

async function open(folder: string) {
  const runtime = await openRuntime(`${folder}/runtime.yaml`, { log: false });
  const log: string[] = [];
  const report = (line: string) => void log.push(line);
  const listen = '127.0.0.1:0';
  const served = await serveOverHttp(runtime, { tools: undefined, report, version: '1', listen });
  const end = async () => {
    await served.close();
    await runtime.close();
  };
  onTestFinished(end);
  const send = async (
    method: string,
    params: Readonly<Record<string, unknown>>,
    { capabilities = {}, meta = {} }: { capabilities?: object; meta?: object } = {},
  ): Promise<Answer> => {
    const _meta = {
      ...meta,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const { result, error } = await post(served.url, {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta },
    });
    return result ?? { error };
  };
  return { runtime, url: served.url, send, end, log };
}

interface Message {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

async function post(url: string, message: Message) {
  const { method, params } = message;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params['name'] ?? params['taskId']),
    },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}'));
}

async function served(decide: 'operators' | 'caller' = 'operators') {
  const folder = workspace(spec(decide), files);
  const runs = () => {
    try {
      return readFileSync(`${folder}/runs.txt`, 'utf8').split('\n').length - 1;
    } catch {
      return 0;
    }
  };
  return { folder, runs, ...(await open(folder)) };
}

type Send = Awaited<ReturnType<typeof open>>['send'];

async function settled(send: Send, taskId: string): Promise<Answer> {
  for (;;) {
    const task = await send('tasks/get', { taskId }, { capabilities: tasks });
    if (task.status !== 'working') return task;
    await sleep(20);
  }
}

const unknownTask = { error: { code: -32602, message: expect.stringContaining('there is no task') } };

test('a call that waits is a task, which a decision elsewhere completes, once', async () => {
  const { send, runtime, runs } = await served();
  const call = async () =>
    await send('tools/call', { name: 'refund', arguments: { order: 1 } }, { capabilities: tasks });
  const created = await call();
  expect(created).toMatchObject({
    ...{ resultType: 'task', status: 'working', ttlMs: 86_400_000, pollIntervalMs: 1_000 },
    taskId: expect.stringMatching(/^run_[0-9a-f]{32}$/),
  });
  const { taskId } = created;
  expect(await send('tasks/get', { taskId }, { capabilities: tasks })).toMatchObject({
    ...{ resultType: 'complete', taskId, status: 'working', statusMessage: 'Tool "refund" needs approval.' },
  });
  expect((await call()).taskId).toBe(taskId);
  const [waiting] = await runtime.pending.list();
  await runtime.pending.approve(waiting?.id ?? '', { by: 'mara', reason: '' });
  const polls = await Promise.all(Array.from({ length: 10 }, () => settled(send, taskId)));
  for (const poll of polls)
    expect(poll).toMatchObject({
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'paid' }] },
    });
  expect(runs()).toBe(1);
});

test('a form of a task decides, if the config lets the caller', async () => {
  const { send, runtime, runs } = await served('caller');
  const { taskId } = await send(
    'tools/call',
    { name: 'refund', arguments: { order: 1 } },
    { capabilities: forms },
  );
  const asked = await send('tasks/get', { taskId }, { capabilities: forms });
  expect(asked).toMatchObject({
    status: 'input_required',
    inputRequests: { decision: { method: 'elicitation/create', params: { mode: 'form' } } },
  });
  const answer = async (inputResponses: object, capabilities = forms) =>
    await send('tasks/update', { taskId, inputResponses }, { capabilities });
  const approve = { action: 'accept', content: { decision: 'approve' } };
  for (const nothing of [{}, { decision: { action: 'decline' } }, { other: approve }])
    expect(await answer(nothing)).toMatchObject({ resultType: 'complete' });
  expect(await runtime.pending.list()).toHaveLength(1);
  expect(await answer({ decision: approve })).toMatchObject({ resultType: 'complete' });
  expect(await settled(send, taskId)).toMatchObject({ status: 'completed' });
  expect(runs()).toBe(1);
});

test('a caller that has approved is not asked for the approvals of others', async () => {
  const { send, runtime, runs } = await served('caller');
  const call = { name: 'pairs', arguments: {} };
  const { taskId } = await send('tools/call', call, { capabilities: forms });
  const status = async () => (await send('tasks/get', { taskId }, { capabilities: forms })).status;
  expect(await status()).toBe('input_required');
  const inputResponses = { decision: { action: 'accept', content: { decision: 'approve' } } };
  for (let times = 0; times < 2; times += 1) {
    await send('tasks/update', { taskId, inputResponses }, { capabilities: forms });
    expect(await status()).toBe('working');
  }
  const [waiting] = await runtime.pending.list();
  expect(waiting?.approvals).toMatchObject([{ by: 'local' }]);
  await runtime.pending.approve(waiting?.id ?? '', { by: 'mara', reason: '' });
  expect(await settled(send, taskId)).toMatchObject({ result: { content: [{ text: 'paid' }] } });
  expect(runs()).toBe(1);
});

test('a store that fails is described in the log, and clients learn that it failed', async () => {
  const { folder, send, log } = await served();
  const { taskId } = await send('tools/call', { name: 'refund', arguments: {} }, { capabilities: tasks });
  const files = `${folder}/.signalbox`;
  for (const name of readdirSync(files)) rmSync(`${files}/${name}`, { recursive: true });
  const failed = expect.stringContaining('the state store failed');
  const call = { name: 'plain', arguments: {} };
  const answers = [await send('tools/call', call), await send('tools/call', call, { meta: { callId: 'a' } })];
  for (const answer of answers) expect(answer).toMatchObject({ isError: true, content: [{ text: failed }] });
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const answer = await send(method, { taskId }, { capabilities: tasks });
    expect(answer).toEqual({ error: { code: -32603, message: failed } });
    answers.push(answer);
  }
  expect(JSON.stringify(answers)).not.toContain(folder);
  expect(log).toHaveLength(answers.length);
  for (const line of log) expect(line).toContain(`[STORE_FAILED] the state store ${files}/state.db`);
});

test('a caller cannot decide its own task where only operators decide', async () => {
  const { send, runtime } = await served();
  const call = { name: 'refund', arguments: {} };
  const { taskId } = await send('tools/call', call, { capabilities: forms });
  expect(await send('tasks/get', { taskId }, { capabilities: forms })).toMatchObject({ status: 'working' });
  const inputResponses = { decision: { action: 'accept', content: { decision: 'approve' } } };
  await send('tasks/update', { taskId, inputResponses }, { capabilities: forms });
  expect(await runtime.pending.list()).toMatchObject([{ status: 'open' }]);
});

test('a cancelled task ends its process, and a cancelled wait its call', async () => {
  const { send, runtime, runs } = await served();
  for (const name of ['stuck', 'refund']) {
    const { taskId } = await send('tools/call', { name, arguments: {} }, { capabilities: tasks });
    if (name === 'stuck') await expect.poll(runs).toBe(1);
    for (let times = 0; times < 2; times += 1)
      expect(await send('tasks/cancel', { taskId }, { capabilities: tasks })).toEqual({
        ...{ resultType: 'complete', _meta: expect.anything() },
      });
    expect(await settled(send, taskId)).toMatchObject({ status: 'cancelled' });
  }
  expect(await runtime.pending.list()).toEqual([]);
});

test('a tool with `task` is a task for a client that declares tasks, and has a result for any other', async () => {
  const { send } = await served();
  const slow = { name: 'slow', arguments: {} };
  const { taskId, status } = await send('tools/call', slow, { capabilities: tasks });
  expect(status).toBe('working');
  expect(await settled(send, taskId)).toMatchObject({ result: { content: [{ text: 'done' }] } });
  expect(await send('tools/call', slow)).toMatchObject({ content: [{ text: 'done' }] });
  const broken = await send('tools/call', { name: 'broken', arguments: {} }, { capabilities: tasks });
  expect(await settled(send, broken.taskId)).toMatchObject({
    ...{ status: 'completed', result: { isError: true } },
  });
  expect(await send('tools/call', { name: 'broken', arguments: {} })).toMatchObject({
    error: { code: -32021, data: { requiredCapabilities: tasks } },
  });
});

test('a task is unknown to any other session, and to a client without tasks nothing is told', async () => {
  const { send } = await served();
  const mine = { capabilities: tasks, meta: { sessionId: 'a' } };
  const { taskId } = await send('tools/call', { name: 'refund', arguments: {} }, mine);
  expect(await send('tasks/get', { taskId }, mine)).toMatchObject({ status: 'working' });
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    expect(await send(method, { taskId }, { ...mine, meta: { sessionId: 'b' } })).toMatchObject(unknownTask);
    expect(await send(method, { taskId }, { capabilities: tasks })).toMatchObject(unknownTask);
    expect(await send(method, { taskId })).toMatchObject({ error: { code: -32021 } });
    expect(await send(method, { taskId: 'run_0' }, mine)).toMatchObject(unknownTask);
  }
});

test('a task outlives its server', async () => {
  const { folder, send, end, runs } = await served();
  const { taskId } = await send('tools/call', { name: 'refund', arguments: {} }, { capabilities: tasks });
  await end();
  const { send: again, runtime } = await open(folder);
  const [waiting] = await runtime.pending.list();
  await runtime.pending.approve(waiting?.id ?? '', { by: 'mara', reason: '' });
  expect(await settled(again, taskId)).toMatchObject({ result: { content: [{ text: 'paid' }] } });
  expect(runs()).toBe(1);
});

const requestState = async (send: Send, order: number) => {
  const call = { name: 'refund', arguments: { order } };
  const capabilities = { elicitation: { form: {} } };
  const asked = await send('tools/call', call, { capabilities });
  const retry = async (state: unknown, inputResponses: object = {}) =>
    await send('tools/call', { ...call, requestState: state, inputResponses }, { capabilities });
  return { asked, retry };
};

test('the state of a question counts for one answer about one call', async () => {
  const { send, runs } = await served('caller');
  const one = await requestState(send, 1);
  const other = await requestState(send, 2);
  const approve = { decision: { action: 'accept', content: { decision: 'approve' } } };
  const refused = { error: { code: -32602, message: expect.stringContaining('requestState') } };
  expect(one.asked).toMatchObject({ resultType: 'input_required' });
  const { requestState: state } = one.asked;
  for (const wrong of [`${state}0`, '', state.toUpperCase().replace(/\d/, 'x'), other.asked.requestState])
    expect(await one.retry(wrong, approve)).toMatchObject(refused);
  expect(await one.retry(state, approve)).toMatchObject({ content: [{ text: 'paid' }] });
  // The same call again is a new one, for which the state does not count.
  expect(await one.retry(state, approve)).toMatchObject(refused);
  expect(runs()).toBe(1);
});

test('a repeated request is the same call, and a repeated call of the model a new one', async () => {
  const { send, runs } = await served();
  const call = async (meta: object, name = 'plain') =>
    await send('tools/call', { name, arguments: { n: 1 } }, { meta });
  for (const id of ['claudecode/toolUseId', 'callId']) {
    const before = runs();
    const all = await Promise.all(Array.from({ length: 10 }, () => call({ [id]: 'one' })));
    for (const each of all) expect(each).toMatchObject({ content: [{ text: 'paid' }] });
    if (id === 'callId') continue;
    expect(runs()).toBe(before + 1);
    await call({ [id]: 'two' });
    expect(runs()).toBe(before + 2);
    const taken = await send('tools/call', { name: 'plain', arguments: { n: 2 } }, { meta: { [id]: 'one' } });
    expect(taken).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('CALL_ID_TAKEN') }],
    });
  }
  const before = runs();
  for (let times = 0; times < 2; times += 1) await call({ callId: 'three' }, 'reads');
  expect(runs()).toBe(before + 2);
});

test('a call that waits is found again under a new id, and its outcome is given to both', async () => {
  const { send, runtime, runs } = await served();
  const call = async (callId: string) =>
    await send('tools/call', { name: 'refund', arguments: { order: 1 } }, { meta: { callId } });
  expect(await call('one')).toMatchObject({ isError: true });
  expect(await call('two')).toMatchObject({ isError: true });
  const [waiting, ...others] = await runtime.pending.list();
  expect(others).toEqual([]);
  await runtime.pending.approve(waiting?.id ?? '', { by: 'mara', reason: '' });
  for (const id of ['three', 'one', 'two', 'three'])
    expect(await call(id)).toMatchObject({ content: [{ text: 'paid' }] });
  expect(runs()).toBe(1);
  expect(await call('four')).toMatchObject({ isError: true });
  expect(await runtime.pending.list()).toHaveLength(1);
});

test.each([
  { answer: { action: 'accept', content: { decision: 'approve' } }, text: 'paid', isError: undefined },
  {
    answer: { action: 'accept', content: { decision: 'reject', reason: 'too late' } },
    text: expect.stringContaining('was rejected by local: too late'),
    isError: true,
  },
] as const)(
  'the client of the tasks extension decides and gets the result: $answer.content',
  async (given) => {
    const { url, runs } = await served('caller');
    const clientInfo = { name: 'test', version: '1' };
    const client = new Client(clientInfo, {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      capabilities: forms,
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(async () => await client.close());
    const session = createTaskSessionFromClient(client, {
      endpointId: 'desk',
      rawDispatch: async (request) => {
        const { result, error } = await post(url, {
          ...(request as unknown as Message),
          jsonrpc: '2.0',
          id: 1,
        });
        return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
      },
      v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo, clientCapabilities: forms },
      onInputRequest: async () => given.answer as never,
    });
    const execution = await session.callTool('refund', { order: 1 });
    expect(execution.kind).toBe('task');
    const { outcome } = await execution.settle();
    expect(outcome).toMatchObject({ status: 'completed', result: { content: [{ text: given.text }] } });
    expect(resultFromTaskOutcome(outcome).isError).toBe(given.isError);
    expect(runs()).toBe(given.isError === true ? 0 : 1);
    await session.close();
  },
);
