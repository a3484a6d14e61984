import { AGENT_SOURCE } from '../store-rules.ts';
import type { DueFilter, DueRuns } from '../suspension.ts';
import { enumOf, numberOrNull, textOf } from './row.ts';
import type { Preparing, Values } from './statement.ts';

export type SuspensionTable = ReturnType<typeof createSuspensionTable>;

/** The statements over what runs are set down for. What changes something needs a write transaction. */
export function createSuspensionTable({ prepare }: Preparing) {
  const remove = prepare('DELETE FROM suspensions WHERE run = (SELECT seq FROM runs WHERE id = :run_id)');
  const insert = prepare(`
    INSERT INTO suspensions (run, why, since, due_at, tries, step, error, calls)
    SELECT seq, :why, :since, :due_at, :tries, :step, :error, :calls FROM runs WHERE id = :run_id`);
  const whole = `SELECT * FROM (${dueRuns}) WHERE due IS NOT NULL ORDER BY seq`;
  const due = prepare(whole);
  const one = prepare(whole.replace('WHERE runs', 'WHERE runs.id = :id AND runs'));
  const next = prepare(`SELECT min(at) AS at FROM (
    SELECT min(due_at) AS at FROM suspensions JOIN runs ON runs.seq = suspensions.run
      WHERE runs.status = 'pending' AND due_at > :at AND NOT ${isBelow}
    UNION ALL SELECT min(expires_at) FROM pendings WHERE ruling IS NULL AND expires_at > :at)`);
  return {
    /** Null: nothing is kept of it. */
    replace: (runId: string, suspension: Values | null): void => {
      remove.run({ run_id: runId });
      if (suspension !== null) insert.run({ run_id: runId, ...suspension });
    },
    due: ({ at, withFaults = false, id }: DueFilter): DueRuns => ({
      runs: (id === undefined ? due : one)
        .all({ at, faults: withFaults ? 1 : 0, ...(id !== undefined && { id }) })
        .map((row) => ({
          id: textOf(row, 'id'),
          why: enumOf(row, 'due', ['fault', 'wait', 'decided', 'running']),
        })),
      nextAt: numberOrNull(next.get({ at }) ?? { at: null }, 'at') ?? undefined,
    }),
  };
}

const isBelow = 'EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)';

/** Whether a run, or one below it, has a call that is so. */
const hasCall = (only: string) => `(EXISTS (SELECT 1 FROM pendings WHERE run_id = runs.id ${only})
        OR EXISTS (SELECT 1 FROM run_parents AS k JOIN pendings ON run_id = k.id WHERE k.root = runs.id ${only}))`;

const dueRuns = `
  SELECT runs.seq, runs.id, CASE
      WHEN runs.status = 'running' THEN 'running'
      WHEN s.due_at <= :at OR (:faults AND s.why = 'fault') THEN s.why
      WHEN (s.why IS NULL OR s.calls)
        AND ${hasCall('')} AND NOT ${hasCall('AND ruling IS NULL')} THEN 'decided'
    END AS due
  FROM runs LEFT JOIN suspensions AS s ON s.run = runs.seq
  WHERE runs.status IN ('running', 'pending') AND NOT ${isBelow}
    AND runs.source <> '${AGENT_SOURCE}'`;
