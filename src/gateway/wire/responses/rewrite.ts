import type { ChatMessage } from '../../../contract/provider.ts';
import { isSameToTheDigit } from '../../../json/equal.ts';
import { isObject } from '../../../json/json.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { encodeWireText } from '../media.ts';
import { plainReplaced } from '../replaced-messages.ts';
import { describeBody, joinTexts } from './describe.ts';
import type { BodyFacet, CallFacet, CitationFacet, Entry, Facets, MediaFacet, TextFacet } from './facets.ts';
import { spliceText } from './splice.ts';

type Members = Readonly<Record<string, unknown>>;

/** What a replaced message wants that the items have no place for. */
interface Unplaced {
  /** A text where there was none. */
  readonly text: string;
}

/**
 * Writes what hooks made of a message to the places that it was read from. What it does not repeat is taken out. Throws
 * REPLY_MALFORMED for what has no place there, but for a text, which is returned.
 */
export function rewriteFacets(
  facets: Facets,
  sent: ChatMessage,
  changed: ChatMessage,
  edits: Edits,
): Unplaced {
  const plain = plainReplaced(changed);
  requireFixed(sent, plain);
  const text = rewriteBody(facets.body, plain, edits);
  rewriteTexts(facets.refusals, plain['refusal'], { name: 'refusal', edits });
  rewriteTexts(facets.reasoning, plain['reasoning'], { name: 'reasoning', edits });
  rewriteCalls(facets.calls, plain['tool_calls'], edits);
  rewriteResults(facets, plain['tool_results'], edits);
  rewriteCitations(facets, plain['citations'], edits);
  facets.leftovers.write(changed['other'], edits);
  return { text };
}

/** Members that are written somewhere. */
const written = new Set([
  'role',
  'content',
  'parts',
  'refusal',
  'reasoning',
  'tool_calls',
  'tool_results',
  'citations',
  'other',
]);

/** What else hooks were sent may be left out or repeated; nothing can be added. */
function requireFixed(sent: ChatMessage, changed: Members): void {
  if (changed['role'] !== sent.role) throw unwritable('a replaced message has another role');
  for (const [key, value] of Object.entries(changed)) {
    if (written.has(key) || isLeftOut(value) || isSameToTheDigit(value, sent[key])) continue;
    throw unwritable(
      `a replaced message has a member that cannot be written: ${JSON.stringify(key).slice(0, 80)}`,
    );
  }
}

/** Returns a text that has no place. */
function rewriteBody(body: readonly BodyFacet[], { content, parts }: Members, edits: Edits): string {
  const text = requireString(content ?? '', 'content');
  const sent = describeBody(body);
  if (text === sent.content && isSameToTheDigit(parts ?? [], sent.parts ?? [])) return '';
  const texts = body.filter((facet) => facet.kind === 'text');
  if (isLeftOut(parts) || (Array.isArray(parts) && parts.length === 0)) {
    for (const facet of body) if (facet.kind === 'media') removeEntry(facet, edits);
    return putTexts(texts, text, edits);
  }
  const given = requireObjects(parts, 'parts');
  const all = given.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []));
  if (text !== all.join('') && text !== all.join('\n'))
    throw unwritable('a replaced message says one thing in `content`, another in `parts`');
  rewriteParts(body, given, edits);
  return '';
}

function rewriteParts(body: readonly BodyFacet[], given: readonly Members[], edits: Edits): void {
  matchInOrder(body, given, {
    what: 'a part that was not sent',
    isOf: isPart,
    remove: (facet) => removeEntry(facet, edits),
    write: (facet, part) => {
      if (facet.kind === 'text') putText(facet, requireString(part['text'], 'text'), edits);
      else putMediaText(facet, part, edits);
    },
  });
}

interface Matching<Facet> {
  /** What a replaced message has where no facet is like what was given. */
  readonly what: string;
  readonly isOf: (facet: Facet, given: Members) => boolean;
  readonly remove: (facet: Facet) => void;
  readonly write: (facet: Facet, given: Members) => void;
}

/** Each that is given stands for the next facet of its kind; those between them are taken out. */
function matchInOrder<Facet>(
  facets: readonly Facet[],
  given: readonly Members[],
  { what, isOf, remove, write }: Matching<Facet>,
): void {
  let next = 0;
  for (const each of given) {
    const at = findFrom(facets, next, (facet) => isOf(facet, each));
    const facet = facets[at];
    if (facet === undefined) throw unwritable(`a replaced message has ${what}`);
    for (const skipped of facets.slice(next, at)) remove(skipped);
    next = at + 1;
    write(facet, each);
  }
  for (const skipped of facets.slice(next)) remove(skipped);
}

function isPart(facet: BodyFacet, { type, text: _, ...part }: Members): boolean {
  if (facet.kind === 'text') return type === 'text';
  const { text: __, ...description } = facet.description;
  return isSameToTheDigit(description, { type, ...part });
}

