import { isSameToTheDigit } from '../../../json/equal.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';
import type { ReadContext } from './read-context.ts';

/** The pages that an answer cites. */
export interface Annotations {
  readonly citations: readonly Citation[];
  /** The members of the message that `citations` tells. */
  readonly told: readonly string[];
  /** Writes what a hook made of `citations`: some of them may go. Throws REPLY_MALFORMED. */
  write(changed: unknown, edits: Edits): void;
}

interface Citation {
  readonly type: 'url';
  readonly url: string;
  readonly title: string;
}

/** Reads `annotations`; where one of them is anything but a page, the whole list is left over, and hooks see its JSON. */
export function readAnnotations(message: Place, { leftovers }: ReadContext): Annotations {
  const list = message.at('annotations');
  const citations = list?.kind === 'array' ? list.items.map(readCitation) : [];
  const known = citations.filter((citation) => citation !== undefined);
  if (list === undefined || list.kind !== 'array' || known.length < citations.length) {
    return { citations: [], told: [], write: ignore };
  }
  for (const [index, item] of list.items.entries()) {
    const held = item.at('url_citation');
    if (held === undefined) continue;
    leftovers.addMembers(item, new Set(['type', 'url_citation']), `annotations[${index}]`);
    leftovers.addMembers(
      held,
      new Set(['url', 'title', ...positionsOf(held)]),
      `annotations[${index}].url_citation`,
    );
  }
  return {
    citations: known,
    told: ['annotations'],
    write: (changed, edits) => writeCitations(changed, { message, list, known }, edits),
  };
}

function ignore(): void {}

function readCitation(place: Place): Citation | undefined {
  if (place.at('type')?.text !== 'url_citation') return undefined;
  const url = place.at('url_citation')?.at('url')?.text;
  const title = place.at('url_citation')?.at('title');
  if (url === undefined || (title !== undefined && title.text === undefined)) return undefined;
  return { type: 'url', url, title: title?.text ?? '' };
}

function positionsOf(held: Place): string[] {
  return ['start_index', 'end_index'].filter((key) => held.at(key)?.kind === 'number');
}

interface SentCitations {
  readonly message: Place;
  readonly list: Place;
  readonly known: readonly Citation[];
}

/** A list of the same length has each citation at its place, with a changed address or title; of a shorter one each is as it was. */
function writeCitations(changed: unknown, { message, list, known }: SentCitations, edits: Edits): void {
  const given: unknown[] = Array.isArray(changed) ? changed : [];
  if (isSameToTheDigit(given, known)) return;
  if (given.length === 0) {
    edits.remove(message, 'annotations');
    return;
  }
  if (given.length === known.length) {
    for (const [index, citation] of given.entries()) changeCitation(list.items[index], citation, edits);
    return;
  }
  let next = 0;
  for (const citation of given) {
    const found = known.findIndex((old, index) => index >= next && isSameToTheDigit(old, citation));
    if (found === -1)
      throw unwritable('a replaced message has a citation that is none of those that were sent');
    for (; next < found; next += 1) edits.remove(list, next);
    next = found + 1;
  }
  for (; next < known.length; next += 1) edits.remove(list, next);
}

function changeCitation(place: Place | undefined, citation: unknown, edits: Edits): void {
  const held = place?.at('url_citation');
  const given =
    typeof citation === 'object' && citation !== null ? new Map(Object.entries(citation)) : undefined;
  if (held === undefined || given?.get('type') !== 'url') throw unwritable('a replaced citation is no page');
  for (const key of ['url', 'title']) {
    const text: unknown = given.get(key) ?? '';
    const old = held.at(key);
    if (typeof text !== 'string') throw unwritable(`the \`${key}\` of a replaced citation is not a string`);
    if (old !== undefined) edits.replaceText(old, text);
    else if (text !== '') edits.addMember(held, key, JSON.stringify(text));
  }
}
