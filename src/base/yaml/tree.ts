import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import { tooDeep } from './syntax.ts';

export interface NodeOffsets {
  readonly valueOffset: number;
  readonly keyOffset: number;
  readonly source: string | undefined;
}

export interface TreeMistake {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

/** Follows aliases and merge keys; falls back to the nearest ancestor. */
export function lookUp(document: Document.Parsed, path: readonly (string | number)[]): NodeOffsets {
  let node = asNode(document.contents);
  let offsets = offsetsOf(document, node, offsetOf(node) ?? 0);
  for (const segment of path) {
    const step = stepInto(document, node, segment);
    if (step === undefined) return { ...offsets, source: undefined };
    node = step.value;
    offsets = offsetsOf(document, node, step.keyOffset ?? offsetOf(node) ?? offsets.keyOffset);
  }
  return offsets;
}

/** Keys in file order, merged ones at their `<<`. */
export function keysAt(document: Document.Parsed, path: readonly (string | number)[]): string[] {
  let node = asNode(document.contents);
  for (const segment of path) node = stepInto(document, node, segment)?.value;
  const map = resolveAlias(document, node);
  return isMap(map) ? [...pairsOf(document, map).keys()] : [];
}

/**
 * Finds mistakes that the parser accepts: wrong aliases, wrong merge keys, and nesting that is too deep; and duplicate
 * keys, of which the last value counts.
 */
export function findMistakes(document: Document.Parsed): {
  readonly mistakes: readonly TreeMistake[];
  readonly duplicates: readonly TreeMistake[];
} {
  const mistakes: TreeMistake[] = [];
  const duplicates: TreeMistake[] = [];
  const parents: Node[] = [];
  let aliases = 0;
  const report = (node: unknown, message: string) =>
    mistakes.push({ offset: offsetOf(asNode(node)) ?? 0, message });
  /** Returns false to end the walk. */
  const walk = (node: unknown): boolean => {
    if (isAlias(node)) {
      aliases += 1;
      const target = aliases > maxAliases ? undefined : aliasTargetOf(document, node);
      if (aliases > maxAliases) report(node, `it has more than ${maxAliases} aliases`);
      else if (target === undefined)
        report(node, `no anchor named &${node.source} is defined above this alias`);
      else if (parents.includes(target)) report(node, `the alias *${node.source} is inside its own anchor`);
      return aliases <= maxAliases;
    }
    if (!isCollection(node)) return true;
    const isDeep = parents.length >= maxDepth;
    if (isDeep || (isMap(node) && countMerged(document, node) > maxMergedKeys)) {
      report(node, isDeep ? tooDeep : 'its merge keys expand to too many keys');
      return false;
    }
    parents.push(node);
    const isWhole = isMap(node) ? walkPairs(node) : isSeq(node) && node.items.every(walk);
    parents.pop();
    return isWhole;
  };
  const walkPairs = ({ items }: YAMLMap): boolean => {
    const seen = new Set<string>();
    for (const { key } of items) {
      const text = keyText(key);
      if (seen.has(text) && !isMergeKey(key))
        duplicates.push({
          offset: offsetOf(asNode(key)) ?? 0,
          message: `duplicate key \`${text}\` in one mapping`,
          hint: 'Remove one of the two.',
        });
      seen.add(text);
    }
    return items.every(({ key, value }) => {
      if (isMergeKey(key) && !mergeSources(document, value).every(isMap))
        report(value, 'a merge key `<<` must have a mapping or a list of mappings');
      return walk(key) && walk(value);
    });
  };
  walk(document.contents);
  return { mistakes, duplicates };
}

/** Far beyond any real file, and far below a stack overflow. */
const maxDepth = 100;
/** Each alias is looked up among all anchors above it. */
const maxAliases = 1000;
/** Nested merge keys expand exponentially. */
const maxMergedKeys = 100_000;

function asNode(value: unknown): Node | undefined {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value) ? value : undefined;
}

function offsetOf(node: Node | undefined): number | undefined {
  return node?.range?.[0];
}

function offsetsOf(document: Document.Parsed, node: Node | undefined, keyOffset: number): NodeOffsets {
  const range = node?.range;
  const valueOffset = range && range[1] > range[0] ? range[0] : keyOffset;
  const target = resolveAlias(document, node);
  return { valueOffset, keyOffset, source: isScalar(target) ? target.source : undefined };
}

interface Step {
  readonly value: Node | undefined;
  readonly keyOffset: number | undefined;
}

function stepInto(
  document: Document.Parsed,
  parent: Node | undefined,
  segment: string | number,
): Step | undefined {
  const node = resolveAlias(document, parent);
  if (isSeq(node)) {
    const value = asNode(node.items[Number(segment)]);
    return value && { value, keyOffset: undefined };
  }
  if (!isMap(node)) return undefined;
  const pair = pairsOf(document, node).get(String(segment));
  return pair && { value: asNode(pair.value), keyOffset: offsetOf(asNode(pair.key)) };
}

/** The last node of that name above the alias. One walk resolves all aliases of a document. */
function aliasTargetOf(document: Document.Parsed, alias: Alias): Node | undefined {
  const known = targets.get(document) ?? findTargets(document);
  targets.set(document, known);
  return known.get(alias);
}

const targets = new WeakMap<Document.Parsed, ReadonlyMap<Alias, Node>>();

function findTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const found = new Map<Alias, Node>();
  visit(document, {
    Node(_key, node) {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (isAlias(node) && target !== undefined) found.set(node, target);
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return found;
}

function pairsOf(document: Document.Parsed, map: YAMLMap): ReadonlyMap<string, Pair> {
  const known = indexes.get(map);
  if (known !== undefined) return known;
  const index = new Map<string, Pair>();
  // A merge key that leads back here adds nothing.
  indexes.set(map, index);
  for (const pair of map.items) {
    if (isMergeKey(pair.key)) addMerged(index, document, pair);
    else index.set(keyText(pair.key), pair);
  }
  return index;
}

const indexes = new WeakMap<YAMLMap, Map<string, Pair>>();

function addMerged(index: Map<string, Pair>, document: Document.Parsed, { value }: Pair): void {
  for (const source of mergeSources(document, value)) {
    if (!isMap(source)) continue;
    for (const [key, pair] of pairsOf(document, source)) if (!index.has(key)) index.set(key, pair);
  }
}

function mergeSources(document: Document.Parsed, value: unknown): (Node | undefined)[] {
  const target = resolveAlias(document, value);
  return isSeq(target) ? target.items.map((item) => resolveAlias(document, item)) : [target];
}

function resolveAlias(document: Document.Parsed, value: unknown): Node | undefined {
  if (isAlias(value)) return aliasTargetOf(document, value);
  return isScalar(value) || isMap(value) || isSeq(value) ? value : undefined;
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function countMerged(document: Document.Parsed, map: YAMLMap): number {
  const known = counts.get(map);
  if (known !== undefined) return known;
  const merged = map.items.filter(({ key }) => isMergeKey(key));
  if (merged.length === 0) return 0;
  counts.set(map, 0);
  const sources = merged
    .flatMap(({ value }) => mergeSources(document, value))
    .filter((source) => isMap(source));
  const count = sources.reduce((sum, source) => sum + source.items.length + countMerged(document, source), 0);
  counts.set(map, count);
  return count;
}

const counts = new WeakMap<YAMLMap, number>();
