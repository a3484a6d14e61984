import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { pipeline } from '../workspace.ts';
import { open } from './open.ts';

const pii = new URL('../../src/cli/pii/main.ts', import.meta.url).pathname;

const shop = (decisions: string) => `
${decisions}
hooks:
  amount: {command: $bin/judges-amount.sh, hook: tool, phases: [before_execution]}
  fails: {command: $bin/crash-loudly.sh, hook: tool, phases: [before_execution], mode: shadow}
  seen: {command: $bin/allow.sh, hook: provider, phases: [before_call]}
tools:
  refund:
    input_schema: {type: object, properties: {amount: {type: integer}}}
    approval: {by: [mara]}
    exec: {command: $bin/echo-args}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: refund, args: {amount: 7}}]}
        - {when: round == 2, text: The refund is done.}
`;

const chat = pipeline(`
steps: [{id: answer, chat: {provider: main, system: Be brief., messages: My cat is Minka., tools: [refund]}}]
output: \${steps.answer}
`);

/** Every byte of the store's files. */
function bytesIn(folder: string): string {
  return readdirSync(join(folder, '.signalbox'))
    .filter((name) => name.startsWith('decisions.db'))
    .map((name) => readFileSync(join(folder, '.signalbox', name), 'latin1'))
    .join('');
}

async function reopen(folder: string): Promise<Runtime> {
  return await openRuntime(join(folder, 'runtime.yaml'), { log: false });
}

test('without spec.decisions nothing is recorded, and pages are empty', async () => {
  const { runtime, folder } = await open(shop(''), {}, { 'chat.yaml': chat });
  await runtime.run(join(folder, 'chat.yaml'));
  expect(await runtime.decisions.page()).toEqual({ decisions: [] });
  expect(await runtime.decisions.counts()).toEqual({ total: 0, counts: [], dropped: 0 });
  expect(await runtime.decisions.conversation({ run: 'r' })).toEqual({ calls: [], dropped: 0 });
  await runtime.close();
  expect(existsSync(join(folder, '.signalbox/decisions.db'))).toBe(false);
});

test('each decision is recorded, and read by the next process', async () => {
  const { runtime, folder } = await open(shop('decisions: {}'), {}, { 'chat.yaml': chat });
  const { run_id } = await runtime.run(join(folder, 'chat.yaml'));
  await runtime.close();
  const next = await reopen(folder);
  const { decisions } = await next.decisions.page();
  const told = decisions.map((each) =>
    each.type === 'gap' ? each : [each.hook, each.mode, each.verdict, each.error],
  );
  expect(told.toSorted()).toEqual([
    ['amount', 'filter', 'allow', null],
    ['fails', 'shadow', 'deny', 'PROCESS_EXIT'],
    ['seen', 'filter', 'allow', null],
  ]);
  expect(await next.decisions.counts({ verdict: 'deny' })).toMatchObject({ total: 1, dropped: 0 });
  expect(await next.decisions.conversation({ run: run_id })).toEqual({ calls: [], dropped: 0 });
  await next.close();
  expect(bytesIn(folder)).toContain('amount');
  expect(bytesIn(folder)).not.toContain('Minka');
});

/** The texts of a conversation in order. */
function told({ calls }: Awaited<ReturnType<Runtime['decisions']['conversation']>>) {
  return calls.flatMap(({ messages, answers }) =>
    [...messages, ...answers].map(({ role, content }) => `${role}: ${content}`),
  );
}

test('with content, the conversation of a pending call is shown in order, each message once', async () => {
  const { runtime, folder } = await open(shop('decisions: {content: true}'), {}, { 'chat.yaml': chat });
  const { run_id, pending } = await runtime.run(join(folder, 'chat.yaml'));
  const id = pending[0]?.id ?? '';
  await runtime.close();
  const next = await reopen(folder);
  const waiting = await next.decisions.conversation({ pending: id });
  expect(told(waiting)).toEqual(['system: Be brief.', 'user: My cat is Minka.', 'assistant: ']);
  expect(waiting.calls[0]?.answers[0]).toMatchObject({ tool_calls: [{ name: 'refund' }] });
  expect(waiting.calls[0]).toMatchObject({ operation: 'model', run_id, step: 'answer', provider: 'main' });
  await next.pending.approve(id, { by: 'mara' });
  await next.runs.resume(run_id);
  await next.close();
  const last = await reopen(folder);
  const whole = await last.decisions.conversation({ run: run_id, step: 'answer' });
  expect(told(whole)).toEqual([...told(waiting), 'tool: {"amount":7}', 'assistant: The refund is done.']);
  const { decisions } = await last.decisions.page({ run: run_id, operation: 'tool' });
  const step = 'answer/attempt-1/round-1/call-1';
  const places = decisions.map((each) => (each.type === 'decision' ? `${each.hook} ${each.step}` : ''));
  expect(new Set(places)).toEqual(new Set([`amount ${step}`, `fails ${step}`]));
  await last.close();
});

