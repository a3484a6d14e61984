import { escapeInvisibleLine as oneLine } from '../../../text/escape-invisible.ts';
import { type CollectedJunit, collectJunit } from '../junit/junit.ts';
import { newJunitSuites, writeDocument } from '../junit/suites.ts';
import { escapeText, toElement } from '../junit/xml.ts';
import type { OpenSeveralReporter, SuiteOutcome } from './outcome.ts';

/** One document with the test suites of all, each named `SUITE.EVAL`; a suite that has no report is an error. */
export const openSeveralJunit: OpenSeveralReporter = (sink) => {
  const collected = new Map<string, CollectedJunit>();
  const faults = newJunitSuites();
  return {
    async next({ suite }) {
      const own = collectJunit();
      collected.set(suite, own);
      return own.reporter;
    },
    async end({ outcomes, durationMs }) {
      for (const outcome of outcomes) addFault(faults, outcome);
      const counts = [
        ...[...collected.values()].flatMap(({ suites }) => suites.counts()),
        ...faults.counts(),
      ];
      await writeDocument(sink, { suite: 'signalbox', duration_ms: durationMs, counts }, async () => {
        for (const [suite, own] of collected) {
          await own.suites.writeSuites(sink, `${suite}.`, own.propertiesOf);
        }
        await faults.writeSuites(sink, '', () => ({}));
      });
    },
    close() {
      for (const { suites } of collected.values()) suites.close();
      faults.close();
    },
  };
};

function addFault(faults: ReturnType<typeof newJunitSuites>, outcome: SuiteOutcome): void {
  if ('report' in outcome) return;
  const { suite, file, error } = outcome;
  const message = oneLine(`[${error.code}] ${error.message}`);
  const content = toElement('error', { message, type: 'suite' }, escapeText(error.hint));
  faults
    .open(`${suite}.suite`)
    .add({ name: file, classname: `${suite}.suite`, ms: 0, kind: 'error', content });
}
