import type { ValidateFunction } from 'ajv';
import type { YamlDocument } from './document.ts';
import { locateFinding } from './finding.ts';
import type { Problem } from './problem.ts';
import { sortProblems } from './problem.ts';
import { findViolations, type Violation } from './violation.ts';

export { formatProblem } from './problem.ts';

/** The violations of one of our JSON Schemas (2020-12) in the document, as problems in file order. */
export function checkSchema(document: YamlDocument, schema: object, validate?: ValidateFunction): Problem[] {
  if (document.value === undefined) return [];
  return sortProblems(
    findViolations(document.value, schema, validate).map((violation) =>
      locateViolation(document, violation, schema),
    ),
  );
}

/** A violation as an error: unknown keys and names at the key, what is missing at the name of its parent. */
export function locateViolation(document: YamlDocument, violation: Violation, schema: object): Problem {
  return locateFinding(document, { ...violation, atKey: violation.kind !== 'value' }, schema);
}
