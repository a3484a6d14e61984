import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { isJson } from '../../base/json/parse.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { readCalls, type ToolCallMember } from '../../models/messages/rebuilt.ts';
import { encodeWireText } from './media.ts';
import type { Edits, Place } from './place.ts';
import { unwritable } from './refusal.ts';
import { isNothing, plainReplaced, splitChangedText } from './replaced-messages.ts';
import {
  type BodyFacet,
  type CallFacet,
  type CitationFacet,
  describeBody,
  describeCall,
  describeResult,
  isObjects,
  joinTexts,
  type ResultFacet,
  type Seen,
  type TextFacet,
} from './seen.ts';

type PlainObject = Readonly<Record<string, unknown>>;

export interface RewriteOptions {
  readonly isAnswer: boolean;
  /** Message members that the codec writes itself. */
  readonly own?: ReadonlySet<string>;
  /** Whether to remove an entry whose text becomes empty, because the API refuses empty texts. */
  readonly dropsEmpty?: boolean;
  /** Adds content that has no place yet. Without a function, hooks cannot add it. */
  readonly add?: {
    readonly text?: (text: string) => void;
    readonly reasoning?: (text: string) => void;
    readonly refusal?: (text: string) => void;
    readonly call?: (call: ToolCallMember) => void;
  };
}

/**
 * Removes content that the hook does not repeat, changed signed texts and all copies of texts. Returns the written
 * message as plain values. Throws REPLY_MALFORMED if a change cannot be written exactly. Callers must read the body
 * again and check it with `requireTold`.
 */
export function rewrite(
  seen: Seen,
  sent: ChatMessage,
  changed: ChatMessage,
  edits: Edits,
  options: RewriteOptions,
): ChatMessage {
  const plain = plainReplaced(changed);
  requireWritable(sent, plain, options);
  const { add = {} } = options;
  writeBody(seen, plain, edits, options);
  const reasoning = writeReasoning(seen, plain['reasoning'], edits, options);
  writeTexts(seen.refusals, { given: plain['refusal'], name: 'refusal', add: add.refusal }, edits, options);
  writeCalls(seen.calls, readCalls(plain['tool_calls']), edits, add.call);
  writeResults(seen, plain['tool_results'], edits);
  writeCitations(seen.citations, plain['citations'], edits);
  if (seen.finish !== undefined) writeFinish(seen, seen.finish, plain, edits);
  seen.other.write(changed['other'], edits);
  seen.other.dropCopies(edits, options.isAnswer);
  if (seen.copies.length > 0) writeCopies(seen, sent, plain, edits);
  return { ...plain, role: sent.role, content: String(plain['content']), reasoning };
}

const written = new Set([
  'role',
  'content',
  'parts',
  'reasoning',
  'refusal',
  'tool_calls',
  'tool_results',
  'citations',
  'other',
  'cost_info',
]);

/** Other members may be kept or omitted, but not added or changed. */
function requireWritable(sent: ChatMessage, plain: PlainObject, { own }: RewriteOptions): void {
  if (plain['role'] !== sent.role) throw unwritable('a replaced message has another role');
  if (typeof plain['content'] !== 'string') throw unwritable('a replaced message has no `content`');
  for (const [key, value] of Object.entries(plain)) {
    if (written.has(key) || key === 'finish_reason' || own?.has(key) === true || isNothing(value)) continue;
    if (isSameToTheDigit(value, sent[key])) continue;
    throw unwritable(`a replaced ${sent.role} message has a member that cannot be written: ${quoteKey(key)}`);
  }
}

function quoteKey(key: string): string {
  return JSON.stringify(key.slice(0, 80));
}

