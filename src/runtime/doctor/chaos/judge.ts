import { Json } from '../../../base/json/json.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type { Trial } from '../../../dialects/foreign-dialect.ts';
import { failedOpenIn } from '../../../dialects/metadata.ts';
import type { Fault } from './faults.ts';
import type { ChaosCell } from './report.ts';

/** What the judge has to know of a cell. */
export interface Judged {
  readonly hook: string;
  readonly point: string;
  readonly fault: Pick<Fault, 'says'>;
  /** Absent for a native hook, which no rule lets pass. */
  readonly trial?: Pick<Trial, 'failsOpenBy' | 'passesAt'> | undefined;
}

/**
 * Whether the decision stops the event, and if it does not, by which documented rule it passes: the one that the decision
 * itself names, else that of an answer which is no failure in its system; null where there is none.
 */
export function judge(
  { verdict, metadata }: Pick<DecisionDocument, 'verdict' | 'metadata'>,
  { hook, point, fault, trial }: Judged,
): Pick<ChaosCell, 'isClosed' | 'rule'> {
  if (stops(verdict)) return { isClosed: true, rule: null };
  const named = failedOpenIn(Json.from(metadata)).find((each) => each.hook === hook)?.cause;
  if (named !== undefined) {
    return { isClosed: false, rule: trial?.failsOpenBy.includes(named) === true ? named : null };
  }
  const { says } = fault;
  return { isClosed: false, rule: (says && trial?.passesAt(point)[says]) ?? null };
}

/** A question stops the event until a person has answered. */
function stops(verdict: DecisionDocument['verdict']): boolean {
  return verdict === 'deny' || verdict === 'abort' || verdict === 'ask';
}
