import { callFromRow, callToRow, changeToRow, kinToText, labelsToText, OUTPUT, runToRow } from './rows.ts';
import { toKeptRecord } from './sqlite/record-parts.ts';
import { numberOf, type Row } from './sqlite/row.ts';
import type { Change } from './sqlite/write/change.ts';
import type { Store } from './store.ts';
import { checkRunId, duplicateRunError } from './store-rules.ts';
import { keptStatus, suspensionToRow } from './suspension.ts';

export interface ChangeMaker {
  readonly location: string;
  /**
   * Resolves to what `read` makes of the answer, once the change is on the disk. Rejects with STORE_FAILED, also if `read`
   * finds damage, or the refusal of the change.
   */
  change<Result>(change: Change, read: (answer: Row) => Result): Promise<Result>;
}

export function changeMethods({
  location,
  change,
}: ChangeMaker): Pick<Store, 'createRun' | 'setRunStatus' | 'beginStep' | 'addPending'> {
  return {
    createRun: async (run) => {
      checkRunId(run.id);
      const beside = { build: run.build ?? null, isDispatched: false };
      const texts = { labels: labelsToText(run.labels), kin: kinToText(run) };
      const isNew = await change(
        { what: 'create_run', runId: run.id, run: runToRow(run), ...beside, ...texts },
        (made) => numberOf(made, 'is_new') === 1,
      );
      if (!isNew) throw duplicateRunError(run.id, location);
    },
    setRunStatus: async (id, wanted) => {
      const { at, reopens = false } = wanted;
      const status = keptStatus(wanted.status);
      const suspension = wanted.suspension === undefined ? null : suspensionToRow(wanted.suspension);
      const output = wanted.output
        ? toKeptRecord(wanted.output, { runId: id, step: OUTPUT }).record
        : wanted.output;
      const row = changeToRow(wanted, output?.text);
      const outputParts = output === undefined ? undefined : (output?.parts ?? null);
      const whole = { status, at, row, outputParts, reopens, suspension };
      return await change(
        { what: 'set_status', runId: id, change: whole },
        (made) => numberOf(made, 'stands') === 1,
      );
    },
    beginStep: async (runId, step, at, { unlessCancelled = false } = {}) => {
      return await change({ what: 'begin_step', runId, step: { step, at, unlessCancelled } }, (made) => ({
        attempt: numberOf(made, 'attempts'),
      }));
    },
    addPending: async (call) => {
      const { id, runId, createdAt: at } = call;
      return await change(
        { what: 'add_pending', runId, call: { id, at, row: callToRow(call) } },
        callFromRow,
      );
    },
  };
}
