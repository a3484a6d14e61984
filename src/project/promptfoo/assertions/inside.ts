import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';

/** A place in the config, further inside; a line of another file stays what it is. */
export function inside(at: Path | SourceLocation, ...more: Path): Path | SourceLocation {
  return 'file' in at ? at : [...at, ...more];
}
