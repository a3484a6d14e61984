import {
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
import { tooDeep } from './yaml-syntax.ts';

/** Where a value and its key stand, as offsets into the text, and a scalar's own spelling. */
export interface Place {
  readonly valueOffset: number;
  readonly keyOffset: number;
  /** Undefined for what is no scalar or is not there. */
  readonly source: string | undefined;
}

export interface TreeMistake {
  readonly offset: number;
  readonly message: string;
}

/** Finds the value at `path`, through aliases and merge keys; its nearest ancestor when there is none. */
export function lookUp(document: Document.Parsed, path: readonly (string | number)[]): Place {
  let node = asNode(document.contents);
  let place = placeOf(document, node, offsetOf(node) ?? 0);
  for (const segment of path) {
    const step = stepInto(document, node, segment);
    if (step === undefined) return { ...place, source: undefined };
    node = step.value;
    place = placeOf(document, node, step.keyOffset ?? offsetOf(node) ?? place.keyOffset);
  }
  return place;
}

/** The keys of the mapping at `path` in the order of the file, merged ones where their `<<` stands. */
export function keysAt(document: Document.Parsed, path: readonly (string | number)[]): string[] {
  let node = asNode(document.contents);
  for (const segment of path) node = stepInto(document, node, segment)?.value;
  const map = resolve(document, node);
  return isMap(map) ? [...new Set(pairsOf(document, map).map(({ key }) => keyText(key)))] : [];
}

/** What the parser lets pass but no plain value can express: dangling or circular aliases, odd merge keys. */
export function findMistakes(document: Document.Parsed): TreeMistake[] {
  const mistakes: TreeMistake[] = [];
  visit(document, {
    Collection(_key, collection, ancestors) {
      if (ancestors.filter(isCollection).length < deepest) return undefined;
      mistakes.push({ offset: offsetOf(collection) ?? 0, message: tooDeep });
      return visit.BREAK;
    },
    Alias(_key, alias, ancestors) {
      const target = alias.resolve(document);
      if (target === undefined) {
        mistakes.push({
          offset: offsetOf(alias) ?? 0,
          message: `no anchor named &${alias.source} stands above this alias`,
        });
      } else if (ancestors.some((ancestor) => ancestor === target)) {
        mistakes.push({
          offset: offsetOf(alias) ?? 0,
          message: `the alias *${alias.source} stands inside its own anchor`,
        });
      }
    },
    Pair(_key, pair) {
      if (!isMergeKey(pair.key) || mergeSources(document, asNode(pair.value)).every(isMap)) return;
      mistakes.push({
        offset: offsetOf(asNode(pair.value)) ?? 0,
        message: 'a merge key `<<` takes a mapping or a list of them',
      });
    },
  });
  return mistakes;
}

/** Keys that stand twice in one mapping; the value of the last one counts. */
export function findDuplicates(document: Document.Parsed): TreeMistake[] {
  const mistakes: TreeMistake[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const text = keyText(key);
        if (seen.has(text) && !isMergeKey(key)) {
          mistakes.push({
            offset: offsetOf(asNode(key)) ?? 0,
            message: `the key \`${text}\` stands twice in one mapping`,
          });
        }
        seen.add(text);
      }
    },
  });
  return mistakes;
}

/** Far beyond any real file, and far below what overflows a stack. */
const deepest = 100;

function asNode(value: unknown): Node | undefined {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value) ? value : undefined;
}

function offsetOf(node: Node | undefined): number | undefined {
  return node?.range?.[0];
}

/** A value that is not written at all (`key:` and nothing more) stands where its key does. */
function placeOf(document: Document.Parsed, node: Node | undefined, keyOffset: number): Place {
  const range = node?.range;
  const valueOffset = range && range[1] > range[0] ? range[0] : keyOffset;
  const target = resolve(document, node);
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
  const node = resolve(document, parent);
  if (isSeq(node)) {
    const value = asNode(node.items[Number(segment)]);
    return value && { value, keyOffset: undefined };
  }
  if (!isMap(node)) return undefined;
  // The last of two equal keys is the one whose value counts.
  const pair = ownOrMergedPair(document, node, String(segment));
  return pair && { value: asNode(pair.value), keyOffset: offsetOf(asNode(pair.key)) };
}

function resolve(document: Document.Parsed, node: Node | undefined): Node | undefined {
  return isAlias(node) ? asNode(node.resolve(document)) : node;
}

function ownOrMergedPair(document: Document.Parsed, map: YAMLMap, key: string): Pair | undefined {
  const own = map.items.findLast((pair) => !isMergeKey(pair.key) && keyText(pair.key) === key);
  return own ?? pairsOf(document, map).find((pair) => keyText(pair.key) === key);
}

function pairsOf(document: Document.Parsed, map: YAMLMap): Pair[] {
  return map.items.flatMap((pair) => {
    if (!isMergeKey(pair.key)) return [pair];
    return mergeSources(document, asNode(pair.value)).flatMap((source) =>
      isMap(source) ? pairsOf(document, source) : [],
    );
  });
}

function mergeSources(document: Document.Parsed, node: Node | undefined): (Node | undefined)[] {
  const target = resolve(document, node);
  return isSeq(target) ? target.items.map((item) => resolve(document, asNode(item))) : [target];
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}
