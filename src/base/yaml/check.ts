import type { ValidateFunction } from 'ajv';
import type { Path, YamlDocument } from './document.ts';
import { type Finding, locateFinding } from './finding.ts';
import type { Problem } from './problem.ts';
import { sortProblems } from './problem.ts';
import { valueAt } from './read.ts';
import { findViolations, isMeantBy, type Violation } from './violation.ts';

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

/** Findings beyond the schema as problems, but for those that only repeat a violation of it in other words. */
export function locateFindings(
  document: YamlDocument,
  findings: readonly Finding[],
  schema: object,
): Problem[] {
  if (findings.length === 0) return [];
  return withoutEchoes(document, findings, {
    schema,
    violations: findViolations(document.value, schema),
  }).map((finding) => locateFinding(document, finding, schema));
}

/** The findings that are not only what follows from one of these violations. All of the latter must be errors. */
export function withoutEchoes<Found extends Finding>(
  document: YamlDocument,
  findings: readonly Found[],
  { schema, violations }: { readonly schema: object; readonly violations: readonly Violation[] },
): readonly Found[] {
  const isInDoubt = (path: Path) =>
    violations.some(({ kind, keyword, path: wrong }) => {
      if (kind === 'value' && keyword !== 'type') return false;
      if (isAtOrBelow(path, wrong)) return true;
      const parent = wrong.slice(0, -1);
      const meant = path.slice(0, wrong.length);
      const isBeside = kind === 'key' && meant.length === wrong.length && isAtOrBelow(meant, parent);
      return isBeside && valueAt(document, meant) === undefined && isMeantBy(meant, wrong, schema);
    });
  return findings.filter(({ path, basis = path }) => !isInDoubt(path) && !isInDoubt(basis));
}

function isAtOrBelow(path: Path, place: Path): boolean {
  return path.length >= place.length && place.every((segment, index) => path[index] === segment);
}
