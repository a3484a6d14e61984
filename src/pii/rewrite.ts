import { parseLossless, stringifyJson } from '../json/json.ts';
import { applyEdits, type Edit } from './edit.ts';
import { isJsonContainer, type JsonToken, scanStrings } from './json-strings.ts';
import { toInteger } from './plain-number.ts';
import type { Treatment, Voice } from './treatment.ts';

export interface Rewriting {
  readonly treatment: Treatment;
  readonly voice: Voice;
  /** Whether a tool runs on it: then keys and numbers must stay what they are, and what is found there blocks. */
  readonly isExecuted: boolean;
}

/**
 * A JSON value with its strings rewritten; what is not changed keeps its digits. A string is a text itself. The
 * very value when nothing had to be changed.
 */
export function rewriteTree(value: unknown, rewriting: Rewriting): unknown {
  if (value === undefined || value === null) return value;
  const isText = typeof value === 'string';
  const text = isText ? value : stringifyJson(value);
  const edits = isText ? editText(text, rewriting) : editJson(text, rewriting);
  if (edits.length === 0) return value;
  const changed = applyEdits(text, edits);
  return isText ? changed : parseLossless(changed);
}

/**
 * The changes of a text. One that is a JSON object or list is changed inside its strings, so that it stays JSON
 * and everything else in it keeps its bytes; the key of a value counts as the words before it.
 */
export function editText(text: string, rewriting: Rewriting, lead = '', depth = 0): Edit[] {
  if (text === '') return [];
  if (depth < deepest && isJsonContainer(text)) return editJson(text, rewriting, depth);
  return rewriting.treatment.edit(text, rewriting.voice, lead);
}

/** JSON within strings of JSON is read as such a few times over; what is deeper is read as text. */
const deepest = 4;

/** The changes of a JSON text, at most one for each of its tokens. */
export function editJson(text: string, rewriting: Rewriting, depth = 0): Edit[] {
  const keys = new Map<string, number>();
  return [...scanStrings(text)].flatMap((token) => {
    const written = text.slice(token.start, token.end);
    const changed = editToken(token, written, { rewriting, depth, keys });
    return changed === written ? [] : [{ start: token.start, end: token.end, text: changed }];
  });
}

interface Place {
  readonly rewriting: Rewriting;
  readonly depth: number;
  /** How often each changed key has been written. */
  readonly keys: Map<string, number>;
}

function editToken({ kind, name }: JsonToken, written: string, place: Place): string {
  switch (kind) {
    case 'key':
      return editKey(written, place);
    case 'number':
      return editNumber(written, leadOf(name), place.rewriting);
    case 'string': {
      const value = String(JSON.parse(written));
      const edits = editText(value, place.rewriting, leadOf(name), place.depth + 1);
      return edits.length === 0 ? written : JSON.stringify(applyEdits(value, edits));
    }
  }
}

function editKey(written: string, { rewriting, keys }: Place): string {
  const { treatment, voice, isExecuted } = rewriting;
  const key = String(JSON.parse(written));
  if (isExecuted && blockAll(key, '', rewriting)) return written;
  const edits = treatment.edit(key, voice);
  if (edits.length === 0) return written;
  const changed = applyEdits(key, edits);
  const uses = (keys.get(changed) ?? 0) + 1;
  keys.set(changed, uses);
  // Two keys that have become the same would be one.
  return JSON.stringify(uses === 1 ? changed : `${changed} (${uses})`);
}

function editNumber(written: string, lead: string, rewriting: Rewriting): string {
  // A sign, a fraction or an exponent is what data frames make of a number of anything.
  const digits = toInteger(written) ?? '';
  if (digits.length < shortestNumber) return written;
  const { treatment, voice, isExecuted } = rewriting;
  if (isExecuted && blockAll(digits, lead, rewriting)) return written;
  const edits = treatment.edit(digits, voice, lead);
  return edits.length === 0 ? written : JSON.stringify(applyEdits(digits, edits));
}

const shortestNumber = 7;

/** Blocks what is found in a text that cannot be changed; whether there was anything. */
function blockAll(text: string, lead: string, { treatment, voice }: Rewriting): boolean {
  const findings = treatment.findings(text, voice, lead);
  for (const { entity } of findings) treatment.block(entity);
  return findings.length > 0;
}

/** `phoneNumber` and `phone_number` as the words "phone number: ". */
function leadOf(name: string): string {
  if (name === '' || name.length > longestName) return '';
  return `${name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ')}: `;
}

const longestName = 60;
