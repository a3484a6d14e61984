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
  const doubtful = violations.filter(({ kind, keyword }) => kind !== 'value' || keyword === 'type');
  const wrong = new Set(doubtful.map(({ path }) => keyOf(path)));
  const unknown = Map.groupBy(
    doubtful.filter(({ kind }) => kind === 'key'),
    ({ path }) => keyOf(path.slice(0, -1)),
  );
  const isMisspelt = (place: Path) =>
    place.length > 0 &&
    valueAt(document, place) === undefined &&
    unknown.get(keyOf(place.slice(0, -1)))?.some((key) => isMeantBy(place, key.path, schema)) === true;
  const isInDoubt = (path: Path) =>
    [path, ...path.map((_, length) => path.slice(0, length))].some(
      (place) => wrong.has(keyOf(place)) || isMisspelt(place),
    );
  return findings.filter(({ path, basis = path }) => !isInDoubt(path) && !isInDoubt(basis));
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
