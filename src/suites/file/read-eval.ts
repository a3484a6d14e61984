import { dirname, isAbsolute, join } from 'node:path';
import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt, mappingAt } from '../../base/yaml/expressions.ts';
import { readFields } from '../../base/yaml/fields.ts';
import { exactValueAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import type { CheckTree, GuardCheck, SuiteEval } from './model.ts';
import { type Reduction, readReduction } from './model.ts';
import { evalKeys } from './schema.ts';

/** Reads an item of `spec.evals`. Requires a valid document. */
export function toEval(document: YamlDocument, path: Path): SuiteEval {
  const check = isObject(valueAt(document, [...path, 'guard']))
    ? toGuardCheck(document, path)
    : toTree(document, path);
  return {
    id: textAt(document, [...path, 'id']) ?? '',
    role: check.kind === 'guard' ? 'metric' : 'assertion',
    ...readFields(document, path, evalKeys, rowVariables),
    reducer: reductionAt(document, [...path, 'reducer']) ?? reductionAt(document, suiteReducerPath) ?? mean,
    check,
  };
}

export const suiteReducerPath: Path = ['spec', 'repeat', 'reducer'];

const mean: Reduction = { kind: 'mean' };

function reductionAt(document: YamlDocument, path: Path): Reduction | undefined {
  const text = textAt(document, path);
  return text === undefined ? undefined : readReduction(text);
}

function toTree(document: YamlDocument, path: Path): CheckTree {
  const tree = valueAt(document, path);
  if (isObject(tree) && 'not' in tree) return { kind: 'not', part: toPart(document, [...path, 'not']) };
  for (const kind of ['any_of', 'all_of'] as const) {
    const parts = itemsAt(document, [...path, kind]);
    if (parts.length > 0) return { kind, parts: parts.map((part) => toPart(document, part)) };
  }
  const variables = variablesOf(document);
  return {
    kind: 'check',
    type: textAt(document, [...path, 'type']) ?? '',
    params: mappingAt(document, [...path, 'params'], variables),
    ...omitUndefined({ content: expressionAt(document, [...path, 'content'], variables) }),
  };
}

/** Bounds on a part turn its score into 1 or 0. Bounds on the eval itself decide whether it passes. */
function toPart(document: YamlDocument, path: Path): CheckTree {
  const part = toTree(document, path);
  const bounds = valueAt(document, [...path, 'threshold']);
  if (!isObject(bounds)) return part;
  const threshold = compileExpressions(exactValueAt(document, [...path, 'threshold']), rowVariables);
  return { kind: 'bounded', part, threshold };
}

function toGuardCheck(document: YamlDocument, path: Path): GuardCheck {
  const event = exactValueAt(document, [...path, 'guard']);
  const { only: _, ...members } = isObject(event) ? event : {};
  return {
    kind: 'guard',
    ...omitUndefined({ only: textAt(document, [...path, 'guard', 'only']) }),
    event: compileExpressions(members, rowVariables),
    expected: compileExpressions(exactValueAt(document, [...path, 'expected']), rowVariables),
  };
}

/** Resolves a relative path against the folder of the file that names it. */
export function besideFile(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

export const rowVariables: readonly string[] = ['case'];

/** The variables of expressions that are evaluated after the answer: `case`, and `subject` if there is one. */
export function variablesOf(document: YamlDocument): readonly string[] {
  return valueAt(document, ['spec', 'subject']) === undefined ? rowVariables : ['case', 'subject'];
}
