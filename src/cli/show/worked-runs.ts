import type { Fault } from '../../base/errors.ts';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { RunStatus } from '../../contract/run.ts';

/** What became of a run that was gone on with. `busy`: somebody else executes it; `left`: it could not be gone on with, and is as it was. */
export interface GoneOn {
  readonly run_id: string;
  readonly name?: string;
  readonly status: RunStatus | 'busy' | 'left';
  readonly error?: Fault;
}

/** A line about it. */
export function goneOnText({ run_id, name, status, error }: GoneOn, took: string): string {
  const of = name === undefined ? '' : ` ${escapeInvisibleLine(name)}`;
  const why = error === undefined ? '' : `: [${error.code}] ${escapeInvisibleLine(error.message)}`;
  return `${run_id}${of}: ${status === 'busy' ? 'skipped' : status} in ${took}${why}`;
}

/** How many of them came to what. */
export function countsText(runs: readonly GoneOn[]): string {
  if (runs.length === 0) return 'there is no run to go on with';
  const words = [...Map.groupBy(runs, ({ status }) => (status === 'busy' ? 'skipped' : status))].map(
    ([word, all]) => `${all.length} ${word}`,
  );
  return `${formatCount(runs.length, 'run')}: ${words.join(', ')}`;
}
