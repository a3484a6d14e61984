import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, type Node, visit } from 'yaml';
import { countMerged, follow, isMergeKey, keyText, mergeSources, pairsOf, targetOf } from './anchors.ts';
import { tooDeep } from './syntax.ts';

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
  const map = follow(document, node);
  return isMap(map) ? [...pairsOf(document, map).keys()] : [];
}

/** What the parser lets pass but no plain value can express: dangling or circular aliases, odd merge keys. */
export function findMistakes(document: Document.Parsed): TreeMistake[] {
  const mistakes: TreeMistake[] = [];
  let aliases = 0;
  visit(document, {
    Collection(_key, collection, ancestors) {
      const isDeep = ancestors.filter(isCollection).length >= deepest;
      if (!isDeep && !(isMap(collection) && countMerged(document, collection) > mostMerged)) return undefined;
      const message = isDeep ? tooDeep : 'its merge keys stand for too many keys';
      mistakes.push({ offset: offsetOf(collection) ?? 0, message });
      return visit.BREAK;
    },
    Alias(_key, alias, ancestors) {
      aliases += 1;
      if (aliases > mostAliases) {
        mistakes.push({ offset: offsetOf(alias) ?? 0, message: `it has more than ${mostAliases} aliases` });
        return visit.BREAK;
      }
      const target = targetOf(document, alias);
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
      return undefined;
    },
    Pair(_key, pair) {
      if (!isMergeKey(pair.key) || mergeSources(document, pair.value).every(isMap)) return;
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
/** Each is looked up among all that stands above it. */
const mostAliases = 1000;
/** Merge keys of merge keys can make a short text mean more than any memory holds. */
const mostMerged = 100_000;

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
  const target = follow(document, node);
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
  const node = follow(document, parent);
  if (isSeq(node)) {
    const value = asNode(node.items[Number(segment)]);
    return value && { value, keyOffset: undefined };
  }
  if (!isMap(node)) return undefined;
  // The last of two equal keys is the one whose value counts.
  const pair = pairsOf(document, node).get(String(segment));
  return pair && { value: asNode(pair.value), keyOffset: offsetOf(asNode(pair.key)) };
}
