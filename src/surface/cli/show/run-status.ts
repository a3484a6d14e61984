import type { ShownStatus } from '../../../contract/run.ts';

/** The status of a run as people read it. */
export function wordOf(status: ShownStatus): string {
  return status.replaceAll('_', ' ');
}
