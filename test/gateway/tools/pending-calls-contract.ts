import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { fitsAnything } from '../../../src/base/yaml/schema-check.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import type { PendingDecision } from '../../../src/contract/approval.ts';
import { endForgottenRuns } from '../../../src/gateway/judge/pending-run.ts';
import type { Store } from '../../../src/store/store.ts';
import { openBench } from '../../calls/capability/bench.ts';
import { writeJudgingHook } from '../memo/scripts.ts';
import { answerWith, asking, openJudgeBench, toolCall } from './judge-bench.ts';

/** Asks for approval of every `pay`, and denies amounts above 1000. MODE changes the decision. */
const asks = `#!/usr/bin/env python3
import json, os, sys
request = json.load(sys.stdin)["request"]
with open(os.environ["SHOWN"], "a") as shown:
    shown.write(json.dumps(request) + "\\n")
if request["name"] != "pay" or os.path.exists(os.environ["SHOWN"] + ".allow"): reply = {"allow": True}
elif request["args"]["amount"] > 1000: reply = {"allow": False, "reason": "too much"}
else: reply = {"allow": False, "ask": True, "reason": "money"}
print(json.dumps(reply))
`;

export function askingLink() {
  const hook = writeJudgingHook(asks);
  const entry = { name: 'money', phases: ['before_execution'] as const, runs: hook.runs, env: hook.env };
  return { hook, links: [openBench().links.filter(entry)] };
}

const pay = toolCall('c1', 'pay', { amount: 500 });
const list = toolCall('c2', 'list', {});
export const paying = answerWith([pay, list], 'Words of the model.');

async function decide(store: Store, decision: PendingDecision): Promise<void> {
  for (const { id } of await store.listPendings({ open: true }, Date.now()))
    await store.decide(id, decision, Date.now());
}

const approved = { kind: 'approved', args: null, by: 'mara', reason: '' } as const;

