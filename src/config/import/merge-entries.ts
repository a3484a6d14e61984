import { isDeepStrictEqual } from 'node:util';
import { type Document, isCollection, isMap, isSeq, parseDocument } from 'yaml';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { firstFree } from './names.ts';
import type { ImportedEntry } from './to-entries.ts';

/**
 * The config’s text with these entries in it, comments and all; what it has already, under whatever name, is not added
 * again. Throws CONFIG_INVALID where the text is no YAML that could take them, or has another hook of that name.
 */
export function mergeEntries(text: string, entries: readonly ImportedEntry[]): string {
  const document = parseDocument(text, { merge: true });
  const [mistake] = document.errors;
  if (mistake !== undefined) throw new RuntimeError('CONFIG_INVALID', mistake.message);
  const added = entries.filter((entry) => addEntry(document, entry));
  if (added.length === 0) return text;
  return document.toString({
    lineWidth: 0,
    flowCollectionPadding: /\{ \S/.test(text),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
  });
}

function addEntry(document: Document, { section, name, value }: ImportedEntry): boolean {
  if (!isMap(document.get('spec'))) document.set('spec', document.createNode({}));
  const path = ['spec', section];
  const present = plainAt(document, path);
  const known = isObject(present) ? Object.values(present) : Array.isArray(present) ? present : [];
  if (known.some((each) => isDeepStrictEqual(each, value))) return false;
  if (section === 'imports') {
    if (!isSeq(document.getIn(path))) document.setIn(path, document.createNode([]));
    openBlock(document, path);
    document.addIn(path, createNode(document, value));
    return true;
  }
  if (!isMap(document.getIn(path))) document.setIn(path, document.createNode({}));
  openBlock(document, path);
  document.setIn([...path, freeName(name, isObject(present) ? present : {})], createNode(document, value));
  return true;
}

/** One list that two entries share is written out in both. */
function createNode(document: Document, value: unknown) {
  return document.createNode(value, { aliasDuplicateObjects: false });
}

/** What lies around the new entry goes on line by line; a block inside of braces is no YAML. */
function openBlock(document: Document, path: readonly string[]): void {
  for (let depth = 0; depth <= path.length; depth += 1) {
    const around = document.getIn(path.slice(0, depth));
    if (isCollection(around)) around.flow = false;
  }
}

function plainAt(document: Document, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document.toJS());
}

/** A numbered name gives way to one that is free; any other names one hook and no second. */
function freeName(name: string, present: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(present, name)) return name;
  const stem = /^(.+)-\d+$/.exec(name)?.[1];
  if (stem !== undefined) return firstFree(stem, new Set(Object.keys(present)));
  const hint = 'Rename one of the two.';
  throw new RuntimeError('CONFIG_INVALID', `spec.hooks has another hook ${name} already`, { hint });
}
