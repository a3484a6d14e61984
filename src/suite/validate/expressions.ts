import { findExpressionErrors, findTypeErrors, type Wanted } from '../../expression/expression.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { present } from '../../yaml/present.ts';
import { itemsAt, valueAt } from '../../yaml/read.ts';
import { rowVariables, variablesOf } from '../file/read-expression.ts';
import type { Finding } from './finding.ts';
import { casePath, checksIn, evalsPath, thresholdsIn } from './tree.ts';

/** A tree whose strings are expressions. */
export interface ExpressionPlace {
  readonly path: Path;
  readonly variables: readonly string[];
  /** What a text must give; undefined where any text will do. */
  readonly wanted?: Wanted;
}

/** Every such tree of the file but those of its subject. */
export function expressionPlaces(document: YamlDocument): ExpressionPlace[] {
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

/** Expressions that cannot be compiled where they stand. */
export function findBadExpressions(document: YamlDocument): Finding[] {
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
