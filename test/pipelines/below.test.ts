import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunDocument } from '../../src/contract/run.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { type Desk, openAt, openDesk, outline, pendingOf, writePipeline } from './desk.ts';

/** Fails while the file `down` contains its input. Records its key each time. */
const act = `#!/bin/sh
request=$(cat)
printf '%s\\n' "$request" >>"$FOLDER/calls"
if [ -s "$FOLDER/down" ] && printf '%s' "$request" | grep -q "$(cat "$FOLDER/down")"; then
  printf '{"error": "it is down"}'
else
  printf '{"result": {"n": 1}}'
fi
`;

const spec = `
tools:
  act: {idempotent: true, exec: {command: ./act.sh, env: ["FOLDER=$folder"]}}
  consent: {idempotent: true, approval: required, exec: {command: ./act.sh, env: ["FOLDER=$folder"]}}
`;

const refund = `
input: {type: object, required: [order], properties: {order: {type: string}}}
steps:
  - {id: check, tool: act, args: {who: "check \${input.order}"}}
  - {id: pay, tool: act, args: {who: "pay \${input.order}"}}
finally:
  - {id: tidy, tool: act, args: {who: tidy}}
output: {paid: "\${steps.pay.result.n}"}
`;

async function openShop(): Promise<Desk & { readonly down: (what: string) => void }> {
  const desk = await openDesk(spec);
  const script = join(desk.folder, 'act.sh');
  writeFileSync(script, act);
  chmodSync(script, 0o755);
  writePipeline(desk.folder, refund, 'refund');
  return { ...desk, down: (what) => writeFileSync(join(desk.folder, 'down'), what) };
}

function callsOf({ lines }: Desk): { readonly who: string; readonly key: string }[] {
  return lines('calls').map((line) => {
    const { args, idempotency_key: key } = JSON.parse(line) as {
      args: { who: string };
      idempotency_key: string;
    };
    return { who: args.who, key };
  });
}

const whoOf = (desk: Desk) => callsOf(desk).map(({ who }) => who);
const childOf = ({ steps }: RunDocument, step: string) =>
  steps.find((each) => each.step === step)?.run_id ?? '';

const one = `
steps: [{id: refund, pipeline: ./refund.pipeline.yaml, input: {order: "A-1"}}]
output: \${steps.refund.output.paid}
`;

test('a step runs a pipeline as a separate run, and its view is that run’s output [DS-BELOW-01]', async () => {
  const desk = await openShop();
  const document = await desk.run(one);
  expect(document).toMatchObject({ status: 'completed', output: 1 });
  expect(outline(document)).toEqual(['refund pipeline ok']);
  const child = childOf(document, 'refund');
  const parent = { run_id: document.run_id, root_run_id: document.run_id, step: 'refund' };
  expect(await desk.runtime.runs.show(child)).toMatchObject({ status: 'completed', parent });
  const whole = await desk.runtime.runs.show(document.run_id);
  expect(whole.children?.map(({ run_id }) => run_id)).toEqual([child]);
  expect(whole.totals.tool_calls).toBe(3);
  const listed = async (filter = {}) => (await desk.runtime.runs.list(filter)).map(({ run_id }) => run_id);
  expect(await listed()).toEqual([document.run_id]);
  expect(await listed({ parent: document.run_id })).toEqual([child]);
  expect(callsOf(desk).map(({ key }) => key)).toEqual(
    ['check', 'pay', 'tidy'].map((step) => `${child}/${step}/call`),
  );
  const told = desk.events.flatMap((event) =>
    'step' in event && event.type.startsWith('step.') ? [`${event.run} ${event.step}`] : [],
  );
  expect(new Set(told)).toEqual(
    new Set(
      ['refund', 'refund/check', 'refund/pay', 'refund/tidy'].map((step) => `${document.run_id} ${step}`),
    ),
  );
});

test('its failure names the step inside, and is handled as any other', async () => {
  const desk = await openShop();
  desk.down('pay A');
  const document = await desk.run(`
steps:
  - id: refund
    pipeline: ./refund.pipeline.yaml
    input: {order: "A-1"}
    on_error: {steps: [{id: note, tool: act, args: {who: "\${error.step} \${error.code}"}}], then: continue}
output: \${steps.refund}
`);
  const view = {
    status: 'failed',
    output: null,
    failed_at: 'pay',
    error: { code: 'TOOL_ERROR', message: expect.stringContaining('step "pay"') },
  };
  expect(document).toMatchObject({ status: 'completed', output: view });
  expect(whoOf(desk)).toEqual(['check A-1', 'pay A-1', 'tidy', 'refund/pay TOOL_ERROR']);
});

