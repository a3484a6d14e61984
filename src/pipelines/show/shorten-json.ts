import { composeJson } from '../../base/json/compose.ts';
import { type Json, parseLossless } from '../../base/json/json.ts';
import { fillIn, LongJson, type LongText, PartedJson } from '../../base/json/parted.ts';
import { shorten } from '../../base/text/phrases.ts';
import { KeptText, QuotedText } from '../../store/kept-text.ts';

/** Cuts long strings and lists. Very long values are not read; their length replaces them. */
export function shortenJson(json: Json, maxCharacters: number | undefined): Json {
  if (maxCharacters === undefined) return json;
  return composeJson(shortenValue(parseLossless(readShort(json, maxCharacters)), maxCharacters));
}

function readShort(json: Json, max: number): string {
  if (json instanceof LongJson) return readPart(json.long, max);
  if (!(json instanceof PartedJson)) return json.text;
  return fillIn(json.skeleton, (part) => readPart(json.parts[part], max));
}

function readPart(part: LongText | undefined, max: number): string {
  if (part === undefined) return 'null';
  const length = lengthOf(part);
  if (length === undefined || length <= Math.max(READ_CHARACTERS, 8 * max)) return part.read();
  return JSON.stringify(`(${length} characters)`);
}

/** The maximum number of characters that is read, although less is shown. */
const READ_CHARACTERS = 65_536;

function lengthOf(part: LongText): number | undefined {
  if (part instanceof KeptText) return part.length;
  return part instanceof QuotedText ? part.kept.length : undefined;
}

function shortenValue(value: unknown, max: number): unknown {
  if (typeof value === 'string') {
    const more = value.length - max;
    return more > 0 ? `${shorten(value, max)} (${more} more characters)` : value;
  }
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) {
    const kept = value.slice(0, MOST_ELEMENTS).map((each: unknown) => shortenValue(each, max));
    return value.length > MOST_ELEMENTS ? [...kept, `(${value.length - MOST_ELEMENTS} more)`] : kept;
  }
  const members = Object.entries(value);
  const kept = members.slice(0, MOST_ELEMENTS).map(([key, member]) => [key, shortenValue(member, max)]);
  if (members.length > MOST_ELEMENTS) kept.push(['…', `${members.length - MOST_ELEMENTS} more`]);
  return Object.fromEntries(kept);
}

const MOST_ELEMENTS = 50;
