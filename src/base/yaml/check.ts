import type { ValidateFunction } from 'ajv';
import type { Path, YamlDocument } from './document.ts';
import { type Finding, locateFinding } from './finding.ts';
import type { Problem } from './problem.ts';
import { sortProblems } from './problem.ts';
import { valueAt } from './read.ts';
import { findViolations, isMeantBy, type Violation } from './violation.ts';

export { formatProblem } from './problem.ts';

/** Checks the document against one of our JSON Schemas (2020-12). Problems are in file order. */
export function checkSchema(document: YamlDocument, schema: object, validate?: ValidateFunction): Problem[] {
  if (document.value === undefined) return [];
  return sortProblems(
    findViolations(document.value, schema, validate).map((violation) =>
      locateViolation(document, violation, schema),
    ),
  );
}

/** Unknown keys and names are reported at the key, missing ones at the name of their parent. */
export function locateViolation(document: YamlDocument, violation: Violation, schema: object): Problem {
  return locateFinding(document, { ...violation, atKey: violation.kind !== 'value' }, schema);
}

/** Skips findings that only repeat a schema violation. */
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

/** Removes findings that only follow from one of these violations, all of which must be errors. */
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
