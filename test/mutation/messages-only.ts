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

/** Functions that make an error or a message from words. */
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
 * The reason to ignore a mutant: it only changes the words of a message or hint, which no test asserts. Undefined for
 * all others, such as error codes.
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