function putMediaText({ description, inline }: MediaFacet, part: Members, edits: Edits): void {
  if (part['text'] === description.text) return;
  if (inline === undefined || typeof part['text'] !== 'string')
    throw unwritable('a document of a replaced message has lost its text');
  const carried = encodeWireText(inline.file, part['text']);
  if (carried === undefined) throw unwritable('a document of a replaced message cannot be written');
  edits.replaceText(inline.place, carried);
}

/** The text over its places; returns it when it has none. */
function putTexts(texts: readonly TextFacet[], text: string, edits: Edits): string {
  if (texts.length === 0) return text;
  const pieces = spliceText(
    texts.map(({ place }) => place.text ?? ''),
    text,
  );
  for (const [index, facet] of texts.entries()) putText(facet, pieces[index] ?? '', edits);
  return '';
}

function putText({ place, copies }: TextFacet, text: string, edits: Edits): void {
  if (place.text === text) return;
  edits.replaceText(place, text);
  for (const copy of copies) edits.replace(copy, '[]');
}

interface NamedTexts {
  readonly name: string;
  readonly edits: Edits;
}

function rewriteTexts(texts: readonly TextFacet[], changed: unknown, { name, edits }: NamedTexts): void {
  const text = requireString(changed ?? '', name);
  if (text === joinTexts(texts)) return;
  if (text === '') for (const facet of texts) removeEntry(facet, edits);
  else if (putTexts(texts, text, edits) !== '')
    throw unwritable(`a replaced message has a ${name} where none was`);
}

/** Calls are found again by their ids, in order. */
function rewriteCalls(calls: readonly CallFacet[], changed: unknown, edits: Edits): void {
  matchInOrder(calls, givenIn(changed, 'tool_calls'), {
    what: 'a tool call that was not there',
    isOf: ({ id }, call) => id === call['id'],
    remove: (facet) => removeEntry(facet, edits),
    write: (facet, call) => rewriteCall(facet, call, edits),
  });
}

function givenIn(changed: unknown, name: string): readonly Members[] {
  return isLeftOut(changed) ? [] : requireObjects(changed, name);
}

function rewriteCall(facet: CallFacet, { id: _, name, args, ...rest }: Members, edits: Edits): void {
  if (Object.values(rest).some((value) => !isLeftOut(value)))
    throw unwritable('a replaced tool call has a member that cannot be written');
  if (name !== facet.name) {
    if (facet.namePlace === undefined || typeof name !== 'string' || name === '')
      throw unwritable('a replaced tool call has another name');
    edits.replaceText(facet.namePlace, name);
  }
  if (!isSameToTheDigit(args, facet.args)) facet.writeArgs(args ?? {}, edits);
}

function rewriteResults({ results }: Facets, changed: unknown, edits: Edits): void {
  matchInOrder(results, givenIn(changed, 'tool_results'), {
    what: 'a tool result that was not there',
    isOf: ({ id }, result) => id === result['id'],
    remove: ({ texts }) => removeTexts(texts, edits),
    write: ({ texts }, result) => putTexts(texts, requireString(result['content'], 'content'), edits),
  });
}

function removeTexts(texts: readonly TextFacet[], edits: Edits): void {
  for (const facet of texts) removeEntry(facet, edits);
}

/** Citations can be left out, and their texts changed where they are all given. */
function rewriteCitations({ citations }: Facets, changed: unknown, edits: Edits): void {
  const given = givenIn(changed, 'citations');
  if (given.length === citations.length) {
    for (const [index, facet] of citations.entries()) rewriteCitation(facet, given[index] ?? {}, edits);
    return;
  }
  let next = 0;
  for (const facet of citations) {
    if (next < given.length && isSameToTheDigit(given[next], facet.description)) next += 1;
    else removeEntry(facet, edits);
  }
  if (next < given.length) throw unwritable('a replaced message has a citation that was not there');
}

function rewriteCitation({ place, description }: CitationFacet, given: Members, edits: Edits): void {
  for (const key of new Set([...Object.keys(description), ...Object.keys(given)])) {
    if (isSameToTheDigit(given[key] ?? null, description[key] ?? null)) continue;
    const [member, text] = [place.at(key), given[key]];
    if (member?.kind !== 'string' || typeof text !== 'string')
      throw unwritable('a citation of a replaced message cannot be written');
    edits.replaceText(member, text);
  }
}

/** The index of the first one from `from` on; -1 when there is none. */
function findFrom<One>(list: readonly One[], from: number, isIt: (one: One) => boolean): number {
  for (let index = from; index < list.length; index += 1) {
    const one = list[index];
    if (one !== undefined && isIt(one)) return index;
  }
  return -1;
}

function removeEntry({ owner, entry }: Entry, edits: Edits): void {
  edits.remove(owner, entry);
}

function requireString(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw unwritable(`the \`${name}\` of a replaced message is not a text`);
}

function requireObjects(value: unknown, name: string): readonly Members[] {
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw unwritable(`the \`${name}\` of a replaced message are not a list of objects`);
}

/** Nothing, in whichever form, counts as left out. */
function isLeftOut(value: unknown): value is null | undefined {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}