function writeBody(seen: Seen, plain: PlainObject, edits: Edits, options: RewriteOptions): void {
  const { body, list } = seen;
  const content = String(plain['content']);
  const before = describeBody(body);
  const given = readObjects(plain['parts'], 'parts');
  if (content === before.content && isSameToTheDigit(given, before.parts ?? [])) return;
  if (given.length > 0) {
    const texts = given.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
    const isConsistent = content === texts.join('') || content === texts.join('\n');
    if (texts.length > 0 && !isConsistent)
      throw unwritable('a replaced message has different texts in `content` and `parts`');
    writeParts(given, { body, list }, edits, options);
    if (texts.length > 0 || content === '') return;
    if (before.content !== '') throw unwritable('the `parts` of a replaced message lack its text');
    addText(content, seen, edits, options);
  } else if (before.parts !== undefined && list?.orString === true)
    edits.replaceWhole(list.place, JSON.stringify(content));
  else {
    const texts = body.flatMap((facet) => (facet.kind === 'text' && facet.as === 'text' ? [facet] : []));
    for (const facet of body) if (facet.kind === 'media' || facet.as !== 'text') removeFacet(facet, edits);
    if (texts.length > 0) spreadText(texts, content, edits, options);
    else if (content !== '') addText(content, seen, edits, options);
  }
}

function addText(
  text: string,
  { list, reasoning, sealed }: Seen,
  edits: Edits,
  { add }: RewriteOptions,
): void {
  if (add?.text !== undefined) add.text(text);
  else if (list !== undefined) {
    const thoughts = new Set([...reasoning, ...sealed].map(({ entry }) => entry));
    let before = list.start;
    while (thoughts.has(before)) before += 1;
    const at = before < list.place.items.length ? before : undefined;
    edits.insert(list.place, JSON.stringify({ ...list.newText, text }), at);
  } else throw unwritable('a replaced message has a text that cannot be put into the body');
}

function writeParts(
  given: readonly PlainObject[],
  { body, list }: Pick<Seen, 'body' | 'list'>,
  edits: Edits,
  options: RewriteOptions,
): void {
  let next = 0;
  for (const [at, part] of given.entries()) {
    const found = findPart(body, next, part, given.slice(at + 1));
    const facet = found === undefined ? undefined : body[found];
    if (found === undefined || facet === undefined) {
      const { type, text } = part;
      if (type !== 'text' || typeof text !== 'string' || list === undefined)
        throw unwritable(
          'a part of a replaced message is neither a new text nor one of those that were sent',
        );
      const before = body[next]?.owner === list.place ? Number(body[next]?.entry) : undefined;
      edits.insert(list.place, JSON.stringify({ ...list.newText, text }), before);
      continue;
    }
    for (const gone of body.slice(next, found)) removeFacet(gone, edits);
    writePart(facet, part, edits, options);
    next = found + 1;
  }
  for (const gone of body.slice(next)) removeFacet(gone, edits);
}

function findPart(
  body: readonly BodyFacet[],
  from: number,
  part: PlainObject,
  later: readonly PlainObject[],
): number | undefined {
  for (let index = from; index < body.length; index += 1) {
    const old = body[index];
    if (old === undefined || isSamePart(old, part)) return index;
    if (old.kind === 'media' && later.some((other) => isSamePart(old, other))) return undefined;
  }
  return undefined;
}

function isSamePart(facet: BodyFacet, { text: _, ...part }: PlainObject): boolean {
  if (facet.kind === 'text') return isSameToTheDigit(part, { type: facet.as });
  const { text: __, ...description } = facet.description;
  return isSameToTheDigit(part, description);
}

function writePart(facet: BodyFacet, part: PlainObject, edits: Edits, options: RewriteOptions): void {
  const text = part['text'];
  if (facet.kind === 'media' && text === facet.description.text) return;
  if (typeof text !== 'string') throw unwritable('a part of a replaced message has lost its text');
  if (facet.kind === 'text') {
    writeText(facet, text, edits, options);
    return;
  }
  const carried = facet.inline && encodeWireText(facet.inline.file, text);
  if (facet.inline === undefined || carried === undefined)
    throw unwritable('a file of a replaced message has a text');
  edits.replaceText(facet.inline.place, carried);
}

