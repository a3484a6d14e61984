import type {
  CaseRecord,
  Classification,
  EpochRecord,
  EvalHeader,
  EvalResult,
  RunHeader,
  SuiteReport,
} from '../../../../src/suites/record.ts';
import { newRunAccumulator } from '../../../../src/suites/run-accumulator.ts';
import * as reports from '../reports.ts';

export interface Run {
  readonly header: RunHeader;
  readonly cases: readonly CaseRecord[];
  readonly report: SuiteReport;
}

export const exact: EvalHeader = {
  ...{ id: 'exact', type: 'final_number', role: 'assertion', weight: 1, reducer: 'mean' },
};

export function headerOf(members: Partial<RunHeader> = {}): RunHeader {
  return reports.headerOf({
    run_id: '3f1c2a60-52a4-4f6e-9a7e-1f2f9f0c8d11',
    file: 'suites/gsm8k.suite.yaml',
    started_at: '2026-03-02T09:14:07.000Z',
    ...members,
  });
}

export function resultOf(members: Partial<EvalResult> = {}): EvalResult {
  return reports.evalResultOf({ threshold: { min_score: 1 }, duration_ms: 2, ...members });
}

export function epochOf(members: Partial<EpochRecord> = {}): EpochRecord {
  return reports.epochOf([resultOf()], { content: 'The answer is 18.', ...members });
}

/** A case over its epochs. Its result is computed unless given. */
export function caseOf(
  number: number,
  epochs: readonly EpochRecord[],
  members: Partial<CaseRecord> = {},
): CaseRecord {
  const results = (epochs[0]?.results ?? []).map((first) => {
    const all = epochs.flatMap((epoch) => epoch.results.filter((result) => result.eval === first.eval));
    const passedEpochs = all.filter(({ passed }) => passed).length;
    return {
      eval: first.eval,
      score: meanOf(all),
      passed: passedEpochs * 2 > all.length,
      detail: first.detail,
      passed_epochs: passedEpochs,
    };
  });
  return {
    ...{
      number,
      file: 'data/solutions.jsonl',
      line: number,
      id: `case-${number}`,
      tags: [],
      epochs,
      results,
    },
    ...{ score: meanOf(results), passed: results.every(({ passed }) => passed) },
    ...members,
  };
}

function meanOf(results: readonly { readonly score: number | null }[]): number | null {
  const scores = results.flatMap(({ score }) => score ?? []);
  if (scores.length < results.length) return null;
  return scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

export function reportOf(
  header: RunHeader,
  cases: readonly CaseRecord[],
  members: Partial<SuiteReport> = {},
): SuiteReport {
  const suite = {
    ...{ name: header.suite, file: header.file, epochs: header.epochs, gates: [], variables: {} },
    dataset: { kind: 'inline', file: header.file, rows: [] },
  };
  const run = newRunAccumulator(suite as never, { header });
  for (const record of cases) run.addCase(record);
  return {
    ...run.report({ durationMs: 84_210, rows: cases.length }),
    ...{ status: 'passed', problems: [], problem_count: 0, failures: [], failure_count: 0 },
    ...members,
  };
}

export const classification: Classification = {
  true_positives: 46,
  false_positives: 3,
  true_negatives: 65,
  false_negatives: 6,
  precision: 46 / 49,
  recall: 46 / 52,
  f1: 0.911,
  f2: 0.895,
  accuracy: 0.925,
  auc: 0.957,
  roc: [
    { threshold: 1, tpr: 0, fpr: 0 },
    { threshold: 0.95, tpr: 0.52, fpr: 0 },
    { threshold: 0.9, tpr: 0.71, fpr: 0.015 },
    { threshold: 0.7, tpr: 0.88, fpr: 0.044 },
    { threshold: 0.5, tpr: 0.94, fpr: 0.19 },
    { threshold: 0.2, tpr: 1, fpr: 0.55 },
    { threshold: 0, tpr: 1, fpr: 1 },
  ],
  latency_ms: { 'pii-filter': { p50: 3.1, p99: 11.8 }, 'topic-guard': { p50: 41, p99: 120 } },
};
