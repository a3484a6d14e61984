import {
  type Alias,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { isObject } from '../../base/json/json.ts';
import { exactNumber } from '../../base/yaml/read.ts';
import { tooDeep } from '../../base/yaml/syntax.ts';
import type { TreeMistake } from '../../base/yaml/tree.ts';

/** The value of a node; with a mistake, the value is meaningless. */
interface YamlReading {
  readonly value: unknown;
  readonly mistake: TreeMistake | undefined;
}

/**
 * Reads the nodes of one document in their order, in time linear in their number, however many aliases
 * there are.
 */
export interface YamlReader {
  read(node: Node): YamlReading;
}

/** Plain values, in which numbers that a double cannot hold keep their digits. */
export function newYamlReader(): YamlReader {
  const anchors = new Map<string, Anchored | 'open'>();
  return {
    read(node) {
      const walk: Walk = { anchors, mistakes: [], size: 0, depth: 0 };
      const value = readNode(node, walk);
      return { value, mistake: walk.mistakes[0] };
    },
  };
}

/** The value of an anchor, and how many values are in it. */
interface Anchored {
  readonly value: unknown;
  readonly size: number;
}

interface Walk {
  /** By name; `open` while the walk is inside the node of that anchor. */
  readonly anchors: Map<string, Anchored | 'open'>;
  readonly mistakes: TreeMistake[];
  /** Values so far, with those that aliases repeat. */
  size: number;
  depth: number;
}

/** Far beyond any real row, and far below what overflows a stack. */
const maxDepth = 100;
/** Aliases of aliases can make a short text mean more than any memory holds. */
const maxValues = 1_000_000;

function readNode(node: unknown, walk: Walk): unknown {
  if (!isNode(node)) return null;
  if (isAlias(node)) return readAlias(node, walk);
  walk.size += 1;
  if (isScalar(node)) return remember(node, walk, () => readScalar(node, walk));
  if (walk.depth === maxDepth) return addMistake(node, tooDeep, walk);
  walk.depth += 1;
  const value = remember(node, walk, () => readCollection(node, walk));
  walk.depth -= 1;
  return value;
}

function remember(node: Exclude<Node, Alias>, walk: Walk, read: () => unknown): unknown {
  const { anchor } = node;
  if (anchor === undefined) return read();
  const before = walk.size;
  walk.anchors.set(anchor, 'open');
  const value = read();
  walk.anchors.set(anchor, { value, size: walk.size - before + 1 });
  return value;
}

function readAlias(node: Alias, walk: Walk): unknown {
  const known = walk.anchors.get(node.source);
  if (known === undefined)
    return addMistake(node, `no anchor named &${node.source} stands above this alias`, walk);
  if (known === 'open')
    return addMistake(node, `the alias *${node.source} stands inside its own anchor`, walk);
  walk.size += known.size;
  if (walk.size > maxValues)
    return addMistake(node, 'the aliases stand for more than a million values', walk);
  return known.value;
}

function readScalar(node: Scalar, walk: Walk): unknown {
  const { value, source } = node;
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value) && !/\d/.test(source ?? '')) {
    return addMistake(node, `${source ?? value} is a number that JSON does not have`, walk);
  }
  return exactNumber(value, source);
}

function readCollection(node: Node, walk: Walk): unknown {
  if (isSeq(node)) return node.items.map((item) => readNode(item, walk));
  return isMap(node) ? readMap(node, walk) : null;
}

function readMap(node: YAMLMap, walk: Walk): unknown {
  const own = new Map<string, unknown>();
  const merged = new Map<string, unknown>();
  for (const pair of node.items) {
    if (isMergeKey(pair)) {
      for (const [key, value] of readMerge(pair, walk)) if (!merged.has(key)) merged.set(key, value);
      continue;
    }
    const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
    if (own.has(key)) addMistake(pair.key, `the key \`${key}\` stands twice in one mapping`, walk);
    own.set(key, readNode(pair.value, walk));
  }
  return Object.fromEntries([...merged, ...own]);
}

function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

/** The members of a merge key, those of the highest precedence first. */
function readMerge(pair: Pair, walk: Walk): [string, unknown][] {
  const value = readNode(pair.value, walk);
  const sources: readonly unknown[] = Array.isArray(value) ? value : [value];
  return sources.flatMap((source) => {
    if (isObject(source) && !JSON.isRawJSON(source)) return Object.entries(source);
    addMistake(pair.value, 'a merge key `<<` takes a mapping or a list of them', walk);
    return [];
  });
}

function addMistake(node: unknown, message: string, { mistakes }: Walk): undefined {
  mistakes.push({ offset: (isNode(node) && node.range?.[0]) || 0, message });
}
