import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { RunInfo, ShownStatus } from '../../contract/run.ts';

/** The status of a run as people read it. */
export function wordOf(status: ShownStatus): string {
  return status.replaceAll('_', ' ');
}

/** The same, and what it waits for. */
export function statusText({ status, pending, lacks_worker, suspended, waits_until }: RunInfo): string {
  const waits = [
    ...(suspended === undefined
      ? []
      : [
          `[${suspended.error.code}] ${escapeInvisibleLine(suspended.error.message)}`,
          `since ${suspended.since}, tried ${suspended.tries === 1 ? 'once' : `${suspended.tries} times`}, due at ${suspended.due_at}`,
        ]),
    ...(pending > 0 ? [`${pending} to decide`] : []),
    ...(waits_until === undefined ? [] : [`waits until ${waits_until}`]),
    ...(lacks_worker ? ['no worker has its build'] : []),
  ];
  return waits.length === 0 ? wordOf(status) : `${wordOf(status)} (${waits.join('; ')})`;
}
