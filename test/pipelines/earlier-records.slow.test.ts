import { expect, test } from 'vitest';
import type { RunDocument } from '../../src/contract/run.ts';
import { pipelines } from '../fixtures/records/pipelines.ts';
import { type Desk, outline } from './desk.ts';
import { execSql, openRecords, restoreRecords } from './records.ts';

async function runOf({ runtime }: Desk, name: string): Promise<string> {
  const run = (await runtime.runs.list()).find((each) => each.name === name);
  if (run === undefined) throw new Error(`there is no run of ${name}`);
  return run.run_id;
}

/** Decides whatever waits, and resumes until the run has ended. */
async function finish(desk: Desk, name: string): Promise<RunDocument> {
  const { runs, pending } = desk.runtime;
  const id = await runOf(desk, name);
  for (let round = 1; ; round += 1) {
    for (const { id: call, tool, run_id } of await pending.list()) {
      if (run_id !== id) continue;
      if (tool === 'guarded') await pending.respond(call, { by: 'mara', result: 'by hand' });
      else await pending.approve(call, { by: 'mara', reason: 'fine' });
    }
    const document = await runs.resume(id);
    if (document.status !== 'pending' || round === 5) return document;
  }
}

const paid = (n: number) => expect.stringContaining(`"args":{"n":${n}},"approval":{"id":"pending_`);

const ends = [
  {
    name: 'steps',
    output: { wait: { args: { n: 250 } }, last: { n: expect.anything() }, mended: { n: expect.anything() } },
    steps: 'one, bad failed, never skipped, score, left, right failed, mended, both, wait, last',
    made: {
      notes: ['{"args":{"score":0.5,"left":12345678901234567890,"bad":"PROCESS_EXIT"}}'],
      refunds: [paid(250)],
    },
  },
  {
    name: 'chat',
    output: {
      text: expect.stringMatching(/^good \["paid","Tool \\"fail\\" failed/),
      rounds: 3,
      guardrails: [{ id: 'good', score: 1 }],
      messages: { length: 6 },
    },
    steps: 'answer',
    made: { payments: [paid(2)] },
  },
  {
    name: 'loop',
    output: ['paid', 'paid', 'paid'],
    steps: 'each[0], each[1], each[2], each',
    made: { payments: [paid(2), '{"args":{"n":1}}'] },
  },
  { name: 'again', output: { result: 'by hand' }, steps: 'guard', made: { guarded: [] } },
  {
    name: 'killed',
    output: { result: { args: { n: 1 } } },
    steps: 'note, act',
    made: { notes: [], onces: ['{}', paid(1)] },
  },
  {
    name: 'hooks',
    output: { text: 'last of 15', rounds: 7, failed_open: { length: 4 } },
    steps: 'talk',
    made: { lists: [paid(2), paid(3), '{"args":{"n":1}}'] },
  },
  { name: 'beside', output: 'last of 10', steps: 'talk, wait', made: { lists: [paid(2)] } },
  { name: 'pay', output: 'paid', steps: 'call', made: { payments: [paid(3)] } },
];

test.each(ends)(
  'the run "$name" of an earlier Signalbox is resumed to its end, and does nothing twice',
  async ({ name, output, steps, made }) => {
    const desk = await openRecords(restoreRecords(), pipelines[name]?.config ?? 'native');
    const end = await finish(desk, name);
    expect(end.status).toBe('completed');
    if (typeof output === 'string') expect(end.output).toBe(output);
    else expect(end.output).toMatchObject(output);
    expect(
      outline(end)
        .map((line) =>
          line.replace(/ \w+ ok$| \w+ (?=skipped|failed)/, (found) => (found.endsWith('ok') ? '' : ' ')),
        )
        .map((line) => line.replace(/ [A-Z_]+$/, ''))
        .join(', '),
    ).toBe(steps);
    for (const [file, lines] of Object.entries(made)) expect([file, desk.lines(file)]).toEqual([file, lines]);
  },
);

const damaged = [
  { name: 'steps', step: 'wait/call', kind: 'tool call', from: '"outcome"' },
  { name: 'steps', step: 'one', kind: 'outcome', from: '"view"' },
  { name: 'chat', step: 'answer/attempt-2/round-1', kind: 'model answer', from: '"usage"' },
  { name: 'hooks', step: 'talk/turn', kind: 'turn', from: '"messages"' },
];

test.each(damaged)(
  'a run whose record of $step lacks $from says so, names both, stays, and can be cancelled',
  async ({ name, step, kind, from }) => {
    const folder = restoreRecords();
    const change = `outcome = replace(outcome, '${from}:', '"other":'), sum = NULL`;
    execSql(folder, `UPDATE steps SET ${change} WHERE step = '${step}'`);
    const desk = await openRecords(folder, pipelines[name]?.config ?? 'native');
    const id = await runOf(desk, name);
    for (const { id: call, run_id } of await desk.runtime.pending.list()) {
      if (run_id === id) await desk.runtime.pending.respond(call, { by: 'mara', result: 'by hand' });
    }
    const refused = desk.runtime.runs.resume(id);
    await expect(refused).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(
        `^run ${id}, step ".*": its ${kind} cannot be read: .*${from.slice(1, -1)}" is missing$`,
      ),
      hint: expect.stringContaining(`runs cancel ${id}`),
      details: { run_id: id, step },
    });
    expect(await desk.runtime.runs.cancel(id, { by: 'mara' })).toMatchObject({ status: 'cancelled' });
    expect(await desk.runtime.runs.show(id)).toMatchObject({ status: 'cancelled' });
    expect([...desk.lines('payments'), ...desk.lines('refunds'), ...desk.lines('lists')]).toEqual([]);
  },
);
