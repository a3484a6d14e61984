import type { YamlDocument } from '../../yaml/document.ts';
import { type ExpressionField, findBadExpressionsAt } from '../../yaml/expressions.ts';
import type { Finding } from '../../yaml/finding.ts';
import { itemsAt, valueAt } from '../../yaml/read.ts';
import { rowVariables, variablesOf } from '../file/variables.ts';
import { casePath, checksIn, evalsPath, thresholdsIn } from './suite-paths.ts';

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

/** Expressions that cannot be compiled where they stand. */
export function findBadExpressions(document: YamlDocument): Finding[] {
  return expressionFields(document).flatMap(({ path, variables, wanted }) => {
    const value = valueAt(document, path);
    // Everywhere but at `if`, the schema reports a text that does not begin with `${`.
    const isInSchema = typeof value === 'string' && !value.startsWith('${') && path.at(-1) !== 'if';
    const field = { path, variables, wanted: isInSchema ? undefined : wanted };
    return findBadExpressionsAt(document, field, ({ message, hint }) =>
      message.includes('Unknown variable') ? hintOf(message, variables) : hint,
    );
  });
}

function hintOf(message: string, variables: readonly string[]): string {
  const [, name = ''] = /Unknown variable: (\w+)/.exec(message) ?? [];
  const seen = 'Expressions see the row as `case`';
  // `row` is another word for the whole.
  const write = name === 'row' ? '.' : `: write \`case.${name}\`.`;
  return variables.length > 1
    ? `${seen}, and what the subject made as \`subject\`${write}`
    : `${seen}${write}`;
}
