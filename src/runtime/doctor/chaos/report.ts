import type { SourceLocation } from '../../../base/yaml/problem.ts';
import { type TestCase, writeJunitFile } from '../../../suites/report/junit.ts';

export interface ChaosCell {
  readonly hook: string;
  readonly dialect: string;
  readonly moment: string;
  readonly fault: string;
  readonly title: string;
  readonly verdict: string;
  readonly isClosed: boolean;
  /** The documented rule by which the event passed; null if it was stopped or no rule applies. */
  readonly rule: string | null;
  readonly ms: number;
}

export interface UntriedHook {
  readonly hook: string;
  readonly why: string;
  /**
   * `never asked`: no decision is requested from it, by design. `unproven`: it could not be tried. `unreached`: no
   * event matches it.
   */
  readonly state: 'never asked' | 'unproven' | 'unreached';
}

export interface ChaosReport {
  readonly config: string;
  readonly cells: readonly ChaosCell[];
  readonly faults: readonly { readonly name: string; readonly title: string }[];
  readonly untried: readonly UntriedHook[];
  readonly places: ReadonlyMap<string, SourceLocation>;
  readonly ms: number;
}

/**
 * Writes JUnit: a `testsuite` for each hook, a `testcase` for each cell. An event that passes without a rule is a
 * failure. One that passes by a rule, and a hook that was not tried, is skipped. Throws FILE_UNREADABLE.
 */
export async function writeChaosJunit(report: ChaosReport, file: string): Promise<void> {
  const { config, cells, untried, places, ms } = report;
  await writeJunitFile(file, { name: `doctor ${config}`, ms }, (suites) => {
    for (const cell of cells) suites.open(cell.hook).add(toTestCase(cell));
    for (const { hook, why } of untried)
      suites.open(hook).add({ ...notTried, classname: hook, message: why });
    for (const { hook } of [...cells, ...untried]) {
      const place = places.get(hook);
      if (place === undefined) continue;
      suites.open(hook).properties = { declared: `${place.file}:${place.line}:${place.column}` };
    }
  });
}

function toTestCase({
  hook,
  dialect,
  moment,
  fault,
  title,
  verdict,
  isClosed,
  rule,
  ms,
}: ChaosCell): TestCase {
  const about = { name: `${moment} ${fault}`, classname: `${hook}.${dialect}`, ms };
  if (isClosed) return { ...about, kind: 'passed' };
  if (rule !== null) return { ...about, kind: 'skipped', message: `passes by the rule ${rule}` };
  const message = `the hook ${title}, and the event passes without a documented rule (verdict: ${verdict})`;
  return { ...about, kind: 'failure', message, type: 'open' };
}

const notTried = { name: 'not tried', ms: 0, kind: 'skipped' } as const;
