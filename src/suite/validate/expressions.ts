import { type ExpectedType, findExpressionErrors, findTypeErrors } from '../../expression/expression.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { omitUndefined } from '../../yaml/present.ts';
import { itemsAt, valueAt } from '../../yaml/read.ts';
import { rowVariables, variablesOf } from '../file/read-expression.ts';
import type { Finding } from './finding.ts';
import { casePath, checksIn, evalsPath, thresholdsIn } from './suite-paths.ts';

/** A tree of the suite whose strings are expressions. */
export interface ExpressionField {
  readonly path: Path;
  readonly variables: readonly string[];
  /** What a text must give; undefined where any text will do. */
  readonly wanted?: ExpectedType;
}

/** Every tree of the file whose strings are expressions, but those of its subject. */
export function expressionFields(document: YamlDocument): ExpressionField[] {
  const afterSubject = variablesOf(document);
  const ofChecks = checksIn(document).flatMap((path) => [
    { path: [...path, 'params'], variables: afterSubject },
    { path: [...path, 'content'], variables: afterSubject },
  ]);
  const ofEvals = itemsAt(document, evalsPath).flatMap((path): ExpressionField[] => [
    { path: [...path, 'guard'], variables: rowVariables },
    { path: [...path, 'if'], variables: rowVariables, wanted: 'bool' },
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

/** Expressions that cannot be compiled where they stand. */
export function findBadExpressions(document: YamlDocument): Finding[] {
  return expressionFields(document).flatMap((field) => {
    const { path: base, variables } = field;
    return findErrors(document, field).map(({ path, message, hint }) => ({
      path: [...base, ...path],
      message,
      ...omitUndefined({ hint: message.includes('Unknown variable') ? hintOf(variables) : hint }),
    }));
  });
}

function findErrors(document: YamlDocument, { path, variables, wanted }: ExpressionField) {
  const value = valueAt(document, path);
  // Everywhere but at `if`, the schema reports a text that does not begin with `${`.
  const isInSchema = typeof value === 'string' && !value.startsWith('${') && path.at(-1) !== 'if';
  return wanted === undefined || isInSchema
    ? findExpressionErrors(value, variables)
    : findTypeErrors(value, variables, wanted);
}

function hintOf(variables: readonly string[]): string {
  const seen = 'Expressions see the row as `case`';
  return variables.length > 1 ? `${seen}, and what the subject made as \`subject\`.` : `${seen}.`;
}
