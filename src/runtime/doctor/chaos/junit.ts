import { openFileSink } from '../../../suites/report/file-sink.ts';
import {
  escapeText,
  newJunitSuites,
  type TestCase,
  toElement,
} from '../../../suites/report/junit-document.ts';
import type { ChaosCell, ChaosReport } from './report.ts';

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
    for (const { hook, why } of untried) suites.open(hook).add(toSkipped(hook, why));
    await suites.write(sink, { suite: `doctor ${config}`, duration_ms: ms }, (hook) => {
      const place = places.get(hook);
      return place === undefined ? {} : { declared: `${place.file}:${place.line}:${place.column}` };
    });
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
  if (isClosed) return { ...about, kind: 'passed', content: '' };
  if (rule !== null)
    return { ...about, kind: 'skipped', content: skippedElement(`passes by the rule ${rule}`) };
  const message = `the hook ${title}, and the event passes by no documented rule (verdict: ${verdict})`;
  return { ...about, kind: 'failure', content: toElement('failure', { message, type: 'open' }) };
}

function toSkipped(hook: string, why: string): TestCase {
  return { name: 'not tried', classname: hook, ms: 0, kind: 'skipped', content: skippedElement(why) };
}

function skippedElement(why: string): string {
  return toElement('skipped', {}, escapeText(why));
}
