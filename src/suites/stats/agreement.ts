import type { Agreement } from '../record.ts';
import { groupsOf, newCells } from './mergeable.ts';
import { z95 } from './tally.ts';

/** Both passed, the eval alone, both failed, the person alone. */
export const agreementCounts = groupsOf(4);

export type AgreementTally = ReturnType<typeof newAgreementTally>;

/** Counts how often an eval and a person came to the same verdict. */
export function newAgreementTally() {
  const cells = newCells(4);
  return {
    add: (evalPassed: boolean, personPassed: boolean) =>
      cells.add((evalPassed ? 0 : 2) + (evalPassed === personPassed ? 0 : 1)),
    /** Undefined when there was no label. */
    agreement: () => measureAgreement(cells.state()),
    state: cells.state,
    merge: cells.merge,
  };
}

/**
 * Cohen's kappa: how much more often two agree than they would by chance, with the verdicts that each gives (Cohen 1960,
 * https://doi.org/10.1177/001316446002000104). Its standard error is the one for large samples of Fleiss, Cohen and Everitt (1969,
 * https://doi.org/10.1037/h0028106). Null where both always gave the same verdict: then chance alone explains everything.
 */
export function measureAgreement(counts: readonly number[]): Agreement | undefined {
  const [bothPassed = 0, evalAlone = 0, bothFailed = 0, personAlone = 0] = counts;
  const n = bothPassed + evalAlone + personAlone + bothFailed;
  if (n === 0) return undefined;
  const observed = (bothPassed + bothFailed) / n;
  const [evalPasses, personPasses] = [(bothPassed + evalAlone) / n, (bothPassed + personAlone) / n];
  const expected = evalPasses * personPasses + (1 - evalPasses) * (1 - personPasses);
  const found = {
    n,
    both_passed: bothPassed,
    only_eval: evalAlone,
    only_person: personAlone,
    both_failed: bothFailed,
    observed,
  };
  if (expected === 1) return { ...found, kappa: null, stderr: null, ci95: null };
  const kappa = (observed - expected) / (1 - expected);
  const agreed =
    (bothPassed / n) * (1 - (evalPasses + personPasses) * (1 - kappa)) ** 2 +
    (bothFailed / n) * (1 - (2 - evalPasses - personPasses) * (1 - kappa)) ** 2;
  // Of a cell off the diagonal: the share of the row's verdict with the one, and of the column's with the other.
  const disagreed =
    (1 - kappa) ** 2 *
    ((evalAlone / n) * (personPasses + 1 - evalPasses) ** 2 +
      (personAlone / n) * (1 - personPasses + evalPasses) ** 2);
  const spread = agreed + disagreed - (kappa - expected * (1 - kappa)) ** 2;
  const stderr = Math.sqrt(Math.max(0, spread) / n) / (1 - expected);
  return {
    ...found,
    kappa,
    stderr,
    ci95: [Math.max(-1, kappa - z95 * stderr), Math.min(1, kappa + z95 * stderr)],
  };
}
