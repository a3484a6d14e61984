import type { RunHistoryEntry, StepPage, StepRecord } from '../store.ts';
import { fromKeptRecord } from './record-parts.ts';
import {
  enumOf,
  jsonOrNull,
  numberOf,
  numberOrNull,
  type Row,
  textOf,
  textOrNull,
  verifyChecksum,
} from './row.ts';
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
  // Steps of a run stand close together: they are read in the order of the table, and not sorted for each page.
  const first = prepare('SELECT min(seq) AS seq FROM steps WHERE run_id = :run_id');
  const page = prepare(`
    SELECT *, checksum(step, outcome) AS actual FROM steps
    WHERE +run_id = :run_id AND seq > :behind ORDER BY seq LIMIT :limit`);
  const history = prepare(
    'SELECT what, subject FROM moments WHERE run_id = :run_id ORDER BY seq LIMIT :limit',
  );
  return {
    /** Returns how often it has begun. */
    begin: (runId: string, step: string, at: number) =>
      numberOf(begin.get({ run_id: runId, step, at }) ?? {}, 'attempts'),
    /** Whether it had not ended before. */
    end: ({ runId, step, outcome, at }: EndedStep) => end.run({ run_id: runId, step, outcome, at }) === 1,
    list: (runId: string, texts: TextSource): StepRecord[] => {
      const rows = list.all({ run_id: runId });
      const refs = rows.length === 0 ? new Map<string, string>() : texts.allRefs(runId);
      return rows.map((row) => stepFromRow(row, refs, texts));
    },
    page: (
      runId: string,
      { behind, limit }: { readonly behind?: number | undefined; readonly limit: number },
      texts: Pick<TextSource, 'refsAmong' | 'load'>,
    ): StepPage => {
      const from = behind ?? (numberOrNull(first.get({ run_id: runId }) ?? { seq: null }, 'seq') ?? 0) - 1;
      const rows = page.all({ run_id: runId, behind: from, limit });
      const refs = texts.refsAmong(
        runId,
        rows.map((row) => textOf(row, 'step')),
      );
      const steps = rows.map((row) => stepFromRow(row, refs, texts));
      const last = rows.at(-1);
      return { steps, place: last && numberOf(last, 'seq') };
    },
    /** In the order in which it was kept. */
    history: (runId: string, limit = -1): RunHistoryEntry[] =>
      history.all({ run_id: runId, limit }).map(entryFromRow),
  };
}

interface EndedStep {
  readonly runId: string;
  readonly step: string;
  readonly outcome: string;
  readonly at: number;
}

/** The references of a run's records, and the texts that they refer to. */
interface TextSource {
  allRefs(runId: string): ReadonlyMap<string, string>;
  refsAmong(runId: string, steps: readonly string[]): ReadonlyMap<string, string>;
  load(runId: string): (step: string, number: number) => string;
}

/** A step, with the references of the run's records by step. Throws Damaged. */
export function stepFromRow(
  row: Row,
  refs: Pick<ReadonlyMap<string, string>, 'get'>,
  texts: Pick<TextSource, 'load'>,
): StepRecord {
  verifyChecksum(row, 'step');
  const runId = textOf(row, 'run_id');
  const own = refs.get(textOf(row, 'step'));
  const kept = textOrNull(row, 'outcome');
  return {
    step: textOf(row, 'step'),
    attempts: numberOf(row, 'attempts'),
    outcome:
      own === undefined || kept === null
        ? jsonOrNull(row, 'outcome')
        : fromKeptRecord(kept, own, { runId, load: texts.load(runId) }),
    beganAt: numberOf(row, 'began_at'),
    endedAt: numberOrNull(row, 'ended_at'),
  };
}

/** An entry of the history. Throws Damaged. */
export function entryFromRow(row: Row): RunHistoryEntry {
  return { what: enumOf(row, 'what', entryKinds), subject: textOf(row, 'subject') };
}

const entryKinds: readonly RunHistoryEntry['what'][] = ['began', 'ended', 'pending', 'decided'];
