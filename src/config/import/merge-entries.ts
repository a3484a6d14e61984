import { isDeepStrictEqual } from 'node:util';
import { type Document, isCollection, isMap, isSeq, parseDocument } from 'yaml';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { firstFreeName } from './names.ts';
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
  const existing = plainAt(document, path);
  const known = isObject(existing) ? Object.values(existing) : Array.isArray(existing) ? existing : [];
  if (known.some((each) => isDeepStrictEqual(each, value))) return false;
  if (section === 'imports') {
    if (!isSeq(document.getIn(path))) document.setIn(path, document.createNode([]));
    openBlock(document, path);
    document.addIn(path, createNode(document, value));
    return true;
  }
  if (!isMap(document.getIn(path))) document.setIn(path, document.createNode({}));
  openBlock(document, path);
  document.setIn([...path, freeName(name, isObject(existing) ? existing : {})], createNode(document, value));
  return true;
}

/** A node in which a list that two entries share is written out, not aliased. */
function createNode(document: Document, value: unknown) {
  return document.createNode(value, { aliasDuplicateObjects: false });
}

/** Turns the collections around the new entry into block style: a block inside braces is not valid YAML. */
function openBlock(document: Document, path: readonly string[]): void {
  for (let depth = 0; depth <= path.length; depth += 1) {
    const around = document.getIn(path.slice(0, depth));
    if (isCollection(around)) around.flow = false;
  }
}

function plainAt(document: Document, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document.toJS());
}

/** A free name: a numbered one is counted up. Throws CONFIG_INVALID for any other that is taken. */
function freeName(name: string, existing: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(existing, name)) return name;
  const stem = /^(.+)-\d+$/.exec(name)?.[1];
  if (stem !== undefined) return firstFreeName(stem, new Set(Object.keys(existing)));
  const hint = 'Rename one of the two.';
  throw new RuntimeError('CONFIG_INVALID', `spec.hooks has another hook ${name} already`, { hint });
}
