import type { Problem } from '../../config/config.ts';
import type { Path } from '../../config/document.ts';

/** Something that is wrong at a place of the suite. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
  readonly severity?: Problem['severity'];
}
