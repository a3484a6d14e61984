import { type ExpressionError, findExpressionErrors, findTypeErrors } from '../../expression/expression.ts';
import type { YamlDocument } from '../../yaml/document.ts';
import { infiniteNumbersAt, valueAt } from '../../yaml/read.ts';
import { findNearest } from '../../yaml/suggest.ts';
import { everyVariable } from './read-expression.ts';
import { type Field, listFields } from './validate-fields.ts';
import type { Finding } from './validate-finding.ts';
import { type ExpressionSite, variablesAt } from './validate-scope.ts';
import type { StepNode } from './validate-tree.ts';

/** Expressions that do not compile at their position, and numbers that JSON cannot represent. */
export function findBadExpressions(document: YamlDocument, steps: readonly StepNode[]): readonly Finding[] {
  const ids = steps.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return listFields(document, steps).flatMap((field): Finding[] => [
    ...errorsOf(document, field).map((error) => ({
      path: [...field.path, ...error.path],
      message: error.message,
      hint: error.hint ?? hintFor(error, field.site, ids),
    })),
    ...infiniteNumbersAt(document, field.path).map((path) => ({
      path,
      message: 'must be a finite number: JSON has no other',
    })),
  ]);
}

function errorsOf(document: YamlDocument, { path, site, wanted }: Field): readonly ExpressionError[] {
  const value = valueAt(document, path);
  const variables = variablesAt(site);
  if (wanted === undefined) return findExpressionErrors(value, variables);
  return findTypeErrors(value, variables, wanted);
}

function hintFor(
  { message }: ExpressionError,
  site: ExpressionSite,
  ids: readonly string[],
): string | undefined {
  const unknown = /Unknown variable: (\w+)/.exec(message)?.[1];
  if (unknown === undefined) return undefined;
  if (unknown === 'item' || unknown === 'index') {
    return site.part === 'head' && site.step?.loops === true
      ? '`if` and `for_each` are evaluated once, before the first item.'
      : `\`${unknown}\` is known only inside a for_each.`;
  }
  if (unknown === 'error') return '`error` is known only in the steps of an on_error.';
  if (ids.includes(unknown)) return `Write \`steps.${unknown}\`.`;
  const variables = variablesAt(site);
  const nearest = findNearest(unknown, everyVariable);
  if (nearest !== undefined && variables.includes(nearest)) return `did you mean \`${nearest}\`?`;
  return `Expressions see ${variables.map((name) => `\`${name}\``).join(', ')} here.`;
}
