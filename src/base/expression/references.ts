import type { ASTNode } from '@marcbachmann/cel-js';
import { parseCode } from './cel.ts';
import type { TreePath } from './error.ts';
import { splitTemplate } from './template.ts';

export interface Reference {
  /** The variable and its literal keys, up to the first computed one: `steps`, `answer`, `text`. */
  readonly path: readonly string[];
  readonly at: TreePath;
}

/**
 * Finds every read of these variables in a tree, in order: `steps.a`, `steps["a"]`, `steps.?a` and `has(steps.a)`
 * alike. Names that a macro such as `map` binds are not references. Strings that do not compile have none.
 */
export function findReferences(value: unknown, variables: readonly string[]): readonly Reference[] {
  return findCode(value, []).flatMap(({ code, at }) => {
    return referencesOf(code, variables).map((path): Reference => ({ path, at }));
  });
}

interface PlacedCode {
  readonly code: string;
  readonly at: TreePath;
}

function findCode(node: unknown, at: TreePath): readonly PlacedCode[] {
  if (typeof node === 'string') return codesOf(node).map((code) => ({ code, at }));
  if (typeof node !== 'object' || node === null || JSON.isRawJSON(node)) return [];
  const isList = Array.isArray(node);
  return Object.entries(node).flatMap(([key, member]) =>
    findCode(member, [...at, isList ? Number(key) : key]),
  );
}

function codesOf(text: string): readonly string[] {
  if (!text.includes('${')) return [];
  try {
    return splitTemplate(text, []).flatMap((part) => (typeof part === 'string' ? [] : [part.code]));
  } catch {
    return [];
  }
}

function referencesOf(code: string, variables: readonly string[]): readonly Keys[] {
  try {
    return findReads(parseCode(code), new Set(variables));
  } catch {
    return [];
  }
}

type Keys = readonly string[];
type UnshadowedNames = ReadonlySet<string>;

function findReads(node: ASTNode, visible: UnshadowedNames): readonly Keys[] {
  switch (node.op) {
    case 'value':
      return [];
    case 'id':
    case '.':
    case '.?':
    case '[]':
    case '[?]':
      return readsOfPath(node, visible);
    case 'call':
      return node.args[1].flatMap((each) => findReads(each, visible));
    case 'rcall':
      return readsOfCall(node.args, visible);
    case '!_':
    case '-_':
      return findReads(node.args, visible);
    default:
      return node.args.flat().flatMap((each) => findReads(each, visible));
  }
}

function readsOfPath(node: ASTNode, visible: UnshadowedNames): readonly Keys[] {
  const { root, keys, computed } = unfold(node);
  const inner = computed.flatMap((each) => findReads(each, visible));
  if (root.op !== 'id') return [...findReads(root, visible), ...inner];
  const end = keys.findIndex((key) => typeof key !== 'string');
  const known = (end === -1 ? keys : keys.slice(0, end)).filter((key) => key !== undefined);
  return visible.has(root.args) ? [[root.args, ...known], ...inner] : inner;
}

interface Unfolded {
  readonly root: ASTNode;
  readonly keys: readonly (string | undefined)[];
  readonly computed: readonly ASTNode[];
}

function unfold(node: ASTNode): Unfolded {
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') {
    return { root: node, keys: [], computed: [] };
  }
  const [parent, key] = node.args;
  const { root, keys, computed } = unfold(parent);
  if (typeof key === 'string') return { root, keys: [...keys, key], computed };
  if (key.op !== 'value') return { root, keys: [...keys, undefined], computed: [...computed, key] };
  return { root, keys: [...keys, typeof key.args === 'string' ? key.args : undefined], computed };
}

type CallArgs = Extract<ASTNode, { op: 'rcall' }>['args'];

const bindingMacros: ReadonlySet<string> = new Set([
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'optMap',
  'optFlatMap',
]);

function readsOfCall([name, receiver, args]: CallArgs, visible: UnshadowedNames): readonly Keys[] {
  const [variable, second, ...rest] = args;
  if (variable?.op !== 'id' || second === undefined) {
    return [receiver, ...args].flatMap((each) => findReads(each, visible));
  }
  const inside = new Set([...visible].filter((known) => known !== variable.args));
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel') {
    return [...findReads(second, visible), ...rest.flatMap((each) => findReads(each, inside))];
  }
  const scope = bindingMacros.has(name)
    ? { own: [second, ...rest], names: inside }
    : { own: args, names: visible };
  return [...findReads(receiver, visible), ...scope.own.flatMap((each) => findReads(each, scope.names))];
}
