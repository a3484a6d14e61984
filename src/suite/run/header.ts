import type { Suite } from '../file/model.ts';
import { nameReduction } from '../file/reduction.ts';
import type { RunHeader } from './record.ts';

/** How a run of this suite, of so many cases as far as is known, introduces itself. */
export function toHeader(suite: Suite, runId: string, startedAt: Date, total: number | null): RunHeader {
  return {
    run_id: runId,
    suite: suite.name,
    file: suite.file,
    started_at: startedAt.toISOString(),
    epochs: suite.epochs,
    evals: suite.evals.map(({ id, role, weight, reducer, judged }) => ({
      id,
      type: judged.kind === 'check' ? judged.type : judged.kind,
      role,
      weight,
      reducer: nameReduction(reducer),
    })),
    total,
  };
}
