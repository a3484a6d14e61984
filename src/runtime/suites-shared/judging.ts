import type { SuiteOptions } from '../../suites/suite-run.ts';

/** What the cases of a suite are judged with. */
export type Judging = Pick<
  SuiteOptions,
  | 'keepGoing'
  | 'window'
  | 'epochConcurrency'
  | 'fire'
  | 'scrub'
  | 'scrubRow'
  | 'subject'
  | 'variants'
  | 'score'
  | 'aroundEpoch'
  | 'onFound'
>;
