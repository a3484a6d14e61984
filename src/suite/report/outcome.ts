import type { Role } from '../file/model.ts';
import type { CaseRecord, CaseResult, EvalResult, Failure, RunHeader } from '../run/record.ts';

/** Gives the role of an eval; one that is not known counts as an assertion. */
export type RoleOf = (evalId: string) => Role;

export function openRoles({ evals }: Pick<RunHeader, 'evals'>): RoleOf {
  const roles = new Map(evals.map(({ id, role }) => [id, role]));
  return (evalId) => roles.get(evalId) ?? 'assertion';
}

/** What a failed case failed by; of one that misses only its own threshold, the case itself. */
export function failuresOf(record: CaseRecord, roleOf: RoleOf): readonly Failure[] {
  if (record.passed) return [];
  const place = { case: record.id, file: record.file, line: record.line };
  const failed = record.results.filter((result) => meaningOf(record, result, roleOf) !== 'good');
  if (failed.length === 0)
    return [{ ...place, eval: 'case', score: record.score, detail: whyFailed(record) }];
  const told = record.epochs.some(({ subject }) => subject?.status === 'failed') ? tellOnce(failed) : failed;
  return told.map(({ eval: id, score, detail }) => ({
    ...{ ...place, eval: id, score, detail },
    ...hintOf(record, id),
  }));
}

function hintOf(record: CaseRecord, evalId: string): Pick<Failure, 'hint'> {
  const hint = askedOf(record, evalId).find(({ error }) => error !== undefined)?.error?.hint ?? '';
  return hint === '' ? {} : { hint };
}

/** Without an answer no eval was asked, and all say the same. */
function tellOnce(failed: readonly CaseResult[]): readonly CaseResult[] {
  return failed.filter(({ score, detail }, index) => {
    return (
      score !== null || failed.findIndex((each) => each.score === null && each.detail === detail) === index
    );
  });
}

function whyFailed({ epochs }: CaseRecord): string {
  const fault = epochs.find(({ subject }) => subject?.status === 'failed')?.subject?.error;
  return fault === undefined
    ? 'the case misses its own threshold'
    : `the subject gave no answer: ${fault.message}`;
}

/** What a result does to its case: metrics do nothing, and neither does anything to a case that passes as a whole. */
export function meaningOf(
  { passed: isCasePassed }: CaseRecord,
  { eval: id, score, passed }: CaseResult,
  roleOf: RoleOf,
): 'good' | 'failed' | 'unscored' {
  if (passed || isCasePassed || roleOf(id) === 'metric') return 'good';
  return score === null ? 'unscored' : 'failed';
}

/** What one eval said of a case, epoch by epoch. */
export function askedOf({ epochs }: CaseRecord, evalId: string): EvalResult[] {
  return epochs.flatMap(({ results }) => results.filter((result) => result.eval === evalId));
}

/** How long one eval waited for its turn in a case, all epochs together; undefined where nobody knows. */
export function queueOf(record: CaseRecord, evalId: string): number | undefined {
  return askedOf(record, evalId).reduce<number | undefined>(
    (sum, { queue_ms: ms }) => (ms === undefined ? sum : (sum ?? 0) + ms),
    undefined,
  );
}

/** How long one eval took for a case, all epochs together. */
export function durationOf(record: CaseRecord, evalId: string): number {
  return askedOf(record, evalId).reduce((sum, { duration_ms: ms }) => sum + ms, 0);
}
