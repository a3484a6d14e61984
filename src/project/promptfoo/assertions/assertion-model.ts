import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';
import type { Code } from '../code.ts';
import type { Templates } from '../nunjucks/templates.ts';
import type { Embedders } from './embedders.ts';
import type { Judges } from './judges.ts';

/** A check, why there is none, or undefined for a type that others know. */
export type FoundCheck = Check | { readonly fault: string } | undefined;

/** A check of a suite, whose params are values and no expressions. */
export type Check =
  | {
      readonly type: string;
      readonly params: Readonly<Record<string, unknown>>;
      readonly threshold?: Threshold;
    }
  | { readonly not: Check }
  | { readonly all_of: readonly Check[] }
  | { readonly any_of: readonly Check[] };

interface Threshold {
  readonly min_score: number;
}

/** An assertion of a test as an eval of the suite. */
export interface ImportedAssertion {
  /** What the eval is called: the metric, or the type. */
  readonly name: string;
  readonly check: Check;
  readonly weight: number;
}

/** An assertion with everything filled in. */
export interface GivenAssertion {
  /** Without `not-`. */
  readonly type: string;
  /** Whether it was written with `not-`. */
  readonly isInverse: boolean;
  readonly value: unknown;
  /** The assertion as it is written, for readers of further keys. */
  readonly own: Source;
  /** What is made of the answer before it is judged, in order. */
  readonly transforms: readonly Code[];
  /** The model that judges, where this assertion or its test names one. */
  readonly judge: Source | undefined;
  /** What the judge is asked, where this assertion, its test or all tests say it. */
  readonly rubricPrompt: Source | undefined;
}

export interface AssertionContext {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly templates: Source;
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly judges: Judges;
  readonly embedders: Embedders;
  readonly nunjucks: Templates;
  /** What the test makes of each answer; undefined where that cannot be run. */
  readonly transforms: readonly Code[] | undefined;
  readonly judge: GivenAssertion['judge'];
  readonly rubricPrompt: GivenAssertion['rubricPrompt'];
  /** Whether the test has a threshold, so that the mean of all scores decides, and no single verdict. */
  readonly isAggregated: boolean;
}
