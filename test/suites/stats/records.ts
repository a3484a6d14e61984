import type { Threshold } from '../../../src/contract/eval.ts';
import { readReduction } from '../../../src/suites/file/model.ts';
import type {
  CaseRecord,
  EpochRecord,
  EvalHeader,
  EvalResult,
  GuardRecord,
  RunSource,
} from '../../../src/suites/record.ts';
import { reduceCase } from '../../../src/suites/stats/epoch-reduction.ts';
import { epochOf, reportOf } from '../report/reports.ts';

export function header(id: string, more: Partial<EvalHeader> = {}): EvalHeader {
  return { id, type: 't', role: 'assertion', weight: 1, reducer: 'mean', ...more };
}

/** A result of an eval, which passes at 0.5. */
export function said(id: string, score: number | null, more: Partial<EvalResult> = {}): EvalResult {
  const threshold: Threshold = { min_score: 0.5 };
  const passed = score !== null && score >= 0.5;
  const detail = score === null ? 'no score' : `said ${score}`;
  return { eval: id, score, passed, detail, threshold, duration_ms: 1, attempts: 1, ...more };
}

export function epoch(results: readonly EvalResult[], more: Partial<EpochRecord> = {}): EpochRecord {
  return epochOf(results, { content: '', ...more });
}

export function decided(guard: Partial<GuardRecord>): GuardRecord {
  return {
    hook: 'tool',
    phase: 'before_execution',
    verdict: 'allow',
    decided_by: null,
    expected: false,
    flagged: false,
    confidence: null,
    hooks: [],
    ...guard,
  };
}

/** A case of one or more epochs, reduced as the headers say. Its score is that of the first eval. */
export function record(
  id: string,
  epochs: readonly (readonly EvalResult[])[],
  {
    evals = [header('a')],
    number = 1,
    ...more
  }: Partial<CaseRecord> & { evals?: readonly EvalHeader[] } = {},
): CaseRecord {
  const records = epochs.map((results, index) => epoch(results, { epoch: index + 1 }));
  const results = reduceCase(
    evals.map((each) => ({ id: each.id, reducer: readReduction(each.reducer) ?? { kind: 'mean' } })),
    records,
  );
  return {
    ...{ number, file: 'rows.jsonl', line: number, id, tags: [], epochs: records, results },
    score: results[0]?.score ?? null,
    passed: results.every(({ passed }) => passed),
    ...more,
  };
}

export function source(
  records: readonly CaseRecord[],
  {
    evals = [header('a')],
    epochs = 1,
    runId = 'run-1',
    isComplete = true,
  }: { evals?: readonly EvalHeader[]; epochs?: number; runId?: string; isComplete?: boolean } = {},
): RunSource {
  return {
    header: {
      ...{ run_id: runId, suite: 'demo', file: 'demo.suite.yaml', started_at: '2026-01-02T03:04:05.000Z' },
      ...{ epochs, evals, total: null },
    },
    async *cases() {
      yield* records;
    },
    report: isComplete ? reportOf({ run_id: runId, suite: 'demo' }) : undefined,
  };
}
