import type { RunMoment } from '../store.ts';
import type { Database } from './database.ts';
import { type Row, textOf, wordOf } from './row.ts';

/** What happened to the steps and calls of a run, in the order in which it was kept; triggers write it. */
export interface MomentTable {
  list(runId: string): RunMoment[];
}

export function createMomentTable({ prepare }: Database): MomentTable {
  const list = prepare('SELECT what, subject FROM moments WHERE run_id = :run_id ORDER BY seq');
  return { list: (runId) => list.all({ run_id: runId }).map(momentFromRow) };
}

function momentFromRow(row: Row): RunMoment {
  return { what: wordOf(row, 'what', words), subject: textOf(row, 'subject') };
}

const words: readonly RunMoment['what'][] = ['began', 'ended', 'pending', 'decided'];
