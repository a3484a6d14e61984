import type { RunHistoryEntry, StepRecord } from '../store.ts';
import { enumOf, jsonOrNull, numberOf, numberOrNull, type Row, textOf, verifyChecksum } from './row.ts';
import type { Preparing } from './statement.ts';

export type StepTable = ReturnType<typeof createStepTable>;

/** The statements over steps, and over the history of a run, which triggers write. What changes something needs a write transaction. */
export function createStepTable({ prepare }: Preparing) {
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
  const history = prepare('SELECT what, subject FROM moments WHERE run_id = :run_id ORDER BY seq');
  return {
    /** Returns how often it has begun. */
    begin: (runId: string, step: string, at: number) =>
      numberOf(begin.get({ run_id: runId, step, at }) ?? {}, 'attempts'),
    end: ({ runId, step, outcome, at }: EndedStep) => void end.run({ run_id: runId, step, outcome, at }),
    list: (runId: string): StepRecord[] => list.all({ run_id: runId }).map(stepFromRow),
    /** In the order in which it was kept. */
    history: (runId: string): RunHistoryEntry[] => history.all({ run_id: runId }).map(entryFromRow),
  };
}

interface EndedStep {
  readonly runId: string;
  readonly step: string;
  readonly outcome: string;
  readonly at: number;
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

function entryFromRow(row: Row): RunHistoryEntry {
  return { what: enumOf(row, 'what', entryKinds), subject: textOf(row, 'subject') };
}

const entryKinds: readonly RunHistoryEntry['what'][] = ['began', 'ended', 'pending', 'decided'];
