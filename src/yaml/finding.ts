import type { Path } from './document.ts';
import type { Problem } from './problem.ts';

/** Something to say about the value at a path of a document. */
export interface Finding {
  readonly severity: Problem['severity'];
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Point at the key instead of its value. */
  readonly atKey?: boolean;
}
