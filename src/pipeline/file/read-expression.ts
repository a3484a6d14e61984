import { compileExpressions, type Expression } from '../../expression/expression.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { exactValueAt } from '../../yaml/read.ts';

/** Every variable that an expression of a pipeline may see; `validate` says where each of them is known. */
export const everyVariable: readonly string[] = ['input', 'steps', 'item', 'index', 'error'];

/** The tree at `path`, in which numbers keep their digits; undefined when there is none. */
export function expressionAt(
  document: YamlDocument,
  path: Path,
  variables: readonly string[] = everyVariable,
): Expression | undefined {
  const tree = exactValueAt(document, path);
  return tree === undefined ? undefined : compileExpressions(tree, variables);
}

/** Like `expressionAt`, and no keys at all where there is none. */
export function mappingAt(
  document: YamlDocument,
  path: Path,
  variables: readonly string[] = everyVariable,
): Expression {
  return expressionAt(document, path, variables) ?? compileExpressions({}, []);
}
