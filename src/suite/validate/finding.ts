import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { describePath } from '../../yaml/schema-path.ts';
import { suiteSchema } from '../schema/suite-schema.ts';

/** Something that is wrong at a place of the suite. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity?: Problem['severity'];
}

/** Turns a finding into a problem with its position in the file. */
export function locateFinding(
  document: YamlDocument,
  { path, message, hint, severity = 'error' }: Finding,
): Problem {
  return {
    ...document.positionOf(path),
    severity,
    message: `${describePath(path, suiteSchema)}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  };
}
