import type { RunHistoryEntry } from '../store.ts';
import type { Database } from './database.ts';
import { enumOf, type Row, textOf } from './row.ts';

/** What happened to the steps and calls of a run, in the order in which it was kept; triggers write it. */
export interface HistoryTable {
  list(runId: string): RunHistoryEntry[];
}

export function createHistoryTable({ prepare }: Database): HistoryTable {
  const list = prepare('SELECT what, subject FROM moments WHERE run_id = :run_id ORDER BY seq');
  return { list: (runId) => list.all({ run_id: runId }).map(entryFromRow) };
}

function entryFromRow(row: Row): RunHistoryEntry {
  return { what: enumOf(row, 'what', entryKinds), subject: textOf(row, 'subject') };
}

const entryKinds: readonly RunHistoryEntry['what'][] = ['began', 'ended', 'pending', 'decided'];