export function pendingCallsContract(): void {
  test('an approved call is delivered in the stored answer, without another call of the model', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    const first = await call(asking, paying);
    expect(first.refusal).toMatchObject({
      code: 'pending_approval',
      details: { pending: [{ tool: 'pay', call_id: 'c1', reason: 'money' }] },
    });
    expect((await call(asking, answerWith([], 'something else'))).refusal).toEqual(first.refusal);
    await decide(store, approved);
    const again = await call(asking, answerWith([], 'something else'));
    expect(again).toEqual({ wasKept: true, body: paying });
    expect(await call({ ...asking, stream: true }, answerWith([]))).toEqual(again);
    expect(await store.listPendings({}, Date.now())).toHaveLength(1);
    expect((await store.listRuns())[0]).toMatchObject({ status: 'completed', name: 'gateway' });
  });

  test('restarts between the question, the decision and the retry lose nothing', async () => {
    const { links } = askingLink();
    const one = await openJudgeBench({ links });
    await one.call(asking, paying);
    await one.close();
    const two = await openJudgeBench({ links, folder: one.folder });
    await decide(two.store, approved);
    await two.close();
    const three = await openJudgeBench({ links, folder: one.folder });
    expect(await three.call(asking, answerWith([]))).toEqual({ wasKept: true, body: paying });
  });

  test('concurrent retries in two processes get the same answer from one decision', async () => {
    const { links } = askingLink();
    const one = await openJudgeBench({ links });
    const two = await openJudgeBench({ links, folder: one.folder });
    await one.call(asking, paying);
    await decide(one.store, approved);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? one : two).call(asking, answerWith([]))),
    );
    expect(answers).toEqual(answers.map(() => ({ wasKept: true, body: paying })));
    expect(await one.store.listPendings({}, Date.now())).toHaveLength(1);
  });

  test('concurrent equal requests store one answer, and each receives the waiting calls', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    const refused = await Promise.all(
      [1, 2, 3].map((amount) => call(asking, answerWith([toolCall(`c${amount}`, 'pay', { amount })]))),
    );
    expect(refused.map(({ refusal }) => refusal?.code)).toEqual(
      Array.from({ length: 3 }, () => 'pending_approval'),
    );
    expect(await store.listPendings({ open: true }, Date.now())).toHaveLength(1);
  });

  test('edited arguments pass the hooks and are written into the answer', async () => {
    const { links, hook } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    await call(asking, paying);
    await decide(store, { ...approved, args: new Json('{"amount": 20.25}') });
    const { body } = await call(asking, answerWith([]));
    expect(body.choices[0].message.tool_calls).toEqual([toolCall('c1', 'pay', '{"amount":20.25}'), list]);
    expect(hook.shown().at(-1)).toMatchObject({ args: { amount: 20.25 } });
  });

  test('edited arguments that a hook denies withhold the call', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    await call(asking, paying);
    await decide(store, { ...approved, args: new Json('{"amount": 5000}') });
    const { body } = await call(asking, answerWith([]));
    expect(body.choices[0].message).toMatchObject({
      content: 'Words of the model.\n\nTool "pay" was blocked by hook "money": too much',
      tool_calls: [list],
    });
  });

  test.each([
    [{ kind: 'rejected', by: 'mara', reason: 'not today' }, 'Tool "pay" was rejected: not today'],
    [
      { kind: 'responded', result: Json.from({ paid: true }), by: 'mara', reason: '' },
      'Tool "pay" was answered in its place: {"paid":true}',
    ],
    [{ kind: 'cancelled', by: 'mara', reason: 'gone' }, 'Tool "pay" was rejected: gone'],
  ] as const)(
    'a call that was %j is withheld in these words, whatever the hook says by then',
    async (decision, text) => {
      const { links, hook } = askingLink();
      const { call, store } = await openJudgeBench({ links });
      await call(asking, paying);
      await decide(store, decision);
      hook.allowAll();
      const { body } = await call(asking, answerWith([]));
      expect(body.choices[0].message).toMatchObject({
        content: `Words of the model.\n\n${text}`,
        tool_calls: [list],
      });
    },
  );

  test('calls of one answer wait together, and each has its own decision', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    const both = answerWith([pay, toolCall('c9', 'pay', { amount: 500 })]);
    const { refusal } = await call(asking, both);
    const [one, two] = await store.listPendings({ open: true }, Date.now());
    expect(refusal?.message).toContain(one?.id);
    expect(refusal?.message).toContain(two?.id);
    await store.decide(one?.id ?? '', approved, Date.now());
    expect((await call(asking, both)).refusal?.details).toMatchObject({ pending: [{ id: two?.id }] });
    await store.decide(two?.id ?? '', { kind: 'rejected', by: 'mara', reason: '' }, Date.now());
    expect((await call(asking, both)).body.choices[0].message.tool_calls).toEqual([pay]);
  });

  test.each([
    ['another caller', 'key_2', asking],
    ['another conversation', 'key_1', { messages: [...asking.messages, { role: 'user', content: 'Now.' }] }],
  ])('%s is not given the kept answer', async (_, caller, body) => {
    const { links } = askingLink();
    const { call, contextOf, store } = await openJudgeBench({ links });
    await call(asking, paying);
    await decide(store, approved);
    expect(await call(body, answerWith([], 'fresh'), contextOf(body, caller))).toMatchObject({
      wasKept: false,
    });
  });

  test('a held call continues after the decision, and is refused after the timeout', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links, holdMs: 20_000 });
    const held = call(asking, paying);
    while ((await store.listPendings({ open: true }, Date.now())).length === 0) await sleep(10);
    await decide(store, approved);
    expect(await held).toEqual({ wasKept: false, body: paying });
    const short = await openJudgeBench({ links, holdMs: 50 });
    expect((await short.call(asking, paying)).refusal?.code).toBe('pending_approval');
    await decide(short.store, approved);
    expect(await short.call(asking, answerWith([]))).toEqual({ wasKept: true, body: paying });
  });

  test('a client that disconnects ends the request, and the call stays pending', async () => {
    const { links } = askingLink();
    const { call, store, contextOf } = await openJudgeBench({ links, holdMs: 60_000 });
    const gone = new AbortController();
    const held = call(asking, paying, { ...contextOf(asking), signal: gone.signal });
    while ((await store.listPendings({ open: true }, Date.now())).length === 0) await sleep(10);
    gone.abort();
    await expect(held).rejects.toMatchObject({ name: 'AbortError' });
    expect(await store.listPendings({ open: true }, Date.now())).toHaveLength(1);
  });

  test('a call without a decision in time is withheld', async () => {
    const approval = compileApproval('pay', { expiresMs: 1 });
    const tool = {
      name: 'pay',
      port: undefined,
      checkArgs: fitsAnything,
      checkResult: fitsAnything,
      links: [],
      approval,
    };
    const { call } = await openJudgeBench({ tools: [tool] });
    await call(asking, paying);
    await sleep(5);
    expect((await call(asking, answerWith([]))).body.choices[0].message).toMatchObject({
      content: 'Words of the model.\n\nTool "pay" failed: nobody decided about tool "pay" in time',
      tool_calls: [list],
    });
  });

  test('an answer is refused if the store cannot keep its call', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    await store.close();
    await expect(call(asking, paying)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  });

  test('a run whose client never returns ends, and a pending one does not', async () => {
    const { links } = askingLink();
    const { call, store } = await openJudgeBench({ links });
    await call(asking, paying);
    await decide(store, approved);
    const other = { messages: [{ role: 'user', content: 'Something else.' }] };
    await call(other, paying);
    await endForgottenRuns(store, Date.now() + 1);
    expect((await store.listRuns()).map(({ status }) => status)).toEqual(['pending', 'failed']);
    expect(await call(asking, answerWith([]))).toEqual({ wasKept: true, body: paying });
    expect((await store.listRuns()).map(({ status }) => status)).toEqual(['pending', 'completed']);
  });
}
