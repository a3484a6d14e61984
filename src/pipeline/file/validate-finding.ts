import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { describePath } from '../../yaml/schema-path.ts';
import { pipelineSchema } from './schema.ts';

/** A problem at a path of a pipeline file. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Default: error. */
  readonly severity?: Problem['severity'];
  /** Point at the key instead of its value. */
  readonly atKey?: boolean;
}

/** The finding as a problem of its file. */
export function locateFinding(document: YamlDocument, finding: Finding): Problem {
  const { path, message, hint, severity = 'error', atKey = false } = finding;
  return {
    ...(atKey ? document.keyPositionOf(path) : document.positionOf(path)),
    severity,
    message: `${describePath(path, pipelineSchema)}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  };
}
