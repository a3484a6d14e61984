import { enumOf, numberOf, type Row, textOf, textOrNull } from '../sqlite/row.ts';
import { type Notice, noticeEvents } from './outbox.ts';

/** Throws Damaged. */
export function noticeFromRow(row: Row): Notice {
  return {
    seq: numberOf(row, 'seq'),
    runId: textOf(row, 'run_id'),
    target: textOf(row, 'target'),
    event: enumOf(row, 'event', noticeEvents),
    pendingId: textOrNull(row, 'pending_id'),
    madeAt: numberOf(row, 'made_at'),
    attempts: numberOf(row, 'attempts'),
  };
}
