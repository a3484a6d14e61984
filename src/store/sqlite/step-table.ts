import type { Json } from '../../json/json.ts';
import type { StepRecord } from '../store.ts';
import type { Database } from './database.ts';
import { jsonOrNull, numberOf, numberOrNull, type Row, textOf, verifyChecksum } from './row.ts';

/** The statements over steps. What changes something needs a write transaction. */
export interface StepTable {
  /** Returns how often it has begun. */
  begin(runId: string, step: string, at: number): number;
  end(step: {
    readonly runId: string;
    readonly step: string;
    readonly outcome: Json;
    readonly at: number;
  }): void;
  list(runId: string): StepRecord[];
}

export function createStepTable({ prepare }: Database): StepTable {
  const begin = prepare(`
    INSERT INTO steps (run_id, step, attempts, began_at) VALUES (:run_id, :step, 1, :at)
    ON CONFLICT (run_id, step) DO UPDATE SET attempts = attempts + 1
    RETURNING attempts`);
  const end = prepare(`
    INSERT INTO steps (run_id, step, attempts, outcome, began_at, ended_at, sum)
    VALUES (:run_id, :step, 0, :outcome, :at, :at, checksum(:step, :outcome))
    ON CONFLICT (run_id, step)
    DO UPDATE SET outcome = :outcome, ended_at = :at, sum = checksum(:step, :outcome) WHERE ended_at IS NULL`);
  const list = prepare(
    'SELECT *, checksum(step, outcome) AS actual FROM steps WHERE run_id = :run_id ORDER BY seq',
  );
  return {
    begin: (runId, step, at) => numberOf(begin.get({ run_id: runId, step, at }) ?? {}, 'attempts'),
    end: ({ runId, step, outcome, at }) => void end.run({ run_id: runId, step, outcome: outcome.text, at }),
    list: (runId) => list.all({ run_id: runId }).map(stepFromRow),
  };
}

function stepFromRow(row: Row): StepRecord {
  verifyChecksum(row, 'step');
  return {
    step: textOf(row, 'step'),
    attempts: numberOf(row, 'attempts'),
    outcome: jsonOrNull(row, 'outcome'),
    beganAt: numberOf(row, 'began_at'),
    endedAt: numberOrNull(row, 'ended_at'),
  };
}
