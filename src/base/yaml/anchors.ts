import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';

/** What an alias stands for: the last node of that name above it. All of a document are found in one walk. */
export function aliasTargetOf(document: Document.Parsed, alias: Alias): Node | undefined {
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

/** The pairs of a mapping by their keys, in the order of the file, merged ones where their `<<` stands; own ones win. */
export function pairsOf(document: Document.Parsed, map: YAMLMap): ReadonlyMap<string, Pair> {
  const known = indexes.get(map);
  if (known !== undefined) return known;
  const index = new Map<string, Pair>();
  // What a merge key leads back to has nothing to add.
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

/** What a merge key takes its keys from. */
export function mergeSources(document: Document.Parsed, value: unknown): (Node | undefined)[] {
  const target = resolveAlias(document, value);
  return isSeq(target) ? target.items.map((item) => resolveAlias(document, item)) : [target];
}

/** The node itself, or what it stands for. */
export function resolveAlias(document: Document.Parsed, value: unknown): Node | undefined {
  if (isAlias(value)) return aliasTargetOf(document, value);
  return isScalar(value) || isMap(value) || isSeq(value) ? value : undefined;
}

export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** How many keys the merge keys of a mapping bring, all of them written out. */
export function countMerged(document: Document.Parsed, map: YAMLMap): number {
  const known = counts.get(map);
  if (known !== undefined) return known;
  counts.set(map, 0);
  const sources = map.items
    .filter(({ key }) => isMergeKey(key))
    .flatMap(({ value }) => mergeSources(document, value))
    .filter((source) => isMap(source));
  const count = sources.reduce((sum, source) => sum + source.items.length + countMerged(document, source), 0);
  counts.set(map, count);
  return count;
}

const counts = new WeakMap<YAMLMap, number>();
