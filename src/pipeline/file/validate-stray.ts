import { findUnevaluatedExpressions } from '../../config/stray.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { listFields } from './validate-fields.ts';
import { locateFinding } from './validate-finding.ts';
import { listSteps } from './validate-tree.ts';

/**
 * Expressions in fields that are never evaluated. Reported by validation only: such a pipeline can still run.
 */
export function findStrayInPipeline(document: YamlDocument): Problem[] {
  const evaluated = listFields(document, listSteps(document)).map(({ path }) => path);
  const findings = findUnevaluatedExpressions(document, { evaluated, data: [['spec', 'input']] });
  return findings.map((finding) => locateFinding(document, finding));
}
