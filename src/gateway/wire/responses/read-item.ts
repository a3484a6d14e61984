import { isObject, Json } from '../../../json/json.ts';
import { exactMembers } from '../../../json/scan.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { isSoundFile } from '../media.ts';
import type { Place } from '../place.ts';
import { argsOfText, textOfArgs } from '../tool-args.ts';
import type { CallFacet, Facets, TextFacet } from './facets.ts';
import { type CallKind, itemKinds, type ResultKind } from './item-kinds.ts';
import { readContent, requireOpaque, requireTextFacet, textFacet } from './parts.ts';
import {
  elementSpots,
  joinPath,
  memberSpot,
  type Reading,
  requireText,
  type Spot,
  tellRest,
} from './reading.ts';
import { isReference } from './references.ts';

/** What an item is to hooks: a message of somebody, or the result of a tool. */
export interface ItemHead {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** Of a result, the call that it answers. */
  readonly result?: { readonly id: string; readonly name: string };
  /** Of the answer to a request for consent. */
  readonly approval?: { readonly id: string; readonly approved: unknown };
}

/** Reads an item into `facets`. Throws RefusedCall for a kind that is not known and for a malformed one. */
export function readItem(item: Spot, facets: Facets, reading: Reading): ItemHead {
  if (item.place.kind !== 'object') throw reading.malformed(item.path);
  const type = typeOf(item.place);
  if (type === 'message') return readMessage(item, facets, reading);
  if (type === 'reasoning') return readReasoning(item, facets, reading);
  if (isReference(item.place) && reading.rules.references.has('item_reference')) {
    tellRest(item, toldOfNote, facets);
    return { role: 'assistant' };
  }
  const kind = type === undefined || !Object.hasOwn(itemKinds, type) ? undefined : itemKinds[type];
  if (kind === undefined) {
    if (type !== undefined && reading.rules.opaque.has(type)) return { role: 'assistant' };
    throw reading.unknown(type, item.path);
  }
  if (kind.is === 'call') return readCall(item, kind, facets, reading);
  if (kind.is === 'result') return readResult(item, kind, facets, reading);
  tellRest(item, toldOfNote, facets);
  const role = item.place.at('role')?.text;
  return { role: role === 'developer' || role === 'system' ? 'system' : 'assistant' };
}

/** The kind of an item; a message may leave its `type` out. */
export function typeOf(item: Place): string | undefined {
  const type = item.at('type');
  if (type !== undefined && type.kind !== 'null') return type.text;
  return item.at('role') === undefined ? undefined : 'message';
}

const toldOfNote = new Set(['type', 'role']);
const toldOfMessage = new Set(['type', 'role', 'content']);
const toldOfReasoning = new Set(['type', 'summary', 'content']);

function readMessage(item: Spot, facets: Facets, reading: Reading): ItemHead {
  const role = requireText(memberSpot(item, 'role'), reading);
  const told = role === undefined ? undefined : roles.get(role);
  if (told === undefined) throw reading.malformed(joinPath(item.path, 'role'));
  const content = memberSpot(item, 'content');
  if (content !== undefined) readContent(content, facets, reading);
  tellRest(item, toldOfMessage, facets);
  return { role: told };
}

const roles: ReadonlyMap<string, ItemHead['role']> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

function readReasoning(item: Spot, facets: Facets, reading: Reading): ItemHead {
  for (const key of ['summary', 'content']) {
    const list = memberSpot(item, key);
    if (list === undefined) continue;
    if (list.place.kind !== 'array') throw reading.malformed(list.path);
    for (const part of elementSpots(list)) {
      const type = part.place.at('type')?.text;
      if (type === undefined || !reasoningTypes.has(type)) throw reading.unknown(type, part.path);
      // Reasoning that is left out takes its item with it, and what is sealed there.
      const { owner, entry } = item;
      facets.reasoning.push({ ...requireTextFacet(part, 'text', reading), owner, entry });
      tellRest(part, toldOfReasoningPart, facets);
    }
  }
  tellRest(item, toldOfReasoning, facets);
  return { role: 'assistant' };
}

const toldOfReasoningPart = new Set(['type', 'text']);
const reasoningTypes: ReadonlySet<string> = new Set(['summary_text', 'reasoning_text', 'text']);

