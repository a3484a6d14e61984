import { findUnevaluatedExpressions } from '../../config/stray.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { subjectFieldsOf } from '../subject/validate-subject.ts';
import { expressionFields } from './expressions.ts';
import { locateFinding } from './finding.ts';
import { subjectPath } from './suite-paths.ts';

/**
 * Finds expressions where none is evaluated. The suite can run all the same, so only `validate` reports
 * them.
 */
export function findStrayInSuite(document: YamlDocument): Problem[] {
  const places = [...expressionFields(document), ...subjectFieldsOf(document, subjectPath)];
  const evaluated = places.map(({ path }) => path);
  const findings = findUnevaluatedExpressions(document, { evaluated, data: [['spec', 'cases']] });
  return findings.map((finding) => locateFinding(document, finding));
}
