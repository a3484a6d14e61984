import { existsSync } from 'node:fs';
import type { Problem } from '../config/config.ts';
import type { Path, YamlDocument } from '../config/document.ts';
import { infiniteNumbersAt, itemsAt, valueAt } from '../config/read.ts';
import { describePath } from '../config/schema-path.ts';
import { suggest } from '../config/suggest.ts';
import { findExpressionErrors } from '../expression.ts';
import { isObject } from '../json.ts';
import { besideFile } from './paths.ts';
import { suiteSchema } from './schema.ts';

/** What is wrong with a suite beyond its shape. `evalTypes` are those of its runtime, if they are known. */
export function validateSuite(document: YamlDocument, evalTypes: readonly string[] | undefined): Problem[] {
  const findings = [
    ...findRepeatedIds(document),
    ...findUnknownTypes(document, evalTypes),
    ...findCrossedBounds(document),
    ...findUnknownGateEvals(document),
    ...findBadExpressions(document),
    ...findNumbersThatJsonLacks(document),
    ...findMissingContent(document),
    ...findMissingFiles(document),
  ];
  return findings.map((finding) => locate(document, finding));
}

interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
  readonly severity?: Problem['severity'];
}

const evalsPath: Path = ['spec', 'evals'];
const gatesPath: Path = ['spec', 'gates'];
const casePath: Path = ['spec', 'case'];

function evalIds(document: YamlDocument): { path: Path; id: string }[] {
  return itemsAt(document, evalsPath).flatMap((item) => {
    const id = valueAt(document, [...item, 'id']);
    return typeof id === 'string' ? [{ path: [...item, 'id'], id }] : [];
  });
}

function findRepeatedIds(document: YamlDocument): Finding[] {
  const ids = evalIds(document);
  return ids
    .filter(({ id }, index) => ids.findIndex((other) => other.id === id) < index)
    .map(({ path, id }) => ({ path, message: `another eval of this suite has the id ${id} already` }));
}

function findUnknownTypes(document: YamlDocument, known: readonly string[] | undefined): Finding[] {
  if (known === undefined) return [];
  return itemsAt(document, evalsPath).flatMap((item) => {
    const path = [...item, 'type'];
    const type = valueAt(document, path);
    if (typeof type !== 'string' || type === '' || known.includes(type)) return [];
    return [{ path, message: `no eval named ${type} is declared`, ...suggest(type, known, 'evals') }];
  });
}

function findCrossedBounds(document: YamlDocument): Finding[] {
  const thresholds = itemsAt(document, evalsPath).map((item) => [...item, 'threshold']);
  return [
    ...thresholds.flatMap((path) => crossed(document, path, ['min_score', 'max_score'])),
    ...itemsAt(document, gatesPath).flatMap((path) => crossed(document, path, ['min', 'max'])),
  ];
}

function crossed(document: YamlDocument, path: Path, [low, high]: readonly [string, string]): Finding[] {
  const min = valueAt(document, [...path, low]);
  const max = valueAt(document, [...path, high]);
  if (typeof min !== 'number' || typeof max !== 'number' || !(min > max)) return [];
  return [
    { path: [...path, low], message: `${min} is more than ${high}, which is ${max}: nothing can pass` },
  ];
}

function findUnknownGateEvals(document: YamlDocument): Finding[] {
  const known = evalIds(document).map(({ id }) => id);
  return itemsAt(document, gatesPath).flatMap((item) => {
    const path = [...item, 'eval'];
    const id = valueAt(document, path);
    if (typeof id !== 'string' || id === '' || known.includes(id)) return [];
    return [{ path, message: `no eval of this suite has the id ${id}`, ...suggest(id, known, 'ids') }];
  });
}

/** The trees whose strings are expressions over `case`. */
function expressionPaths(document: YamlDocument): Path[] {
  const ofEvals = itemsAt(document, evalsPath).flatMap((item) => [
    [...item, 'params'],
    [...item, 'content'],
  ]);
  return [casePath, ...ofEvals];
}

function findBadExpressions(document: YamlDocument): Finding[] {
  return expressionPaths(document).flatMap((base) =>
    findExpressionErrors(valueAt(document, base), ['case']).map(({ path, message }) => ({
      path: [...base, ...path],
      message,
      ...(message.includes('Unknown variable') ? { hint: 'Expressions see the row as `case`.' } : {}),
    })),
  );
}

function findNumbersThatJsonLacks(document: YamlDocument): Finding[] {
  return [...expressionPaths(document), ['spec', 'cases']].flatMap((base) =>
    infiniteNumbersAt(document, base).map((path) => ({
      path,
      message: 'must be a finite number: JSON has no other',
    })),
  );
}

/** An eval that judges an empty text by mistake would pass many a check. */
function findMissingContent(document: YamlDocument): Finding[] {
  const mapping = valueAt(document, casePath);
  if (!isObject(mapping) || 'content' in mapping) return [];
  const needy = itemsAt(document, evalsPath).find((item) => {
    const evaluation = valueAt(document, item);
    return isObject(evaluation) && !('content' in evaluation);
  });
  if (needy === undefined) return [];
  const message = `is required: ${describePath(needy, suiteSchema)} has no content of its own`;
  return [{ path: [...casePath, 'content'], message }];
}

/** No errors: a file may yet be made before the suite runs, and another runtime be given. */
function findMissingFiles(document: YamlDocument): Finding[] {
  const paths: Path[] = [
    ['spec', 'runtime'],
    ['spec', 'dataset', 'path'],
  ];
  return paths.flatMap((path) => {
    const named = valueAt(document, path);
    if (typeof named !== 'string' || named === '' || named === '-') return [];
    const file = besideFile(document.file, named);
    return existsSync(file)
      ? []
      : [{ path, message: `${file} does not exist`, severity: 'warning' as const }];
  });
}

function locate(document: YamlDocument, { path, message, hint, severity = 'error' }: Finding): Problem {
  return {
    ...document.positionOf(path),
    severity,
    message: `${describePath(path, suiteSchema)}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  };
}
