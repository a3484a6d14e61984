import { cutValue } from '../../base/json/cut-value.ts';
import { stringifyJson } from '../../base/json/json.ts';
import type { Role } from '../file/model.ts';
import type { CaseRecord, CaseResult, Failure, RunHeader } from '../record.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';

export type RoleOf = (evalId: string) => Role;

export function roleLookup({ evals }: Pick<RunHeader, 'evals'>): RoleOf {
  const roles = new Map(evals.map(({ id, role }) => [id, role]));
  return (evalId) => roles.get(evalId) ?? 'assertion';
}

/** The failed evals of a case, or the case itself if only its own threshold was missed. */
export function failuresOf(record: CaseRecord, roleOf: RoleOf): readonly Failure[] {
  if (record.passed) return [];
  const { id, variant, file, line, row } = record;
  const fields = row === undefined ? {} : { fields: briefFields(row) };
  const location = { case: id, ...(variant === undefined ? {} : { variant }), file, line };
  const failed = record.results.filter((result) => classifyResult(record, result, roleOf) !== 'good');
  const unanswered = record.epochs.find(({ subject }) => subject?.status === 'failed')?.subject;
  if (failed.length === 0) {
    const fault = unanswered?.error;
    const detail =
      fault === undefined
        ? 'the case misses its own threshold'
        : `the subject gave no answer: ${fault.message}`;
    return [{ ...location, eval: 'case', score: record.score, detail, ...fields }];
  }
  const reported = unanswered === undefined ? failed : withoutRepeats(failed);
  return reported.map(({ eval: evalId, score, detail }) => {
    const fault = resultsOf(record, evalId).find(({ error }) => error !== undefined)?.error;
    return {
      ...{ ...location, eval: evalId, score, detail },
      ...(fault && { code: fault.code, ...(fault.hint !== '' && { hint: fault.hint }) }),
      ...fields,
    };
  });
}

/** Without an answer of the subject, all evals have the same detail. */
function withoutRepeats(failed: readonly CaseResult[]): readonly CaseResult[] {
  return failed.filter(({ score, detail }, index) => {
    return (
      score !== null || failed.findIndex((each) => each.score === null && each.detail === detail) === index
    );
  });
}

/** Metrics never make a case fail, and a passed case has no failures. */
export function classifyResult(
  { passed: isCasePassed }: CaseRecord,
  { eval: id, score, passed }: CaseResult,
  roleOf: RoleOf,
): 'good' | 'failed' | 'unscored' {
  if (passed || isCasePassed || roleOf(id) === 'metric') return 'good';
  return score === null ? 'unscored' : 'failed';
}

/** Milliseconds in queues over all epochs; undefined for older records. */
export function queueMsOf(record: CaseRecord, evalId: string): number | undefined {
  return resultsOf(record, evalId).reduce<number | undefined>(
    (sum, { queue_ms: ms }) => (ms === undefined ? sum : (sum ?? 0) + ms),
    undefined,
  );
}

/** Milliseconds over all epochs. */
export function durationMsOf(record: CaseRecord, evalId: string): number {
  return resultsOf(record, evalId).reduce((sum, { duration_ms: ms }) => sum + ms, 0);
}

export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : stringifyJson(value);
}

function briefFields(row: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const short = (text: string, longest: number) =>
    text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
  const fields = Object.entries(row).slice(0, MOST_FIELDS);
  return Object.fromEntries(
    fields.map(([name, value]) => {
      // Cut before serialization, because a field may have megabytes.
      const brief = cutValue(value, { characters: 2 * LONGEST_VALUE, items: LONGEST_VALUE }).value;
      return [short(name, LONGEST_NAME), short(fieldText(brief), LONGEST_VALUE)];
    }),
  );
}

const MOST_FIELDS = 12;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 200;
