import { isSameToTheDigit } from '../../../json/equal.ts';
import { isObject } from '../../../json/json.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { encodeWireText } from '../media.ts';
import type { Place } from '../place.ts';
import { type ContentPart, readPart } from './content-part.ts';
import type { ReadContext } from './read-context.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/** The text and the files of a message. */
export interface Content {
  /** All its text parts without anything between them. */
  readonly text: string;
  /** Absent where the text alone says it all. */
  readonly parts: readonly ContentPart['told'][] | undefined;
  /** Writes what a hook made of `content` and `parts`. Throws REPLY_MALFORMED. */
  write(changed: PlainObject, edits: Edits): void;
}

/** Reads the `content` of a message: a text, a list of parts, null or absent. */
export function readContent(message: Place, context: ReadContext): Content {
  const place = message.at('content');
  if (place?.kind === 'array') return readParts(place, context);
  const text = place?.text;
  if (place !== undefined && text === undefined && place.kind !== 'null') {
    throw context.side.invalid('is neither a text nor a list of parts', `${context.at}.content`);
  }
  return {
    text: text ?? '',
    parts: undefined,
    write: (changed, edits) => {
      const given = requireText(changed, undefined);
      if (given === (text ?? '')) return;
      if (place === undefined) edits.addMember(message, 'content', JSON.stringify(given));
      else edits.replace(place, JSON.stringify(given));
    },
  };
}

function readParts(list: Place, context: ReadContext): Content {
  const parts = list.items.map((place, index) => readPart(place, `content[${index}]`, context));
  const text = parts.map(({ told }) => told.text ?? '').join('');
  const isPlain =
    parts.length === 0 ||
    (parts.length === 1 && parts[0]?.told.type === 'text' && parts[0].text !== undefined);
  const told = isPlain ? undefined : parts.map((part) => part.told);
  return {
    text,
    parts: told,
    write: (changed, edits) => writeParts(changed, { list, parts, text, told }, edits),
  };
}

interface SentParts {
  readonly list: Place;
  readonly parts: readonly ContentPart[];
  readonly text: string;
  readonly told: readonly PlainObject[] | undefined;
}

function writeParts(changed: PlainObject, { list, parts, text, told }: SentParts, edits: Edits): void {
  const given = readGivenParts(changed);
  if (changed['content'] === text && isSameToTheDigit(given ?? [], told ?? [])) return;
  if (told === undefined) {
    const [only] = parts;
    const newText = requireText(changed, given);
    if (only?.text !== undefined) edits.replaceText(only.text, newText);
    else edits.insert(list, JSON.stringify({ type: 'text', text: newText }));
  } else if (given === undefined) edits.replaceWhole(list, JSON.stringify(requireText(changed, given)));
  else layOut(given, { list, parts }, edits);
}

/** Puts the parts that a hook gave where the old ones stand: files stay in their order, texts take the places between them. */
function layOut(
  given: readonly PlainObject[],
  { list, parts }: Pick<SentParts, 'list' | 'parts'>,
  edits: Edits,
): void {
  let next = 0;
  for (const [at, part] of given.entries()) {
    const found = findPart(parts, next, { part, isFollowedByFile: (old) => fileFollows(given, at, old) });
    if (found === undefined) {
      edits.insert(list, newPart(part), next);
      continue;
    }
    for (; next < found; next += 1) edits.remove(list, next);
    changePart(parts[found], part, edits);
    next = found + 1;
  }
  for (; next < parts.length; next += 1) edits.remove(list, next);
}

interface WantedPart {
  readonly part: PlainObject;
  /** Whether this old file comes later among those that were given. */
  readonly isFollowedByFile: (old: ContentPart) => boolean;
}

/** The index of the old part that a given one stands for, from `from` on; no file that is still to come is passed over. */
function findPart(
  parts: readonly ContentPart[],
  from: number,
  { part, isFollowedByFile }: WantedPart,
): number | undefined {
  for (let index = from; index < parts.length; index += 1) {
    const old = parts[index];
    if (old === undefined) return undefined;
    if (isSamePart(old, part)) return index;
    if (old.text === undefined && isFollowedByFile(old)) return undefined;
  }
  return undefined;
}

function isSamePart({ told }: ContentPart, part: PlainObject): boolean {
  const { text: _old, ...sent } = told;
  const { text: _new, ...given } = part;
  return isSameToTheDigit(sent, given);
}

function fileFollows(given: readonly PlainObject[], at: number, old: ContentPart): boolean {
  return given.slice(at + 1).some((part) => isSamePart(old, part));
}

function changePart(old: ContentPart | undefined, part: PlainObject, edits: Edits): void {
  const { text } = part;
  if (old === undefined || old.told.text === text) return;
  if (typeof text !== 'string') throw unwritable('a part of a replaced message has lost its text');
  if (old.text !== undefined) {
    edits.replaceText(old.text, text);
    return;
  }
  const carried = old.file && encodeWireText(old.file.file, text);
  if (old.file === undefined || carried === undefined)
    throw unwritable('a file of a replaced message has got a text');
  edits.replaceText(old.file.place, carried);
}

function newPart({ type, text }: PlainObject): string {
  if (type !== 'text' || typeof text !== 'string') {
    throw unwritable('a replaced message has a part that is neither text nor one of those that were sent');
  }
  return JSON.stringify({ type, text });
}

/** The text of a message that is nothing but text. */
function requireText({ content }: PlainObject, parts: readonly PlainObject[] | undefined): string {
  if (parts?.some(({ type }) => type !== 'text')) {
    throw unwritable('a replaced message has a file where there was none');
  }
  return typeof content === 'string' ? content : '';
}

function readGivenParts({ parts }: PlainObject): readonly PlainObject[] | undefined {
  if (parts === undefined || parts === null) return undefined;
  if (Array.isArray(parts) && parts.every(isObject)) return parts;
  throw unwritable('the `parts` of a replaced message are not a list of objects');
}
