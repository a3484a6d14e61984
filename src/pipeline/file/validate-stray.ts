import { findStrayExpressions } from '../../config/stray.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { listFields } from './validate-fields.ts';
import { locateFinding } from './validate-finding.ts';
import { listSteps } from './validate-tree.ts';

/** Expressions that nobody evaluates. A pipeline with them can be run all the same, so only who checks a file is told. */
export function findStrayInPipeline(document: YamlDocument): Problem[] {
  const evaluated = listFields(document, listSteps(document)).map(({ path }) => path);
  const findings = findStrayExpressions(document, { evaluated, data: [['spec', 'input']] });
  return findings.map((finding) => locateFinding(document, finding));
}