test('an input that does not fit fails the step, and starts no run', async () => {
  const desk = await openShop();
  const document = await desk.run(
    'steps: [{id: refund, pipeline: ./refund.pipeline.yaml, input: "${input}"}]',
    { order: 5 },
  );
  expect(document).toMatchObject({ status: 'failed', error: { code: 'INPUT_INVALID' } });
  expect(await desk.runtime.runs.list({ parent: document.run_id })).toEqual([]);
});

test('a retry continues inside the failed run, and keeps its results [DS-BELOW-02]', async () => {
  const desk = await openShop();
  desk.down('pay');
  const failed = await desk.run(one);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'TOOL_ERROR' } });
  desk.down('');
  const fresh = await openAt(desk.config);
  const done = await fresh.runtime.runs.retry(failed.run_id);
  expect(done).toMatchObject({ status: 'completed', output: 1 });
  expect(childOf(done, 'refund')).toBe(childOf(failed, 'refund'));
  expect(whoOf(desk)).toEqual(['check A-1', 'pay A-1', 'tidy', 'pay A-1', 'tidy']);
  const keys = callsOf(desk).flatMap(({ who, key }) => (who === 'pay A-1' ? [key] : []));
  expect(new Set(keys).size).toBe(1);
});

test('a retry from an inner step continues there, but only for a failed run', async () => {
  const desk = await openShop();
  desk.down('pay');
  const failed = await desk.run(one);
  const { retry } = desk.runtime.runs;
  await expect(retry(failed.run_id, { from: 'refund/nothing' })).rejects.toMatchObject({ code: 'USAGE' });
  desk.down('');
  const done = await retry(failed.run_id, { from: 'refund/check' });
  expect(done.status).toBe('completed');
  expect(whoOf(desk)).toEqual(['check A-1', 'pay A-1', 'tidy', 'check A-1', 'pay A-1', 'tidy']);
  desk.down('last');
  const later = await desk.run(`${one.replace('}]', '}\n  ,{id: last, tool: act, args: {who: last}}]')}`);
  await expect(retry(later.run_id, { from: 'refund/pay' })).rejects.toMatchObject({ code: 'USAGE' });
});

test('a restart of the whole step is another run, and repeated requests keep their key', async () => {
  const desk = await openShop();
  desk.down('pay');
  const failed = await desk.run(one);
  desk.down('');
  const done = await desk.runtime.runs.retry(failed.run_id, { from: 'refund' });
  expect(done.status).toBe('completed');
  expect(childOf(done, 'refund')).not.toBe(childOf(failed, 'refund'));
  expect(new Set(callsOf(desk).map(({ key }) => key)).size).toBe(3);
});

test('each attempt of `retry` is a separate run with the keys of the first [DS-BELOW-03]', async () => {
  const desk = await openShop();
  desk.down('pay');
  const document = await desk.run(`
steps:
  - id: refund
    pipeline: ./refund.pipeline.yaml
    input: {order: "A-1"}
    retry: {max: 2, backoff: 10ms}
`);
  expect(document).toMatchObject({ status: 'failed', error: { code: 'TOOL_ERROR' } });
  expect(await desk.runtime.runs.list({ parent: document.run_id })).toHaveLength(3);
  expect(callsOf(desk)).toHaveLength(9);
  expect(new Set(callsOf(desk).map(({ key }) => key)).size).toBe(3);
});

const asking = `
steps:
  - {id: check, tool: act, args: {who: check}}
  - {id: pay, tool: consent, args: {who: pay}}
output: \${steps.pay.result.n}
`;

test('a nested wait for a person makes the outermost run wait, and a decision continues it [DS-BELOW-04]', async () => {
  const desk = await openShop();
  writePipeline(desk.folder, asking, 'inner');
  writePipeline(desk.folder, 'steps: [{id: in, pipeline: ./inner.pipeline.yaml}]', 'middle');
  const waits = await desk.run('steps: [{id: out, pipeline: ./middle.pipeline.yaml}]');
  expect(waits).toMatchObject({ status: 'pending', pending: [{ step: 'out/in/pay/call' }] });
  expect(outline(waits)).toEqual(['out/in pipeline pending']);
  const call = pendingOf(waits);
  const { run_id: inner, root_run_id: root } = await desk.runtime.pending.show(call);
  expect(root).toBe(waits.run_id);
  const { resume, retry, cancel } = desk.runtime.runs;
  for (const refused of [resume(inner), retry(inner), cancel(inner, { by: 'ada' })])
    await expect(refused).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(waits.run_id),
    });
  writePipeline(desk.folder, 'steps: [{id: other, tool: act, args: {who: other}}]', 'inner');
  await desk.runtime.pending.approve(call, { by: 'ada' });
  const fresh = await openAt(desk.config);
  expect(await fresh.runtime.runs.resume(waits.run_id)).toMatchObject({ status: 'completed' });
  // The child uses the file as it was at the start of the run, and nothing runs twice.
  expect(whoOf(desk)).toEqual(['check', 'pay']);
});

