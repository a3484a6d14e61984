import { QUOTE } from '../../base/json/ends.ts';
import { parseLossless, stringifyJson } from '../../base/json/json.ts';
import { isJson } from '../../base/json/parse.ts';
import { decodeString, JsonTokens } from '../../base/json/tokens.ts';
import { applyEdits, type Edit } from './edit.ts';
import { integerDigits } from './integer-digits.ts';
import type { TextChanger, TextSource } from './text-changer.ts';

export interface RewriteOptions {
  readonly changer: TextChanger;
  readonly textSource: TextSource;
  /** Whether a tool is called with it: findings in keys and numbers then block, as those cannot be changed. */
  readonly isExecuted: boolean;
}

/** Rewrites the strings of a JSON value; numbers keep their digits. Returns the same value if nothing changes. */
export function rewriteTree(value: unknown, rewriting: RewriteOptions): unknown {
  if (value === undefined || value === null) return value;
  const isText = typeof value === 'string';
  const text = isText ? value : stringifyJson(value);
  const edits = isText ? editText(text, rewriting) : editJson(text, rewriting);
  if (edits.length === 0) return value;
  const changed = applyEdits(text, edits);
  return isText ? changed : parseLossless(changed);
}

/**
 * Returns the changes of a text. In a text that is a JSON object or list, only strings change, so that it stays JSON. A
 * key counts as the words before its value.
 */
export function editText(text: string, rewriting: RewriteOptions, prefix = '', depth = 0): Edit[] {
  if (text === '') return [];
  if (depth < maxDepth && /^\s*[{[]/.test(text) && isJson(text)) return editJson(text, rewriting, depth);
  return rewriting.changer.edit(text, rewriting.textSource, prefix);
}

/** Deeper JSON inside JSON strings is treated as text. */
const maxDepth = 4;

function editJson(text: string, rewriting: RewriteOptions, depth = 0): Edit[] {
  const keys = new Map<string, number>();
  const edits: Edit[] = [];
  const tokens = new JsonTokens(text);
  while (tokens.next()) {
    const { start, end } = tokens;
    const written = text.slice(start, end);
    const changed = editToken(tokens, written, { rewriting, depth, keys });
    if (changed !== written) edits.push({ start, end, text: changed });
  }
  return edits;
}

interface TokenContext {
  readonly rewriting: RewriteOptions;
  readonly depth: number;
  readonly keys: Map<string, number>;
}

function editToken(token: JsonTokens, written: string, context: TokenContext): string {
  if (token.isKey) return editKey(written, context);
  if (/^[-\d]/.test(written)) return editNumber(written, prefixOf(token.name), context.rewriting);
  if (token.code !== QUOTE) return written;
  const value = decodeString(written, 0, written.length);
  const edits = editText(value, context.rewriting, prefixOf(token.name), context.depth + 1);
  return edits.length === 0 ? written : JSON.stringify(applyEdits(value, edits));
}

function editKey(written: string, { rewriting, keys }: TokenContext): string {
  const { changer, textSource, isExecuted } = rewriting;
  const key = decodeString(written, 0, written.length);
  if (isExecuted && changer.blockAll(key, textSource, '')) return written;
  const edits = changer.edit(key, textSource);
  if (edits.length === 0) return written;
  const changed = applyEdits(key, edits);
  const uses = (keys.get(changed) ?? 0) + 1;
  keys.set(changed, uses);
  return JSON.stringify(uses === 1 ? changed : `${changed} (${uses})`);
}

function editNumber(written: string, prefix: string, rewriting: RewriteOptions): string {
  // Data frames add a sign, a fraction or an exponent to numbers of any kind.
  const digits = integerDigits(written) ?? '';
  if (digits.length < minNumberDigits) return written;
  const { changer, textSource, isExecuted } = rewriting;
  if (isExecuted && changer.blockAll(digits, textSource, prefix)) return written;
  const edits = changer.edit(digits, textSource, prefix);
  return edits.length === 0 ? written : JSON.stringify(applyEdits(digits, edits));
}

const minNumberDigits = 7;

function prefixOf(name: string): string {
  if (name === '' || name.length > maxNameLength) return '';
  return `${name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ')}: `;
}

const maxNameLength = 60;
