import type { ExpressionError } from '../../base/expression/expression.ts';
import { findNearest } from '../../base/text/suggest.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import { findBadExpressionsAt } from '../../base/yaml/expressions.ts';
import { type Finding, findInfiniteNumbers } from '../../base/yaml/finding.ts';
import { everyVariable } from './pipeline.ts';
import { type Field, listFields } from './validate-fields.ts';
import type { StepNode } from './validate-tree.ts';

/** Expressions that do not compile at their position, and numbers that JSON cannot represent. */
export function findBadExpressions(document: YamlDocument, steps: readonly StepNode[]): readonly Finding[] {
  const ids = steps.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return listFields(document, steps).flatMap((field) => [
    ...findBadExpressionsAt(document, field, (error) => error.hint ?? hintFor(error, field, ids)),
    ...findInfiniteNumbers(document, field.path),
  ]);
}

function hintFor(
  { message }: ExpressionError,
  { site, variables }: Field,
  ids: readonly string[],
): string | undefined {
  const unknown = /Unknown variable: (\w+)/.exec(message)?.[1];
  if (unknown === undefined) return undefined;
  if (unknown === 'item' || unknown === 'index') {
    return site.part === 'head' && site.step?.loops === true
      ? '`if` and `for_each` are evaluated once, before the first item.'
      : `\`${unknown}\` is known only inside a for_each.`;
  }
  if (unknown === 'outcome') return '`outcome` is known only in the steps of `finally`.';
  if (unknown === 'last') return '`last` is known only inside a while.';
  if (unknown === 'error') return '`error` is known only in the steps of an on_error.';
  if (ids.includes(unknown)) return `Write \`steps.${unknown}\`.`;
  const nearest = findNearest(unknown, everyVariable);
  if (nearest !== undefined && variables.includes(nearest)) return `did you mean \`${nearest}\`?`;
  return `Expressions see ${variables.map((name) => `\`${name}\``).join(', ')} here.`;
}