test('cancelling a run cancels those below it', async () => {
  const desk = await openShop();
  writePipeline(desk.folder, asking, 'inner');
  const waits = await desk.run('steps: [{id: in, pipeline: ./inner.pipeline.yaml}]');
  const call = pendingOf(waits);
  await desk.runtime.runs.cancel(waits.run_id, { by: 'ada' });
  const [child] = await desk.runtime.runs.list({ parent: waits.run_id });
  expect(child?.status).toBe('cancelled');
  expect(await desk.runtime.pending.show(call)).toMatchObject({ status: 'cancelled' });
});

test('a step that times out ends its run, whose `finally` still runs', async () => {
  const desk = await openShop();
  const slow = 'steps: [{id: long, wait: 1h}]\nfinally: [{id: tidy, tool: act, args: {who: tidy}}]';
  writePipeline(desk.folder, slow, 'slow');
  const document = await desk.run('steps: [{id: in, pipeline: ./slow.pipeline.yaml, timeout_ms: 300}]');
  expect(document).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } });
  const [child] = await desk.runtime.runs.list({ parent: document.run_id });
  expect([child?.status, whoOf(desk)]).toEqual(['failed', ['tidy']]);
});

test('with fail_fast the first failure ends the others, including those that wait for a person', async () => {
  const desk = await openShop();
  writePipeline(desk.folder, asking, 'inner');
  const document = await desk.run(`
steps:
  - id: both
    fail_fast: true
    parallel:
      - {id: waits, pipeline: ./inner.pipeline.yaml}
      - id: late
        steps:
          - {id: nap, wait: 500ms}
          - {id: fails, pipeline: ./refund.pipeline.yaml, input: "\${input}"}
`);
  expect(document).toMatchObject({ status: 'failed', error: { code: 'INPUT_INVALID' } });
  expect(await desk.runtime.pending.list()).toEqual([]);
  const children = await desk.runtime.runs.list({ parent: document.run_id });
  expect(children.filter(({ status }) => status !== 'failed')).toEqual([]);
});

test('a run that had ended when its parent was killed does not run again [DS-BELOW-05]', async () => {
  const desk = await openShop();
  const document = await desk.run(one);
  const child = childOf(document, 'refund');
  await desk.runtime.close();
  // The state after a kill between the end of the child and the record of the step.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(desk.folder, '.signalbox/state.db'));
  database.exec(
    "DELETE FROM steps WHERE step = 'refund'; UPDATE runs SET status = 'running', output = NULL WHERE id NOT IN (SELECT id FROM run_parents)",
  );
  database.close();
  const fresh = await openAt(desk.config);
  const resumed = await fresh.runtime.runs.resume(document.run_id);
  expect(resumed).toMatchObject({ status: 'completed', output: 1 });
  expect([childOf(resumed, 'refund'), callsOf(desk).length]).toEqual([child, 3]);
});

test('a loop over pipelines runs them concurrently, and long outputs pass between the runs', async () => {
  const desk = await openShop();
  const long = 'x'.repeat(5_000);
  writePipeline(
    desk.folder,
    'steps: [{id: a, tool: act, args: {who: a}}]\noutput: {text: "${input.text}", n: "${input.n}"}',
    'echo',
  );
  const document = await desk.run(
    `
steps:
  - {id: each, for_each: "\${input.items}", concurrency: 4, pipeline: ./echo.pipeline.yaml, input: {n: "\${item}", text: "\${input.text}"}}
output: \${steps.each.items.map(i, i.output)}
`,
    { items: [1, 2, 3, 4, 5], text: long },
  );
  expect(document.output).toEqual([1, 2, 3, 4, 5].map((n) => ({ text: long, n })));
  const store = await openSqliteStore(join(desk.folder, '.signalbox/state.db'));
  onTestFinished(() => store.close());
  expect(await store.summarizeRuns({ root: document.run_id }, Date.now())).toHaveLength(5);
  expect(readFileSync(join(desk.folder, 'calls'), 'utf8').split('\n')).toHaveLength(6);
});