/** Unchanged pieces keep their place. Returns the written text, without removed signed texts. */
function spreadText(
  texts: readonly TextFacet[],
  text: string,
  edits: Edits,
  options: RewriteOptions,
): string {
  const old = texts.map(({ place }) => place.text ?? '');
  const pieces = splitChangedText(old, text);
  for (const [index, facet] of texts.entries()) writeText(facet, pieces[index] ?? '', edits, options);
  return pieces.filter((piece, index) => texts[index]?.isSigned !== true || piece === old[index]).join('');
}

function writeText(facet: TextFacet, text: string, edits: Edits, { dropsEmpty }: RewriteOptions): void {
  if (text === facet.place.text) return;
  if (facet.isSigned || (text === '' && dropsEmpty === true)) removeFacet(facet, edits);
  else {
    edits.replaceText(facet.place, text);
    for (const { owner, entry } of facet.twins) {
      const twin = placeIn(owner, entry);
      if (twin !== undefined) edits.replaceText(twin, text);
    }
  }
}

/** A message needs content, so a plain string becomes empty instead. */
function removeFacet(facet: BodyFacet, edits: Edits): void {
  if (facet.kind === 'text' && typeof facet.entry === 'string' && facet.owner.at(facet.entry) === facet.place)
    edits.replaceText(facet.place, '');
  else edits.remove(facet.owner, facet.entry);
  if (facet.kind === 'text') for (const { owner, entry } of facet.twins) edits.remove(owner, entry);
}

function placeIn(owner: Place, entry: string | number): Place | undefined {
  return typeof entry === 'string' ? owner.at(entry) : owner.items[entry];
}

function writeReasoning(
  { reasoning, sealed }: Seen,
  given: unknown,
  edits: Edits,
  options: RewriteOptions,
): string {
  const isGone = isNothing(given) && joinTexts(reasoning) !== '';
  if (isGone) for (const { owner, entry } of sealed) edits.remove(owner, entry);
  if (!isGone)
    return writeTexts(reasoning, { given, name: 'reasoning', add: options.add?.reasoning }, edits, options);
  for (const facet of reasoning)
    for (const { owner, entry } of [facet, ...facet.twins]) edits.remove(owner, entry);
  return '';
}

function writeTexts(
  texts: readonly TextFacet[],
  {
    given,
    name,
    add,
  }: { readonly given: unknown; readonly name: string; readonly add: ((text: string) => void) | undefined },
  edits: Edits,
  options: RewriteOptions,
): string {
  const text = given ?? '';
  if (typeof text !== 'string') throw unwritable(`the \`${name}\` of a replaced message is not a string`);
  if (text === joinTexts(texts)) return text;
  if (texts.length > 0 && text !== '') return spreadText(texts, text, edits, options);
  if (text === '') {
    for (const { owner, entry, place } of texts) {
      if (typeof entry === 'string' && owner.at(entry) === place) edits.replace(place, 'null');
      else edits.remove(owner, entry);
    }
  } else if (add !== undefined) add(text);
  else throw unwritable(`a replaced message has a \`${name}\` that the original did not have`);
  return text;
}

/** Calls are matched by ID in order. Unmatched calls are removed. */
function writeCalls(
  calls: readonly CallFacet[],
  given: readonly ToolCallMember[],
  edits: Edits,
  add: ((call: ToolCallMember) => void) | undefined,
): void {
  matchInOrder(calls, given, {
    isOf: ({ id }, call) => id === call.id,
    add: add ?? refuseNew('tool call'),
    remove: (call) => edits.remove(call.owner, call.entry),
    write: (call, wanted) => writeCall(call, wanted, edits),
  });
}

