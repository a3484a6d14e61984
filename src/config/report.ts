import type { YamlDocument } from '../yaml/document.ts';
import type { Finding } from '../yaml/finding.ts';
import type { Problem } from '../yaml/problem.ts';
import { describePath } from '../yaml/schema-path.ts';
import { runtimeSchema } from './schema/schema.ts';

/** A finding as a problem of the RuntimeConfig file, with its location. */
export function locateFinding(
  document: YamlDocument,
  { severity, path, message, hint, atKey }: Finding,
): Problem {
  const place = describePath(path, runtimeSchema);
  return {
    severity,
    ...(atKey ? document.keyPositionOf(path) : document.positionOf(path)),
    message: place === '' ? message : `${place}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  };
}
