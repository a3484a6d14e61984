import type { Path, YamlDocument } from '../yaml/document.ts';
import type { Problem } from '../yaml/problem.ts';
import { describePath } from '../yaml/schema-path.ts';
import { runtimeSchema } from './schema/schema.ts';

export interface Report {
  readonly severity: Problem['severity'];
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Point at the key instead of its value. */
  readonly atKey?: boolean;
}

/** Something to say about a RuntimeConfig, put in its place. */
export function report(document: YamlDocument, { severity, path, message, hint, atKey }: Report): Problem {
  const place = describePath(path, runtimeSchema);
  return {
    severity,
    ...(atKey ? document.keyPositionOf(path) : document.positionOf(path)),
    message: place === '' ? message : `${place}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  };
}
