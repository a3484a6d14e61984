/** A node of the syntax tree, as far as it is looked at. */
interface Node {
  readonly type: string;
  readonly callee?: { readonly name?: string };
  readonly key?: { readonly name?: string };
  readonly id?: { readonly name?: string };
}

interface Path {
  readonly node: Node;
  readonly parentPath?: Path | null;
}

/** What makes an error, or a text about one, of words. */
const makers = new Set([
  'RuntimeError',
  'Error',
  'malformed',
  'invalid',
  'invalidPayload',
  'deny',
  'denyFailure',
  'refuse',
  'excerpt',
  'withHint',
]);
const members = new Set(['hint', 'message', 'detail', 'what', 'why']);

/**
 * Why a mutant is left out: it changes only the words of a message or a hint, which no test asserts (tests assert codes).
 * Undefined for anything else; the code of an error is no message.
 */
export function reasonToIgnore({ node, parentPath: parent }: Path): string | undefined {
  if (node.type !== 'TemplateLiteral' && node.type !== 'StringLiteral') return undefined;
  if ('value' in node && typeof node.value === 'string' && /^[A-Z_]+$/.test(node.value)) return undefined;
  const at = parent?.node;
  const isArgument =
    (at?.type === 'NewExpression' || at?.type === 'CallExpression') && makers.has(at.callee?.name ?? '');
  const isMember = at?.type === 'ObjectProperty' && members.has(at.key?.name ?? '');
  const isNamed = at?.type === 'VariableDeclarator' && members.has(at.id?.name ?? '');
  return isArgument || isMember || isNamed ? 'the words of a message' : undefined;
}
