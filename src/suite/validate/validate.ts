import { existsSync } from 'node:fs';
import type { Problem } from '../../config/config.ts';
import type { Path, YamlDocument } from '../../config/document.ts';
import { present } from '../../config/present.ts';
import { infiniteNumbersAt, itemsAt, valueAt } from '../../config/read.ts';
import { describePath } from '../../config/schema-path.ts';
import { findExpressionErrors, findTypeErrors, type Wanted } from '../../expression.ts';
import { isPattern } from '../dataset/files.ts';
import { besideFile } from '../paths.ts';
import { rowVariables, variablesOf } from '../read-expression.ts';
import { suiteSchema } from '../schema/suite-schema.ts';
import { findSubjectProblems } from '../subject/validate-subject.ts';
import { findBadChecks, findBadReducers, findMissingContent, findRepeatedIds } from './evals.ts';
import type { Finding } from './finding.ts';
import { findBadGates } from './gates.ts';
import { findBadGuards } from './guards.ts';
import type { SuiteRuntime } from './runtime.ts';
import { casePath, checksIn, evalsPath, gatesPath, subjectPath, thresholdsIn } from './tree.ts';

/** What is wrong with a suite beyond its shape. `config` is that of its runtime, if it is known. */
export function validateSuite(document: YamlDocument, config: SuiteRuntime | undefined): Problem[] {
  const findings = [
    ...findRepeatedIds(document),
    ...findBadChecks(document, config),
    ...findBadGuards(document, config),
    ...findBadReducers(document),
    ...findCrossedBounds(document),
    ...findBadGates(document),
    ...findBadExpressions(document),
    ...findNumbersThatJsonLacks(document),
    ...findMissingContent(document),
    ...findMissingFiles(document),
    ...findSubjectProblems(document, subjectPath, config),
  ];
  return findings.map((finding) => locate(document, finding));
}

function findCrossedBounds(document: YamlDocument): Finding[] {
  return [
    ...thresholdsIn(document).flatMap((path) => crossed(document, path, ['min_score', 'max_score'])),
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

interface ExpressionPlace {
  readonly path: Path;
  readonly variables: readonly string[];
  /** What a text must give; undefined where any text will do. */
  readonly wanted?: Wanted;
}

/** The trees whose strings are expressions, with what these see. */
function expressionPlaces(document: YamlDocument): ExpressionPlace[] {
  const later = variablesOf(document);
  const ofChecks = checksIn(document).flatMap((path) => [
    { path: [...path, 'params'], variables: later },
    { path: [...path, 'content'], variables: later },
  ]);
  const ofEvals = itemsAt(document, evalsPath).flatMap((path): ExpressionPlace[] => [
    { path: [...path, 'guard'], variables: rowVariables },
    { path: [...path, 'if'], variables: rowVariables, wanted: 'bool' },
    { path: [...path, 'expected'], variables: rowVariables, wanted: 'bool' },
  ]);
  const ofThresholds = thresholdsIn(document).flatMap((path) =>
    ['min_score', 'max_score'].map((key): ExpressionPlace => {
      const variables = path[1] === 'case' ? later : rowVariables;
      return { path: [...path, key], variables, wanted: 'number' };
    }),
  );
  return [
    ...['id', 'tags'].map((key) => ({ path: [...casePath, key], variables: rowVariables })),
    ...['content', 'context'].map((key) => ({ path: [...casePath, key], variables: later })),
    ...ofThresholds,
    ...ofChecks,
    ...ofEvals,
  ];
}

function findBadExpressions(document: YamlDocument): Finding[] {
  return expressionPlaces(document).flatMap((place) => {
    const { path: base, variables } = place;
    return findErrors(document, place).map(({ path, message, hint }) => ({
      path: [...base, ...path],
      message,
      ...present({ hint: message.includes('Unknown variable') ? hintOf(variables) : hint }),
    }));
  });
}

function findErrors(document: YamlDocument, { path, variables, wanted }: ExpressionPlace) {
  const value = valueAt(document, path);
  // Of other places than `if`, the schema says that a text without `${` is none.
  const isTold = typeof value === 'string' && !value.startsWith('${') && path.at(-1) !== 'if';
  return wanted === undefined || isTold
    ? findExpressionErrors(value, variables)
    : findTypeErrors(value, variables, wanted);
}

function hintOf(variables: readonly string[]): string {
  const seen = 'Expressions see the row as `case`';
  return variables.length > 1 ? `${seen}, and what the subject made as \`subject\`.` : `${seen}.`;
}

function findNumbersThatJsonLacks(document: YamlDocument): Finding[] {
  const places = [casePath, ['spec', 'cases'], ...checksIn(document).map((path) => [...path, 'params'])];
  return places.flatMap((base) =>
    infiniteNumbersAt(document, base).map((path) => ({
      path,
      message: 'must be a finite number: JSON has no other',
    })),
  );
}

/** No errors: a file may yet be made before the suite runs, and another runtime be given. */
function findMissingFiles(document: YamlDocument): Finding[] {
  const paths: Path[] = [
    ['spec', 'runtime'],
    ['spec', 'dataset', 'path'],
  ];
  return paths.flatMap((path) => {
    const named = valueAt(document, path);
    if (typeof named !== 'string' || named === '' || named === '-' || isPattern(named)) return [];
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
