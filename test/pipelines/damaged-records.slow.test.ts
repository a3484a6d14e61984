import { expect, test } from 'vitest';
import { pipelines } from '../fixtures/records/pipelines.ts';
import type { Desk } from './desk.ts';
import { execSql, openRecords, restoreRecords } from './records.ts';

async function runOf({ runtime }: Desk, name: string): Promise<string> {
  const run = (await runtime.runs.list()).find((each) => each.name === name);
  if (run === undefined) throw new Error(`there is no run of ${name}`);
  return run.run_id;
}

const damaged = [
  { name: 'steps', step: 'wait/call', kind: 'tool call', from: '"outcome"' },
  { name: 'steps', step: 'one', kind: 'outcome', from: '"view"' },
  { name: 'chat', step: 'answer/attempt-2/round-1', kind: 'model answer', from: '"usage"' },
  { name: 'hooks', step: 'talk/turn', kind: 'turn', from: '"messages"' },
];

test.each(damaged)(
  'a run whose record of $step lacks $from reports both, stays, and can be cancelled',
  async ({ name, step, kind, from }) => {
    const folder = restoreRecords();
    const change = `outcome = replace(outcome, '${from}:', '"other":'), sum = checksum(step, replace(outcome, '${from}:', '"other":'))`;
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
