import type { SourceLocation } from '../../../base/yaml/problem.ts';
import { openFileSink } from '../../../suites/report/file-sink.ts';
import { newJunitSuites, type TestCase } from '../../../suites/report/junit.ts';

/** One filter, at one of its moments, with one fault in the place of its program. */
export interface ChaosCell {
  readonly hook: string;
  readonly dialect: string;
  /** The native phase or the dialect's own point. */
  readonly moment: string;
  readonly fault: string;
  /** Completes “the hook …”. */
  readonly title: string;
  /** The verdict of the whole chain. */
  readonly verdict: string;
  /** Whether the event was stopped: denied, its turn ended, or left to a person. */
  readonly isClosed: boolean;
  /** The documented rule by which the event passed; null when it was stopped, or when no rule lets it pass. */
  readonly rule: string | null;
  readonly ms: number;
}

/** A hook of the config at which there was nothing to prove, and why. */
export interface UntriedHook {
  readonly hook: string;
  readonly why: string;
  /** `never asked` by design; `unproven`: it could not be tried; `unreached`: no event of the config can be what it waits for. */
  readonly state: 'never asked' | 'unproven' | 'unreached';
}

/** What a trial of every filter of a config has shown. */
export interface ChaosReport {
  readonly config: string;
  readonly cells: readonly ChaosCell[];
  /** The faults of the cells. */
  readonly faults: readonly { readonly name: string; readonly title: string }[];
  readonly untried: readonly UntriedHook[];
  /** Where each hook that was tried is declared. */
  readonly places: ReadonlyMap<string, SourceLocation>;
  readonly ms: number;
}

/**
 * Writes the report as JUnit: a `testsuite` for each hook, a `testcase` for each cell. What is open without a rule is a
 * failure; what passes by a rule of its system, and a hook that was not tried, is skipped. Throws FILE_UNREADABLE.
 */
export async function writeChaosJunit(report: ChaosReport, file: string): Promise<void> {
  const { config, cells, untried, places, ms } = report;
  const suites = newJunitSuites();
  const sink = await openFileSink(file, { grows: false });
  try {
    for (const cell of cells) suites.open(cell.hook).add(toTestCase(cell));
    for (const { hook, why } of untried)
      suites.open(hook).add({ ...notTried, classname: hook, message: why });
    for (const { hook } of [...cells, ...untried]) {
      const place = places.get(hook);
      if (place === undefined) continue;
      suites.open(hook).properties = { declared: `${place.file}:${place.line}:${place.column}` };
    }
    await suites.write(sink, { name: `doctor ${config}`, ms });
    await sink.publish();
  } catch (thrown) {
    await sink.discard().catch(() => {});
    throw thrown;
  } finally {
    suites.close();
  }
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
  const message = `the hook ${title}, and the event passes by no documented rule (verdict: ${verdict})`;
  return { ...about, kind: 'failure', message, type: 'open' };
}

const notTried = { name: 'not tried', ms: 0, kind: 'skipped' } as const;
