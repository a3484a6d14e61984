import { compileExpressions, type Expression } from '../../expression/expression.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { exactValueAt, valueAt } from '../../yaml/read.ts';

/** The variables of expressions that are evaluated before the subject answers. */
export const rowVariables: readonly string[] = ['case'];

/**
 * The variables of expressions that are evaluated after the subject answered: `case`, and `subject` if
 * there is one.
 */
export function variablesOf(document: YamlDocument): readonly string[] {
  return valueAt(document, ['spec', 'subject']) === undefined ? rowVariables : ['case', 'subject'];
}

/** The expressions of the tree at `path`; undefined when there is none. */
export function expressionAt(
  document: YamlDocument,
  path: Path,
  variables: readonly string[],
): Expression | undefined {
  const tree = exactValueAt(document, path);
  return tree === undefined ? undefined : compileExpressions(tree, variables);
}