function writeCall(call: CallFacet, { name, args }: ToolCallMember, edits: Edits): void {
  if (name !== call.name) {
    if (call.namePlace?.kind !== 'string' || name === '')
      throw unwritable('a replaced message names a tool call that had no name');
    edits.replaceText(call.namePlace, name);
  }
  if (isSameToTheDigit(args, describeCall(call).args)) return;
  const json = Json.from(args);
  const { held, args: key } = call;
  if (typeof key !== 'string') {
    writeArgMembers(held, key, json, edits);
    return;
  }
  const place = held.at(key);
  if (place === undefined) throw unwritable('a replaced message has arguments for a tool call that had none');
  if (place.text !== undefined)
    edits.replaceText(place, typeof json.value === 'string' ? json.value : json.text);
  else if (place.kind !== 'object' || isObject(json.value) || typeof json.value === 'string')
    edits.replaceWhole(place, json.text);
  else throw unwritable('the `args` of a replaced tool call are not an object');
}

function writeArgMembers(held: Place, keys: readonly string[], json: Json, edits: Edits): void {
  const members = isObject(json.value) ? exactMembers(json) : new Map<string, Json>();
  if (
    !isObject(json.value) ||
    [...members.keys()].some((key) => !keys.includes(key) || held.at(key) === undefined)
  )
    throw unwritable('the arguments of a replaced call have a member that its kind does not have');
  for (const key of keys) {
    const place = held.at(key);
    const member = members.get(key);
    if (place === undefined || place.kind === 'null') continue;
    if (member === undefined) edits.remove(held, key);
    else if (!isSameToTheDigit(member, place.json)) edits.replaceWhole(place, member.text);
  }
}

function writeResults({ results, calls }: Seen, given: unknown, edits: Edits): void {
  matchInOrder(results, readObjects(given, 'tool_results'), {
    isOf: ({ id }, wanted) => id === wanted['id'],
    add: refuseNew('tool result'),
    remove: ({ owner, entry, texts }) => {
      if (texts === undefined) edits.remove(owner, entry);
      else for (const text of texts) removeFacet(text, edits);
    },
    write: (result, wanted) => writeResult(result, describeResult(result, calls), wanted, edits),
  });
}

function writeResult(
  { content: place, texts, object, key }: ResultFacet,
  old: PlainObject,
  wanted: PlainObject,
  edits: Edits,
): void {
  const { content } = wanted;
  if (typeof content !== 'string') throw unwritable('a tool result of a replaced message has no content');
  const isSame = (member: string, fallback: unknown) =>
    (wanted[member] ?? fallback) === (old[member] ?? false);
  if (!isSame('is_error', false) || !isSame('name', old['name']))
    throw unwritable('a tool result of a replaced message is another one');
  if (content === old['content']) return;
  if (texts !== undefined && texts.length > 0) spreadText(texts, content, edits, { isAnswer: true });
  else if (place === undefined) edits.addMember(object, key, JSON.stringify(content));
  else if (place.kind === 'string') edits.replaceText(place, content);
  else if (texts === undefined && isJson(content)) edits.replaceWhole(place, content);
  else throw unwritable('a tool result of a replaced message is no longer the JSON that it was');
}

/** Lists of equal length are paired by position. In a shorter list every citation must be unchanged. */
function writeCitations(citations: readonly CitationFacet[], given: unknown, edits: Edits): void {
  const list = readObjects(given, 'citations');
  if (list.length === citations.length) {
    for (const [index, citation] of citations.entries()) writeCitation(citation, list[index] ?? {}, edits);
    return;
  }
  if (list.length === 0)
    for (const { owner, emptied } of citations) if (emptied !== undefined) edits.replaceWhole(owner, emptied);
  matchInOrder(citations, list, {
    isOf: ({ description }, wanted) => isSameToTheDigit(description, wanted),
    add: refuseNew('citation'),
    remove: ({ owner, entry }) => edits.remove(owner, entry),
    write: () => {},
  });
}

