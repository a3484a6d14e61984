import { isPlainCode } from '../../base/expression/plain-code.ts';
import { isObject } from '../../base/json/json.ts';
import { findNearest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { type ExpressionField, findBadExpressionsAt, textsAt } from '../../base/yaml/expressions.ts';
import { type Finding, locateFinding } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { rowVariables, variablesOf } from '../file/read-eval.ts';
import { suiteSchema } from '../file/schema.ts';

export function expressionFields(document: YamlDocument): ExpressionField[] {
  const afterSubject = variablesOf(document);
  const ofChecks = checksIn(document).flatMap((path) => [
    { path: [...path, 'params'], variables: afterSubject },
    { path: [...path, 'content'], variables: afterSubject },
  ]);
  const ofEvals = itemsAt(document, evalsPath).flatMap((path): ExpressionField[] => [
    { path: [...path, 'guard'], variables: rowVariables },
    { path: [...path, 'if'], variables: rowVariables, wanted: 'bool' },
    { path: [...path, 'label'], variables: rowVariables },
    { path: [...path, 'expected'], variables: rowVariables, wanted: 'bool' },
  ]);
  const ofThresholds = thresholdsIn(document).flatMap((path) =>
    ['min_score', 'max_score'].map((key): ExpressionField => {
      const variables = path[1] === 'case' ? afterSubject : rowVariables;
      return { path: [...path, key], variables, wanted: 'number' };
    }),
  );
  return [
    ...['id', 'tags'].map((key) => ({ path: [...casePath, key], variables: rowVariables })),
    ...['content', 'context'].map((key) => ({ path: [...casePath, key], variables: afterSubject })),
    ...ofThresholds,
    ...ofChecks,
    ...ofEvals,
  ];
}

export function findBadExpressions(document: YamlDocument): Finding[] {
  return expressionFields(document).flatMap(({ path, variables, wanted }) => {
    const value = valueAt(document, path);
    // Except at `if`, the schema reports a text that does not begin with `${`.
    const isInSchema = typeof value === 'string' && !value.startsWith('${') && path.at(-1) !== 'if';
    const field = { path, variables, wanted: isInSchema ? undefined : wanted };
    return findBadExpressionsAt(document, field, ({ message, hint }) =>
      message.includes('Unknown variable') ? hintOf(message, variables) : hint,
    );
  });
}

interface ColumnUse {
  readonly column: string;
  readonly code: string;
  readonly path: Path;
}

/** Columns that every case needs: those in plain expressions that run for every row. */
export function findColumnUses(document: YamlDocument): readonly ColumnUse[] {
  const isConditional = ([section, list, index]: Path): boolean =>
    list === 'evals' && valueAt(document, [section ?? '', list, index ?? '', 'if']) !== undefined;
  const texts = expressionFields(document)
    .filter(({ path }) => !isConditional(path))
    .flatMap(({ path }) => textsAt(document, path));
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(/(?<!\$)\$\{([^{}]*)\}/g)]
      .map(({ 1: code = '' }) => code.trim())
      .filter((code) => isPlainCode(code, ['case', 'subject']))
      .flatMap((code) =>
        [...code.matchAll(/(?<![.\w])case\.([A-Za-z_]\w*)(?!\w*\()/g)].map(({ 1: column = '' }) => ({
          column,
          code,
          path,
        })),
      ),
  );
}

export function describeMissing(
  document: YamlDocument,
  uses: readonly ColumnUse[],
  known: readonly string[],
): Problem[] {
  const findings = uses.map(({ column, code, path }): Finding => {
    const nearest = findNearest(column, known);
    const guess = nearest === undefined ? '' : `did you mean \`case.${nearest}\`? `;
    const more = known.length > maxListed ? ', …' : '';
    return {
      path,
      message: `\`\${${code}}\`: no row of the dataset has the column \`${column}\``,
      hint: `${guess}The rows have ${known.slice(0, maxListed).join(', ')}${more}.`,
    };
  });
  return findings.map((finding) => locateFinding(document, finding, suiteSchema));
}

const maxListed = 12;

function hintOf(message: string, variables: readonly string[]): string {
  const [, name = ''] = /Unknown variable: (\w+)/.exec(message) ?? [];
  const seen = 'Expressions see the row as `case`';
  // `row` is a common mistake for the whole row.
  const write = name === 'row' ? '.' : `: write \`case.${name}\`.`;
  return variables.length > 1
    ? `${seen}, and what the subject returned as \`subject\`${write}`
    : `${seen}${write}`;
}

export const evalsPath: Path = ['spec', 'evals'];
export const gatesPath: Path = ['spec', 'gates'];
export const casePath: Path = ['spec', 'case'];
export const subjectPath: Path = ['spec', 'subject'];

export function evalIds(document: YamlDocument): { path: Path; id: string }[] {
  return itemsAt(document, evalsPath).flatMap((item) => {
    const id = valueAt(document, [...item, 'id']);
    return typeof id === 'string' ? [{ path: [...item, 'id'], id }] : [];
  });
}

export function checksIn(document: YamlDocument): Path[] {
  return itemsAt(document, evalsPath).flatMap((item) => checksBelow(document, item));
}

function checksBelow(document: YamlDocument, path: Path): Path[] {
  const node = valueAt(document, path);
  if (!isObject(node)) return [];
  const parts = [
    ...('not' in node ? [[...path, 'not']] : []),
    ...itemsAt(document, [...path, 'any_of']),
    ...itemsAt(document, [...path, 'all_of']),
  ];
  return [...('type' in node ? [path] : []), ...parts.flatMap((part) => checksBelow(document, part))];
}

export function thresholdsIn(document: YamlDocument): Path[] {
  const below = (path: Path): Path[] => {
    const node = valueAt(document, path);
    if (!isObject(node)) return [];
    const parts = [[...path, 'not'], ...itemsAt(document, [...path, 'any_of'])];
    return [[...path, 'threshold'], ...[...parts, ...itemsAt(document, [...path, 'all_of'])].flatMap(below)];
  };
  return [...itemsAt(document, evalsPath).flatMap(below), [...casePath, 'threshold']];
}
