import { findStrayExpressions } from '../../config/stray.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { subjectFieldsOf } from '../subject/validate-subject.ts';
import { expressionPlaces } from './expressions.ts';
import { locateFinding } from './finding.ts';
import { subjectPath } from './tree.ts';

/** Expressions that nobody evaluates. A suite with them can be run all the same, so only who checks a file is told. */
export function findStrayInSuite(document: YamlDocument): Problem[] {
  const places = [...expressionPlaces(document), ...subjectFieldsOf(document, subjectPath)];
  const evaluated = places.map(({ path }) => path);
  const findings = findStrayExpressions(document, { evaluated, data: [['spec', 'cases']] });
  return findings.map((finding) => locateFinding(document, finding));
}
