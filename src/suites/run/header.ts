import type { Suite } from '../file/model.ts';
import { nameReduction } from '../file/reduction.ts';
import type { RunHeader } from '../record.ts';

/** Builds the header of a run; `rows` is how many rows will be judged, null where that is unknown. */
export function toHeader(suite: Suite, runId: string, startedAt: Date, rows: number | null): RunHeader {
  const { variants } = suite;
  return {
    run_id: runId,
    suite: suite.name,
    file: suite.file,
    started_at: startedAt.toISOString(),
    epochs: suite.epochs,
    evals: suite.evals.map(({ id, role, weight, reducer, check }) => ({
      id,
      type: check.kind === 'check' ? check.type : check.kind,
      role,
      weight,
      reducer: nameReduction(reducer),
    })),
    total: rows === null ? null : rows * (variants?.length ?? 1),
    ...(variants && { variants: variants.map(({ subject: _subject, ...named }) => named) }),
  };
}
