import type { YamlDocument } from '../base/yaml/document.ts';
import { type Finding, locateFinding as locate } from '../base/yaml/finding.ts';
import type { Problem } from '../base/yaml/problem.ts';
import { runtimeSchema } from './schema/schema.ts';

/** The finding as a problem of the RuntimeConfig file, with its position. */
export function locateFinding(document: YamlDocument, finding: Finding): Problem {
  return locate(document, finding, runtimeSchema);
}
