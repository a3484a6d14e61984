import { compileExpressions, type Expression } from '../../expression/expression.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { exactAt, valueAt } from '../../yaml/read.ts';

/** What expressions see before anything has answered. */
export const rowVariables: readonly string[] = ['case'];

/** What the expressions of evals see: the row, and what the subject made where there is one. */
export function variablesOf(document: YamlDocument): readonly string[] {
  return valueAt(document, ['spec', 'subject']) === undefined ? rowVariables : ['case', 'subject'];
}

/** The expressions of the tree at `path`; undefined when there is none. */
export function expressionAt(
  document: YamlDocument,
  path: Path,
  variables: readonly string[],
): Expression | undefined {
  const tree = exactAt(document, path);
  return tree === undefined ? undefined : compileExpressions(tree, variables);
}
