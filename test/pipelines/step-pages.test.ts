import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Runtime, StepDetails } from '../../src/index.ts';
import { type Desk, openDesk } from './desk.ts';

const spec = `
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: echo, args: {n: 1}}, {name: refund, args: {order: 2}}]}
        - {text: It is so.}
tools:
  echo: {exec: {command: $bin/echo-args}}
  broken: {exec: {command: /bin/sh, args: [-c, 'cat > /dev/null; if test -e $folder/mended; then echo ''{"result": 1}''; else echo ''{"error": "no such order"}''; fi']}}
  refund: {approval: required, exec: {command: $bin/echo-args}}
`;

/** The work of the chat begins before steps of the loop end, and the chat ends after all of them. */
const pipeline = `
steps:
  - {id: first, tool: echo, args: {n: "\${input.n}"}}
  - id: both
    parallel:
      - {id: talk, chat: {provider: main, messages: Is it so?, tools: [echo, refund]}}
      - id: mails
        for_each: [1, 2, 3, 4, 5]
        concurrency: 2
        steps:
          - {id: compose, tool: echo, args: {n: "\${item}"}}
          - {id: check, eval: contains, params: {patterns: [a]}, content: "a text \${item}"}
          - {id: ask, if: "\${item == 3}", tool: refund, args: {order: 3}}
  - {id: orders, for_each: [1, 2], tool: broken, args: {n: "\${item}"}}
`;

interface Parts {
  readonly ended: readonly StepDetails[];
  readonly open: readonly StepDetails[];
}

async function streamed({ runs }: Runtime, id: string, step?: string): Promise<Parts> {
  const all: StepDetails[] = [];
  for await (const each of runs.steps(id, { step })) all.push(each);
  const isOpen = ({ ended_at }: StepDetails) => ended_at === null;
  return { ended: all.filter((each) => !isOpen(each)), open: all.filter(isOpen) };
}

async function paged(
  { runs }: Runtime,
  id: string,
  options: { limit: number; step?: string },
): Promise<Parts> {
  const first = await runs.pageSteps(id, options);
  const ended = [...first.steps];
  for (let { next } = first; next !== undefined; ) {
    const page = await runs.pageSteps(id, { ...options, after: next });
    expect([page.steps.length <= options.limit, page.open]).toEqual([true, undefined]);
    ended.push(...page.steps);
    ({ next } = page);
  }
  return { ended, open: first.open ?? [] };
}

async function expectSame({ runtime }: Desk, id: string): Promise<Parts> {
  const whole = await streamed(runtime, id);
  for (const limit of [1, 2, 3, 7, 1_000]) expect(await paged(runtime, id, { limit })).toEqual(whole);
  for (const step of ['check', 'mails[2]', 'talk', 'orders', 'nothing'])
    for (const limit of [1, 100])
      expect(await paged(runtime, id, { limit, step })).toEqual(await streamed(runtime, id, step));
  return whole;
}

test('pages of any size together are the steps of a run, each with its work, also while it waits and after a retry', async () => {
  const desk = await openDesk(spec);
  const { run_id, pending } = await desk.run(pipeline, { n: 1 });
  expect(pending.map(({ tool }) => tool)).toEqual(['refund', 'refund']);
  const waiting = await expectSame(desk, run_id);
  expect(waiting.open.map(({ step, status }) => [step, status])).toEqual([
    ['talk', 'pending'],
    ['mails[2]/ask', 'pending'],
  ]);
  for (const { id } of pending) await desk.runtime.pending.approve(id, { by: 'mara' });
  const failed = await desk.runtime.runs.resume(run_id);
  expect(failed.status).toBe('failed');
  await expectSame(desk, run_id);
  writeFileSync(join(desk.folder, 'mended'), '');
  expect((await desk.runtime.runs.retry(run_id)).status).toBe('completed');
  const { ended, open } = await expectSame(desk, run_id);
  const orders = ended.filter(({ step }) => step === 'orders[0]');
  expect(open).toEqual([]);
  expect(orders.map(({ status, retry, work }) => [status, retry, work.length])).toEqual([
    ['failed', undefined, 1],
    ['ok', 1, 1],
  ]);
});

test('a page that does not exist, or is too large, is refused with the option', async () => {
  const { runtime, run } = await openDesk(spec);
  const { run_id } = await run('steps: [{id: one, tool: echo}]');
  const { pageSteps } = runtime.runs;
  await expect(pageSteps(run_id, { after: 'nowhere' })).rejects.toMatchObject({
    code: 'USAGE',
    details: { path: 'after' },
  });
  await expect(pageSteps(run_id, { limit: 1_001 })).rejects.toMatchObject({ code: 'USAGE' });
  await expect(pageSteps('run_0')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
});

test('a summary has what the details have, without what is read from steps', async () => {
  const { runtime, run } = await openDesk(spec);
  const { run_id } = await run(pipeline, { n: 1 });
  const { timeline, totals, children, ...rest } = await runtime.runs.show(run_id);
  expect([timeline.length > 10, totals.tool_calls > 5, children]).toEqual([true, true, undefined]);
  expect(await runtime.runs.summary(run_id)).toEqual(rest);
});
