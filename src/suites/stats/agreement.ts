import type { Agreement } from '../record.ts';
import { groupsOf, newCells } from './mergeable.ts';
import { z95 } from './tally.ts';

/** Both passed, only the eval passed, both failed, only the person passed. */
export const agreementCounts = groupsOf(4);

export type AgreementTally = ReturnType<typeof newAgreementTally>;

export function newAgreementTally() {
  const cells = newCells(4);
  return {
    add: (evalPassed: boolean, personPassed: boolean) =>
      cells.add((evalPassed ? 0 : 2) + (evalPassed === personPassed ? 0 : 1)),
    agreement: () => measureAgreement(cells.state()),
    state: cells.state,
    merge: cells.merge,
  };
}

/**
 * Cohen's kappa: agreement beyond chance, given the rates of both (Cohen 1960,
 * https://doi.org/10.1177/001316446002000104). Its standard error is the large-sample formula of Fleiss, Cohen and
 * Everitt (1969, https://doi.org/10.1037/h0028106). Null if both always gave the same verdict, which chance alone
 * explains.
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
  // For an off-diagonal cell: how often the person gives the eval's verdict plus how often the eval gives the person's.
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
