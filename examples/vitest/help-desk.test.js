import { describeSuite } from 'signalbox/vitest';

// One test for each case of the suite, and one for each gate.
await describeSuite(new URL('./help-desk.suite.yaml', import.meta.url), {
  timeoutMs: 60_000,
});