test('messages are recorded as the hooks left them, and withheld answers are not', async () => {
  const guards = `
decisions: {content: true}
hooks:
  pii: {hook: provider, runtime: server, command: ${process.execPath}, args: [${pii}, --action, redact]}
providers:
  - {id: main, type: mock, model: m, additional_config: {responses: [{text: Mail ada@example.org now.}]}}
gateway: {listen: 127.0.0.1:0}
`;
  const { runtime, folder } = await open(guards);
  const gateway = runtime.gateway();
  const ask = async (stream: boolean) => {
    const body = JSON.stringify({
      ...{ model: 'm', stream, messages: [{ role: 'user', content: 'I am eva@example.org.' }] },
    });
    const url = 'http://127.0.0.1/v1/chat/completions';
    const headers = { 'content-type': 'application/json' };
    return await (await gateway.fetch(new Request(url, { method: 'POST', body, headers }))).text();
  };
  await ask(false);
  await ask(true);
  await runtime.close();
  const next = await reopen(folder);
  const { decisions } = await next.decisions.page({ operation: 'gateway' });
  const ids = new Set(decisions.map((each) => (each.type === 'decision' ? each.operation_id : '')));
  expect(ids.size).toBe(2);
  for (const operation of ids)
    expect(told(await next.decisions.conversation({ operation: operation ?? '' }))).toEqual([
      'user: I am [EMAIL_ADDRESS].',
      'assistant: Mail [EMAIL_ADDRESS] now.',
    ]);
  await next.close();
  expect(bytesIn(folder)).not.toContain('example.org');
});

test('a record has no text of an event without content, and no secret with it', async () => {
  const secret = 'sk-live-4f9d8e7c6b5a';
  const spec = (content: boolean) => `
decisions: {content: ${content}}
hooks:
  says: {command: $folder/says, hook: provider, phases: [before_call], env: [DESK_KEY]}
providers:
  - {id: main, type: mock, model: m, additional_config: {responses: [{text: 'Your key is ${secret}, Minka.'}]}}
`;
  const says = `#!${process.execPath}
process.stdin.resume().on('end', () => {
  const reason = 'NUL \\0 and \\u001b[31m ' + process.env.DESK_KEY + ' x'.repeat(5_000_000);
  console.log(JSON.stringify({ allow: true, reason }));
});`;
  const one = pipeline('steps: [{id: answer, chat: {provider: main, messages: "Minka has 1."}}]');
  for (const content of [false, true]) {
    const env = { ...process.env, DESK_KEY: secret };
    const { runtime, folder } = await open(spec(content), { env }, { says, 'chat.yaml': one });
    await runtime.run(join(folder, 'chat.yaml'));
    await runtime.close();
    const next = await reopen(folder);
    const { decisions } = await next.decisions.page();
    expect(decisions).toMatchObject([{ type: 'decision', hook: 'says', verdict: 'allow' }]);
    expect(JSON.stringify(decisions).length).toBeLessThan(3_000);
    await next.close();
    expect([bytesIn(folder).includes(secret), bytesIn(folder).includes('Minka')]).toEqual([false, content]);
  }
});

test('decisions and messages are pruned, but not what an open call shows', async () => {
  const { runtime, folder } = await open(
    shop('decisions: {content: true, keep: 1s}'),
    {},
    { 'chat.yaml': chat },
  );
  const { run_id, pending } = await runtime.run(join(folder, 'chat.yaml'));
  await runtime.hooks.fire({
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'refund', args: { amount: 1 } },
  });
  const runs = async () => {
    const { decisions } = await runtime.decisions.page();
    return new Set(decisions.map((each) => (each.type === 'decision' ? each.run_id : '')));
  };
  await expect.poll(runs, { timeout: 20_000 }).toEqual(new Set([run_id, null]));
  await expect.poll(runs, { timeout: 20_000 }).toEqual(new Set([run_id]));
  expect(told(await runtime.decisions.conversation({ run: run_id }))).toHaveLength(3);
  await runtime.pending.reject(pending[0]?.id ?? '', { by: 'mara', reason: 'no' });
  await expect.poll(runs, { timeout: 20_000 }).toEqual(new Set());
  expect(told(await runtime.decisions.conversation({ run: run_id }))).toEqual([]);
  await runtime.close();
  expect(bytesIn(folder)).not.toContain('Minka');
});

test('while another process locks the store, callers go on, one note says so, and nothing is lost', async () => {
  const { runtime, events, folder } = await open(shop('decisions: {}'));
  const request = { name: 'refund', args: { amount: 1 } };
  const fire = () => runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request });
  await fire();
  const count = async () => (await runtime.decisions.counts({ hook: 'amount' })).total;
  await expect.poll(count).toBe(1);
  const lock = new DatabaseSync(join(folder, '.signalbox/decisions.db'));
  lock.exec('BEGIN IMMEDIATE');
  for (let n = 0; n < 20; n += 1) await fire();
  const notes = () => events.filter((each) => each.type === 'note' && each.message.includes('not recorded'));
  await expect.poll(notes, { timeout: 20_000 }).toHaveLength(1);
  lock.exec('ROLLBACK');
  lock.close();
  await expect.poll(count, { timeout: 20_000 }).toBe(21);
  expect(notes()).toHaveLength(1);
});
