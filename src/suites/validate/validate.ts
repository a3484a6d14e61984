import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nearFileHint } from '../../base/files/near-file.ts';
import { locateFindings } from '../../base/yaml/check.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { findUnevaluatedExpressions } from '../../base/yaml/expressions.ts';
import { type Finding, findCrossedBounds, findInfiniteNumbers } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { isPattern } from '../dataset/files.ts';
import { isRemote, remoteName, whyUnusable } from '../dataset/remote/address.ts';
import { besideFile } from '../file/paths.ts';
import { suiteSchema } from '../schema/suite-schema.ts';
import { fieldsOfSubjects, findSubjectsProblems } from '../subject/validate-variants.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';
import { findBadChecks, findBadReducers, findMissingContent, findRepeatedIds } from './evals.ts';
import { expressionFields, findBadExpressions } from './expressions.ts';
import { findBadGates } from './gates.ts';
import { findBadGuards } from './guards.ts';
import { casePath, checksIn, gatesPath, subjectPath, thresholdsIn } from './suite-paths.ts';

/** What is wrong with a suite beyond its shape. `config` is that of its runtime, if it is known. */
export function validateSuite(document: YamlDocument, config: SuiteRuntime | undefined): Problem[] {
  const findings = [
    ...findRepeatedIds(document),
    ...findBadChecks(document, config),
    ...findBadGuards(document, config),
    ...findBadReducers(document),
    ...findAllCrossedBounds(document),
    ...findBadGates(document),
    ...findBadExpressions(document),
    ...findNumbersThatJsonLacks(document),
    ...findMissingContent(document),
    ...findMissingFiles(document),
    ...findSubjectsProblems(document, subjectPath, config),
  ];
  return locateFindings(document, findings, suiteSchema);
}

/** Expressions where none is evaluated. Only `validate` reports them: the suite can run all the same. */
export function findUnevaluatedInSuite(document: YamlDocument): Problem[] {
  const fields = [...expressionFields(document), ...fieldsOfSubjects(document, subjectPath)];
  const evaluated = fields.map(({ path }) => path);
  const findings = findUnevaluatedExpressions(document, {
    evaluated,
    data: [['spec', 'cases']],
    root: 'case',
  });
  return locateFindings(document, findings, suiteSchema);
}

function findAllCrossedBounds(document: YamlDocument): Finding[] {
  return [
    ...thresholdsIn(document).flatMap((path) =>
      findCrossedBounds(document, path, ['min_score', 'max_score']),
    ),
    ...itemsAt(document, gatesPath).flatMap((path) => findCrossedBounds(document, path, ['min', 'max'])),
  ];
}

function findNumbersThatJsonLacks(document: YamlDocument): Finding[] {
  const places = [casePath, ['spec', 'cases'], ...checksIn(document).map((path) => [...path, 'params'])];
  return places.flatMap((path) => findInfiniteNumbers(document, path));
}

/** Warnings only: the file may be made before the suite runs, or another runtime be given. */
function findMissingFiles(document: YamlDocument): Finding[] {
  const paths: Path[] = [
    ['spec', 'runtime'],
    ['spec', 'dataset', 'path'],
  ];
  return paths.flatMap((path) => {
    const named = valueAt(document, path);
    if (typeof named !== 'string' || named === '' || named === '-') return [];
    if (isRemote(named)) return findUnusable(path, named);
    if (isPattern(named)) return [];
    const file = besideFile(document.file, named);
    return existsSync(file)
      ? []
      : [
          {
            path,
            message: `${file} does not exist`,
            hint:
              nearFileHint(named, dirname(document.file)) ??
              sameNameHint(named, dirname(document.file)) ??
              'Correct the path; it starts at the folder of this file.',
            severity: 'warning' as const,
            about: 'file' as const,
          },
        ];
  });
}

/** A file of that name in the folder itself. */
function sameNameHint(named: string, folder: string): string | undefined {
  const name = basename(named);
  return existsSync(join(folder, name))
    ? `did you mean \`${name}\`? Paths start at the folder of this file.`
    : undefined;
}

/** Nothing is asked for over the network. */
function findUnusable(path: Path, address: string): Finding[] {
  const isDataset = path.at(-1) === 'path';
  const reason = isDataset ? whyUnusable(address) : 'is an address; a runtime is a file';
  return reason === undefined ? [] : [{ path, message: `${remoteName(address)} ${reason}` }];
}
