import { existsSync } from 'node:fs';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { infiniteNumbersAt, itemsAt, valueAt } from '../../yaml/read.ts';
import { isPattern } from '../dataset/files.ts';
import { besideFile } from '../file/paths.ts';
import { findSubjectProblems } from '../subject/validate-subject.ts';
import { findBadChecks, findBadReducers, findMissingContent, findRepeatedIds } from './evals.ts';
import { findBadExpressions } from './expressions.ts';
import { type Finding, locateFinding } from './finding.ts';
import { findBadGates } from './gates.ts';
import { findBadGuards } from './guards.ts';
import { casePath, checksIn, gatesPath, subjectPath, thresholdsIn } from './suite-paths.ts';
import type { SuiteRuntime } from './suite-runtime.ts';

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
  return findings.map((finding) => locateFinding(document, finding));
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

function findNumbersThatJsonLacks(document: YamlDocument): Finding[] {
  const places = [casePath, ['spec', 'cases'], ...checksIn(document).map((path) => [...path, 'params'])];
  return places.flatMap((base) =>
    infiniteNumbersAt(document, base).map((path) => ({
      path,
      message: 'must be a finite number: JSON has no other',
    })),
  );
}

/** Warnings only: the file may be made before the suite runs, or another runtime be given. */
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
