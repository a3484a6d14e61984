import { canonicalJson } from '../../../../json/equal.ts';
import { isObject } from '../../../../json/json.ts';
import type { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import type { Place } from '../../place.ts';
import { splitChangedText } from '../../split-text.ts';
import type { BodyPart } from './body-part.ts';
import { describeParts } from './describe.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/** Where a text goes that stands for none of the old ones. */
export interface TextInsertion {
  readonly list: Place | undefined;
  /** The JSON of a block with the text. */
  readonly block: (text: string) => string;
  /** Before the entry of this index; the last one without. */
  readonly before?: number | undefined;
}

/** Writes the texts and files of a replaced message at their places. Throws REPLY_MALFORMED. */
export function writeBody(
  plain: PlainObject,
  body: readonly BodyPart[],
  edits: Edits,
  insertion: TextInsertion,
): void {
  const { content, parts } = plain;
  if (typeof content !== 'string') throw unwritable('a replaced message has no `content`');
  if (parts === undefined || parts === null) {
    writeTexts(content, body, edits, insertion);
    return;
  }
  const given = requireParts(parts);
  const texts = given.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  if (texts.length > 0 && content !== texts.join('') && content !== texts.join('\n'))
    throw unwritable('a replaced message says one thing in `content`, another in `parts`');
  if (texts.length === 0 && content !== '') {
    if (describeParts(body).content !== '')
      throw unwritable('the `parts` of a replaced message lack its text');
    insertText(content, edits, insertion);
  }
  writeParts(given, body, edits);
}

/** Without `parts` the message is its text alone. */
function writeTexts(
  content: string,
  body: readonly BodyPart[],
  edits: Edits,
  insertion: TextInsertion,
): void {
  const texts = body.filter(({ described }) => described.type === 'text');
  for (const part of body) if (!texts.includes(part)) removePart(part, edits);
  const old = texts.map(({ described }) => described.text ?? '');
  if (texts.length === 0) {
    if (content !== '') insertText(content, edits, insertion);
    return;
  }
  const changed = splitChangedText(old, content);
  for (const [index, part] of texts.entries()) writeText(part, changed[index] ?? '', edits);
}

/** What is left empty goes, since the API takes no empty texts; a plain string stays one. */
function writeText(part: BodyPart, text: string, edits: Edits): void {
  if (text === part.described.text) return;
  if (text === '' && part.remove !== undefined) part.remove(edits);
  else part.write?.(edits, text);
}

function writeParts(given: readonly PlainObject[], body: readonly BodyPart[], edits: Edits): void {
  let at = 0;
  for (const part of body) {
    const next = given[at];
    if (next === undefined || keyOf(next) !== keyOf(part.described)) removePart(part, edits);
    else {
      at += 1;
      const { text } = next;
      if (part.described.text !== undefined && typeof text !== 'string')
        throw unwritable('a part of a replaced message has lost its text');
      if (typeof text === 'string') writeText(part, text, edits);
    }
  }
  if (at < given.length) throw unwritable('a part of a replaced message is none of those that were sent');
}

function keyOf({ text: _, ...rest }: PlainObject): string {
  return canonicalJson(rest);
}

function removePart(part: BodyPart, edits: Edits): void {
  if (part.remove === undefined) part.write?.(edits, '');
  else part.remove(edits);
}

function insertText(text: string, edits: Edits, { list, block, before }: TextInsertion): void {
  if (list === undefined) throw unwritable('a replaced message has a text that cannot be put into the body');
  edits.insert(list, block(text), before);
}

function requireParts(parts: unknown): readonly PlainObject[] {
  if (Array.isArray(parts) && parts.every(isObject)) return parts;
  throw unwritable('the `parts` of a replaced message are not a list of objects');
}