function readCall(item: Spot, kind: CallKind, facets: Facets, reading: Reading): ItemHead {
  const named = kind.name ?? requireText(memberSpot(item, 'name'), reading);
  if (named === undefined) throw reading.malformed(joinPath(item.path, 'name'));
  const id = requireText(memberSpot(item, kind.id), reading) ?? item.place.at('id')?.text ?? '';
  const call = { id, name: named, owner: item.owner, entry: item.entry, isOfClient: isOfClient(item, kind) };
  facets.calls.push({
    ...call,
    namePlace: kind.name === undefined ? item.place.at('name') : undefined,
    ...callArgs(item, kind, reading),
  });
  const told = new Set(['type', kind.id === 'id' ? 'id' : 'call_id', 'name', ...[kind.args].flat()]);
  if (kind.image !== undefined && memberSpot(item, kind.image) !== undefined) {
    requireOpaque(item, 'image', reading);
    const image = memberSpot(item, kind.image);
    const base64 = requireText(image, reading);
    if (!isSoundFile({ base64, mediaType: 'image/*' })) throw reading.malformed(image?.path ?? item.path);
    told.add(kind.image);
  }
  if (kind.result !== undefined) {
    const texts = readResultTexts(item, kind.result, facets, reading);
    if (texts.length > 0) facets.results.push({ ...call, texts });
    told.add(kind.result.member);
  }
  tellRest(item, told, facets);
  return { role: 'assistant' };
}

/** A call that the API runs itself says so. */
function isOfClient({ place }: Spot, kind: CallKind): boolean {
  if (!kind.isOfClient || place.at('execution')?.text === 'server') return false;
  return place.at('environment')?.at('type')?.text !== 'container_reference';
}

function callArgs(item: Spot, kind: CallKind, reading: Reading): Pick<CallFacet, 'args' | 'writeArgs'> {
  const { args } = kind;
  if (typeof args !== 'string') return memberArgs(item.place, args);
  const spot = memberSpot(item, args);
  const text = requireText(spot, reading) ?? '';
  return {
    args: text.trim() === '' ? new Json('{}') : argsOfText(text),
    writeArgs: (changed, edits) => {
      const written = textOfArgs(changed);
      if (spot !== undefined) edits.replaceText(spot.place, written);
      else if (written !== '{}') throw unwritable('a replaced call has arguments where it had none');
    },
  };
}

/** Arguments that are members of the item itself. */
function memberArgs(item: Place, keys: readonly string[]): Pick<CallFacet, 'args' | 'writeArgs'> {
  const present = keys.flatMap((key) => {
    const place = item.at(key);
    return place === undefined || place.kind === 'null' ? [] : [{ key, place }];
  });
  const text = present.map(({ key, place }) => `${JSON.stringify(key)}:${place.json.text}`).join(',');
  return {
    args: new Json(`{${text}}`),
    writeArgs: (changed, edits) => {
      const given = Json.from(changed).value;
      if (!isObject(given) || Object.keys(given).some((key) => !present.some((one) => one.key === key)))
        throw unwritable('the arguments of a replaced call have a member that its kind has not');
      writeMembers(item, present, Json.from(changed), edits);
    },
  };
}

function writeMembers(
  item: Place,
  present: readonly { readonly key: string; readonly place: Place }[],
  changed: Json,
  edits: Edits,
): void {
  const members = exactMembers(changed);
  for (const { key, place } of present) {
    const member = members.get(key);
    if (member === undefined) edits.remove(item, key);
    else if (member.text !== place.json.text) edits.replace(place, member.text);
  }
}

function readResult(item: Spot, kind: ResultKind, facets: Facets, reading: Reading): ItemHead {
  const id = requireText(memberSpot(item, kind.id), reading) ?? '';
  const name = item.place.at('name')?.text ?? (reading.toolName(id) || kind.name);
  const output = memberSpot(item, kind.member);
  if (output !== undefined) {
    if (kind.texts !== undefined) facets.body.push(...readResultTexts(item, kind, facets, reading));
    else readContent(output, facets, reading);
  }
  tellRest(item, new Set(['type', kind.id, kind.member, 'name', 'approve']), facets);
  if (kind.id !== 'approval_request_id') return { role: 'tool', result: { id, name } };
  return { role: 'tool', approval: { id, approved: item.place.at('approve')?.value } };
}

/** The texts of a result: the member itself, or these members of each of its elements. */
function readResultTexts(
  item: Spot,
  { member, texts }: { readonly member: string; readonly texts?: readonly string[] },
  facets: Facets,
  reading: Reading,
): TextFacet[] {
  const spot = memberSpot(item, member);
  if (spot === undefined) return [];
  if (texts === undefined) {
    requireText(spot, reading);
    return [textFacet(spot)];
  }
  if (spot.place.kind !== 'array') throw reading.malformed(spot.path);
  return elementSpots(spot).flatMap((element) => {
    if (element.place.at('type')?.text === 'image') {
      requireOpaque(element, 'image', reading);
      const url = element.place.at('url')?.text ?? '';
      const isBytes = /^data:/i.test(url) && isSoundFile({ url, mediaType: 'image/*' });
      tellRest(element, new Set(isBytes ? ['url'] : []), facets);
      return [];
    }
    tellRest(element, new Set(texts), facets);
    return texts.flatMap((key) => {
      const text = memberSpot(element, key);
      return requireText(text, reading) === undefined || text === undefined ? [] : [textFacet(text, element)];
    });
  });
}