function writeCitation({ place, held, description }: CitationFacet, wanted: PlainObject, edits: Edits): void {
  if (isSameToTheDigit(description, wanted)) return;
  if (held === undefined || description instanceof Json) {
    edits.replaceWhole(place, stringifyJson(wanted));
    return;
  }
  for (const key of new Set([...Object.keys(description), ...Object.keys(wanted)])) {
    const text = wanted[key] ?? '';
    if (text === description[key]) continue;
    const old = held.at(key);
    if (typeof text !== 'string' || key === 'type' || !Object.hasOwn(description, key))
      throw unwritable('a citation of a replaced message cannot be written');
    if (old === undefined) edits.addMember(held, key, JSON.stringify(text));
    else edits.replaceText(old, text);
  }
}

/** An unknown word stays only if the hook repeats it. The reason for tool calls is given exactly if there are calls. */
function writeFinish(
  { calls }: Seen,
  { place, words, aliases }: NonNullable<Seen['finish']>,
  plain: PlainObject,
  edits: Edits,
): void {
  const old = place.text ?? '';
  const given = plain['finish_reason'];
  const isWord = Object.hasOwn(words, old);
  const isKept = isNothing(given) ? isWord : given === (isWord ? words[old] : old);
  const byNative = (word: unknown) =>
    Object.keys(words).find((key) => words[key] === word) ?? aliases?.[String(word)];
  if (!isKept && !isNothing(given) && aliases !== undefined && byNative(given) === undefined)
    throw unwritable('a replaced message has a `finish_reason` that the API does not know');
  const stop = byNative('stop') ?? 'stop';
  const wanted = isKept ? old : isNothing(given) ? stop : (byNative(given) ?? String(given));
  const wantedCalls = readCalls(plain['tool_calls']);
  const hadCalls = calls.some(({ isOfClient }) => isOfClient);
  const hasCalls = wantedCalls.some(({ id }) => calls.find((call) => call.id === id)?.isOfClient ?? true);
  const isForCalls = words[wanted] === 'tool_use';
  const reason =
    isForCalls && hadCalls && !hasCalls
      ? stop
      : wanted === stop && hasCalls && !hadCalls
        ? (byNative('tool_use') ?? wanted)
        : wanted;
  if (reason !== old) edits.replaceText(place, reason);
}

function writeCopies({ copies, other }: Seen, sent: ChatMessage, plain: PlainObject, edits: Edits): void {
  const isKept = other.unchanged(plain['other']);
  const isThought = isSameToTheDigit(plain['reasoning'] ?? '', sent['reasoning'] ?? '');
  for (const { owner, entry, place, of } of copies) {
    if (of !== undefined && !isKept(of)) edits.remove(owner, entry);
    if (of === undefined && !isThought) edits.replaceWhole(place, 'null');
  }
}

interface Matching<Facet, Wanted> {
  readonly isOf: (facet: Facet, wanted: Wanted) => boolean;
  readonly add: (wanted: Wanted) => void;
  readonly remove: (facet: Facet) => void;
  readonly write: (facet: Facet, wanted: Wanted) => void;
}

function matchInOrder<Facet, Wanted>(
  facets: readonly Facet[],
  wanted: readonly Wanted[],
  { isOf, add, remove, write }: Matching<Facet, Wanted>,
): void {
  let next = 0;
  for (const each of wanted) {
    let found = next;
    while (found < facets.length && !isFacet(facets[found], each, isOf)) found += 1;
    const facet = facets[found];
    if (facet === undefined) {
      add(each);
      continue;
    }
    for (const gone of facets.slice(next, found)) remove(gone);
    write(facet, each);
    next = found + 1;
  }
  for (const gone of facets.slice(next)) remove(gone);
}

function isFacet<Facet, Wanted>(
  facet: Facet | undefined,
  wanted: Wanted,
  isOf: (facet: Facet, wanted: Wanted) => boolean,
): boolean {
  return facet !== undefined && isOf(facet, wanted);
}

function refuseNew(what: string): () => never {
  return () => {
    throw unwritable(`a replaced message has a ${what} that the original did not have`);
  };
}

function readObjects(given: unknown, name: string): readonly PlainObject[] {
  if (given === undefined || given === null) return [];
  if (isObjects(given)) return given;
  throw unwritable(`the \`${name}\` of a replaced message are not a list of objects`);
}
