import { isUtf8 } from 'node:buffer';
import { isSealed } from '../../base/text/sealed.ts';
import type { WireRules } from './codec.ts';
import { isSoundFile, seeMedia } from './media.ts';
import { isPlainId, itemSpots, joinPath, memberSpot, type Place, type Spot, toMember } from './place.ts';
import { refusals } from './refusal.ts';
import { type MediaFacet, Seen, type TextFacet } from './seen.ts';
import type {
  ByType,
  Bytes,
  BytesForm,
  Each,
  Items,
  Kinds,
  Leaf,
  Members,
  SealedCopy,
  Shape,
  Show,
  ShowCall,
  ShowCitation,
  ShowMedia,
  ShowResult,
  ShowText,
  WalkContext,
} from './shape.ts';

/**
 * Adds what hooks must see to `seen`. Throws RefusedCall (400 for requests, 502 for responses) for unreadable kinds,
 * forbidden references and values that the API does not allow.
 */
export function walk(spot: Spot, shape: Shape, context: WalkContext, seen: Seen): void {
  const { place } = spot;
  if (typeof shape === 'string') {
    if (shape === 'other' || (place.kind !== 'null' && !leaves[shape](place)))
      seen.other.add(spot.path, spot);
  } else if ('kinds' in shape) walkKind(spot, shape, context, seen);
  else if (place.kind === 'null') return;
  else if ('show' in shape) show(spot, shape, context, seen);
  else if ('words' in shape) {
    if (place.text === undefined || !shape.words.has(place.text)) seen.other.add(spot.path, spot);
  } else if ('bytes' in shape) walkBytes(spot, shape, context);
  else if ('emptied' in shape) {
    if (place.json.text !== shape.emptied) seen.other.add(spot.path, { ...spot, emptied: shape.emptied });
  } else if ('sealedCopyOf' in shape) walkSealedCopy(spot, shape, seen);
  else if ('reference' in shape) {
    if (!context.rules.references.has(shape.reference)) throw refusals(context).reference(spot);
    seen.other.add(spot.path, spot);
  } else if ('link' in shape) {
    if (place.text === undefined) throw refusals(context).invalid('is not a string', spot);
    seen.links.set(shape.link, spot);
  } else if ('items' in shape) walkItems(spot, shape, context, seen);
  else if ('each' in shape) walkEach(spot, shape, context, seen);
  else if ('members' in shape) {
    if (place.kind !== 'object') seen.other.add(spot.path, spot);
    else
      walkMembers(
        shape.as === undefined ? spot : { ...spot, path: shape.as, at: spot.at ?? spot.path },
        shape.members,
        context,
        seen,
      );
  } else walkByType(spot, shape, context, seen);
}

/** Reads the members except those in `told`, which the caller shows itself. Unknown members go to `other`. */
export function walkMembers(
  spot: Spot,
  members: Members,
  context: WalkContext,
  seen: Seen,
  told: readonly string[] = [],
): void {
  for (const [key, place] of spot.place.members) {
    if (told.includes(key)) continue;
    const member = toMember(spot, key, place);
    const shape = Object.hasOwn(members, key) ? members[key] : undefined;
    walk(member, shape ?? 'other', context, seen);
  }
}

/** Whether a member has its declared shape and shows hooks nothing. False for members without a shape. */
export function isShaped(place: Place, key: string, members: Members): boolean {
  const shape = Object.hasOwn(members, key) ? members[key] : undefined;
  if (shape === undefined) return false;
  const seen = new Seen(place);
  walk({ place, owner: place, entry: key, path: key }, shape, settings, seen);
  return seen.isEmpty;
}

const settings: WalkContext = {
  rules: { opaque: new Set(), references: new Set(), redactsEmbeddings: false },
  isAnswer: true,
  at: '',
};

const leaves: Readonly<Record<Exclude<Leaf, 'other'>, (place: Place) => boolean>> = {
  id: ({ text }) => text === '' || (text !== undefined && isPlainId(text)),
  number: ({ kind }) => kind === 'number' || kind === 'boolean',
  date: ({ text }) => text !== undefined && /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:\d\d)$/.test(text),
  sealed: ({ text }) => text === '' || (text !== undefined && isSealed(text)),
  padding: ({ text }) => text !== undefined && /^[A-Za-z0-9]{0,64}$/.test(text),
  model: ({ kind }) => kind === 'string',
  vector: isVector,
  none: () => false,
};

function walkSealedCopy(spot: Spot, { sealedCopyOf }: SealedCopy, seen: Seen): void {
  const { owner, entry, path, place } = spot;
  if (place.kind !== 'null' && !leaves.sealed(place)) seen.other.add(path, spot);
  if (place.kind === 'null' || place.text === '') return;
  if (sealedCopyOf === 'reasoning') seen.copies.push({ ...spot, of: undefined });
  else if (owner.at(sealedCopyOf.member)?.kind === 'string') {
    const around = path.slice(0, path.length - String(entry).length);
    seen.copies.push({ ...spot, of: around + sealedCopyOf.member });
  }
}

function walkBytes({ place, owner, path }: Spot, { bytes }: Bytes, context: WalkContext): void {
  const type = owner.at('type')?.text;
  const { opaque } = context.rules;
  if (!opaque.has(bytes) && !opaque.has(type ?? bytes)) throw refusals(context).unknown(type, { path });
  if (place.text === undefined || !isSoundFile({ base64: place.text, mediaType: `${bytes}/*` }))
    throw refusals(context).invalid('has bytes that are not base64', { path });
}

function isVector({ kind, source, start, end, text }: Place): boolean {
  if (kind === 'array') return /^[\d\s.,eE+[\]-]*$/.test(source.slice(start, end));
  if (text === undefined) return false;
  const bytes = Buffer.from(text, 'base64');
  // A vector of few numbers may look like text. It is then shown, which costs little.
  return bytes.length % 4 === 0 && bytes.toString('base64') === text && !isUtf8(bytes);
}

function walkKind(spot: Spot, shape: Kinds, context: WalkContext, seen: Seen): void {
  const { place } = spot;
  const { by = 'type', kinds, implied = [], unknown = 'refused' } = shape;
  const held = shape.in === undefined ? spot : memberSpot(spot, shape.in);
  // A null member is absent, but a null element has no kind.
  if (place.kind === 'null' && typeof spot.entry === 'string') return;
  if (held?.place.kind !== 'object' && held !== spot)
    throw refusals(context).invalid(`has no \`${shape.in}\``, spot);
  const named = held.place.at(by);
  const isNamed = named !== undefined && named.kind !== 'null';
  const kind =
    isNamed || place.kind !== 'object'
      ? named?.text
      : implied.find(([member]) => member === '' || place.at(member) !== undefined)?.[1];
  const known = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (known !== undefined && shape.in !== undefined) walk(spot, known, context, seen);
  else if (known !== undefined) walkKnownKind(spot, by, known, context, seen);
  else if (unknown === 'other') seen.other.add(spot.path, spot);
  else if (passesUnread(kind, context.rules))
    seen.body.push({ ...spot, kind: 'media', description: { type: kind }, inline: undefined });
  else
    throw refusals(context).unknown(
      kind,
      by === 'type' ? held : (memberSpot(held, by) ?? toMember(held, by, place)),
    );
}

/** Whether `opaque` allows an unknown kind of content, event or delta. */
export function passesUnread(kind: string | undefined, { opaque }: WireRules): kind is string {
  return kind !== undefined && !mediaKinds.has(kind) && opaque.has(kind);
}

/** These entries of `opaque` allow the content of known kinds. An unknown kind with such a name could hold anything. */
const mediaKinds: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'file']);

function walkKnownKind(spot: Spot, by: string, known: Shape, context: WalkContext, seen: Seen): void {
  if (typeof known === 'string') walk(spot, known, context, seen);
  else if ('members' in known)
    walk(spot, { ...known, members: { [by]: 'model', ...known.members } }, context, seen);
  else if ('show' in known && known.show !== 'finish')
    walk(spot, { ...known, of: { [by]: 'model', ...known.of } }, context, seen);
  else walk(spot, known, context, seen);
}

function walkItems(
  spot: Spot,
  { items, newText, orString, areItems, apart }: Items,
  context: WalkContext,
  seen: Seen,
): void {
  if (spot.place.kind !== 'array') {
    seen.other.add(spot.path, spot);
    return;
  }
  const list = newText && { place: spot.place, newText, orString: orString === true, start: 0 };
  if (list !== undefined) seen.list = list;
  const around = seen.item;
  let run: Seen | undefined;
  for (const item of itemSpots(spot)) {
    const start = Number(item.entry);
    if (apart === undefined) {
      if (areItems === true) seen.item = item;
      walk(item, items, context, seen);
    } else if (item.place.at('type')?.text === apart) {
      run = undefined;
      walkMessage(item, items, context, seen).span = { start, end: start + 1 };
    } else {
      run ??= new Seen(spot.place);
      if (run.span === undefined) seen.messages.push(run);
      run.list ??= list && { ...list, start };
      run.span = { start: run.span?.start ?? start, end: start + 1 };
      run.item = item;
      walk(item, items, context, run);
    }
  }
  seen.item = around;
}

function walkEach(spot: Spot, { each, as = '' }: Each, context: WalkContext, seen: Seen): void {
  if (spot.place.kind !== 'array') throw refusals(context).invalid('is not a list', spot);
  for (const item of itemSpots(spot)) walkMessage(item, each, context, seen, as);
}

function walkMessage(item: Spot, shape: Shape, context: WalkContext, { messages }: Seen, as = ''): Seen {
  const own = new Seen(item.place);
  messages.push(own);
  own.item = item;
  const at = joinAt(context.at, item.at ?? item.path);
  walk({ ...item, path: as, at: '' }, shape, { ...context, at }, own);
  return own;
}

function joinAt(at: string, path: string): string {
  return path.startsWith('[') ? at + path : joinPath(at, path);
}

function walkByType(spot: Spot, shape: ByType, context: WalkContext, seen: Seen): void {
  const { kind } = spot.place;
  const own =
    (kind === 'string' || kind === 'array' || kind === 'object' ? shape[kind] : undefined) ?? shape.rest;
  if (own === undefined) throw refusals(context).invalid('has a type that its API does not have there', spot);
  walk(spot, own, context, seen);
}

function show(spot: Spot, shape: Show, context: WalkContext, seen: Seen): void {
  switch (shape.show) {
    case 'call':
      showCall(spot, shape, context, seen);
      break;
    case 'result':
      showResult(spot, shape, context, seen);
      break;
    case 'citation':
      showCitation(spot, shape, context, seen);
      break;
    case 'media':
      showMedia(spot, shape, context, seen);
      break;
    case 'sealed':
      requireObject(spot, context);
      seen.sealed.push(spot);
      walkMembers(spot, { ...shape.of, [shape.data]: 'sealed' }, context, seen);
      break;
    case 'finish':
      if (spot.place.kind === 'string') seen.finish = { ...spot, words: shape.words, aliases: shape.aliases };
      else seen.other.add(spot.path, spot);
      break;
    default:
      showText(spot, shape, context, seen);
  }
}

function showMedia(spot: Spot, shape: ShowMedia, context: WalkContext, seen: Seen): void {
  requireObject(spot, context);
  seeMedia(spot, shape, {
    context,
    seen,
    walkRest: (rest, members, told) => walkMembers(rest, members, context, seen, told),
  });
}

function showText(spot: Spot, shape: ShowText, context: WalkContext, seen: Seen): void {
  const holder = shape.in === undefined ? spot : memberSpot(spot, shape.in);
  const held = shape.text === undefined ? spot : holder && memberSpot(holder, shape.text);
  if (held?.place.kind !== 'string') {
    if (shape.text !== undefined) throw refusals(context).invalid('has no text', held ?? spot);
    seen.other.add(spot.path, spot);
    return;
  }
  const { place } = held;
  const texts =
    shape.show === 'reasoning' ? seen.reasoning : shape.show === 'refusal' ? seen.refusals : seen.body;
  const { owner, entry } = shape.goesWith === 'item' && seen.item !== undefined ? seen.item : spot;
  const facet = {
    kind: 'text',
    as: shape.as ?? 'text',
    place,
    owner,
    entry,
    isSigned: shape.isSigned === true,
  } as const;
  if (shape.isTwin !== true) texts.push({ ...facet, twins: [] });
  else showTwin(spot, facet, texts, seen);
  if (shape.text === undefined) return;
  walkMembers(spot, shape.of ?? {}, context, seen, [shape.in ?? shape.text]);
  if (shape.in !== undefined && holder !== undefined)
    walkMembers(holder, shape.held ?? {}, context, seen, [shape.text]);
}

function showTwin(
  spot: Spot,
  facet: Omit<TextFacet, 'twins'>,
  texts: (TextFacet | MediaFacet)[],
  seen: Seen,
): void {
  const [first] = texts;
  if (spot.place.text === '') return;
  if (first === undefined) texts.push({ ...facet, twins: [] });
  else if (first.kind === 'text' && first.place.text === spot.place.text) first.twins.push(spot);
  else seen.other.add(spot.path, spot);
}

function showCall(spot: Spot, shape: ShowCall, context: WalkContext, seen: Seen): void {
  const { invalid } = refusals(context);
  const held = shape.in === undefined ? spot : memberSpot(spot, shape.in);
  if (spot.place.kind !== 'object' || held?.place.kind !== 'object')
    throw invalid('is not a tool call', spot);
  const ids = typeof shape.id === 'string' ? [shape.id] : shape.id;
  const idKey = ids.find((key) => spot.place.at(key)?.kind === 'string');
  const nameKey = typeof shape.name === 'string' ? shape.name : undefined;
  const name = nameKey === undefined ? undefined : held.place.at(nameKey);
  if (name !== undefined && name.kind !== 'string' && name.kind !== 'null')
    throw invalid('has a name that is not a string', held);
  const argKeys = typeof shape.args === 'string' ? [shape.args] : shape.args;
  seen.calls.push({
    id: idKey === undefined ? '' : (spot.place.at(idKey)?.text ?? ''),
    name: typeof shape.name === 'string' ? (name?.text ?? '') : shape.name.is,
    namePlace: name,
    held: held.place,
    args: shape.args,
    owner: spot.owner,
    entry: spot.entry,
    isOfClient: shape.isServed !== true,
  });
  const ofResult = shape.result === undefined ? [] : [shape.result.content];
  const ownResult = shape.result === undefined ? undefined : spot.place.at(shape.result.content);
  if (shape.result !== undefined && ownResult !== undefined && ownResult.kind !== 'null')
    addResult(spot, { ...shape.result, id: seen.calls.at(-1)?.id ?? '', isError: false }, context, seen);
  const ofHeld = [...(nameKey === undefined ? [] : [nameKey]), ...argKeys];
  const ofCall = [...(idKey === undefined ? [] : [idKey]), ...ofResult];
  if (shape.in === undefined) walkMembers(spot, shape.of ?? {}, context, seen, [...ofCall, ...ofHeld]);
  else {
    walkMembers(spot, shape.of ?? {}, context, seen, [...ofCall, shape.in]);
    walkMembers(held, shape.held ?? {}, context, seen, ofHeld);
  }
}

function showResult(spot: Spot, shape: ShowResult, context: WalkContext, seen: Seen): void {
  requireObject(spot, context);
  const id = spot.place.at(shape.id);
  if (id?.kind !== 'string') throw refusals(context).invalid('has no id of its call', spot);
  const flag = shape.isError === undefined ? undefined : spot.place.at(shape.isError);
  const isError = flag?.kind === 'boolean' && flag.value === true;
  const { content, shape: of, bytes } = shape;
  addResult(spot, { content, shape: of, bytes, id: id.text ?? '', isError }, context, seen);
  const told = [shape.id, shape.content, ...(flag?.kind === 'boolean' ? [shape.isError ?? ''] : [])];
  walkMembers(spot, shape.of ?? {}, context, seen, told);
}

function addResult(
  spot: Spot,
  {
    content,
    shape,
    bytes,
    id,
    isError,
  }: {
    readonly content: string;
    readonly shape?: Shape | undefined;
    readonly bytes?: BytesForm | undefined;
    readonly id: string;
    readonly isError: boolean;
  },
  context: WalkContext,
  seen: Seen,
): void {
  const { owner, entry } = spot;
  const member = memberSpot(spot, content);
  if (member !== undefined && bytes !== undefined) requireReadable(member, bytes, context);
  const inner = shape === undefined ? undefined : new Seen(spot.place, seen.other);
  if (member !== undefined && shape !== undefined && inner !== undefined) walk(member, shape, context, inner);
  const texts = inner?.body.filter((facet) => facet.kind === 'text');
  seen.body.push(...(inner?.body.filter((facet) => facet.kind === 'media') ?? []));
  seen.results.push({
    id,
    isError,
    content: member?.place,
    texts,
    object: spot.place,
    key: content,
    owner,
    entry,
  });
}

/** Throws RefusedCall for bytes at any depth that hooks cannot read. */
function requireReadable(spot: Spot, form: BytesForm, context: WalkContext): void {
  const { place } = spot;
  if (place.at('type')?.text === form.type && place.at(form.data) !== undefined) {
    const kind = place.at(form.mediaType)?.text?.startsWith('image/') === true ? 'image' : 'file';
    if (!context.rules.opaque.has(kind)) throw refusals(context).unknown(kind, spot);
  }
  for (const [key, member] of place.members) requireReadable(toMember(spot, key, member), form, context);
  for (const item of itemSpots(spot)) requireReadable(item, form, context);
}

function showCitation(spot: Spot, shape: ShowCitation, context: WalkContext, seen: Seen): void {
  const { owner, entry, place } = spot;
  const held = shape.in === undefined ? spot : memberSpot(spot, shape.in);
  const { tell, emptied } = shape;
  if (tell === undefined || place.kind !== 'object' || held?.place.kind !== 'object') {
    seen.citations.push({ owner, entry, place, held: undefined, description: place.json, emptied });
    return;
  }
  const told = tell.filter((key) => held.place.at(key)?.kind === 'string');
  const texts = tell.map((key) => [key, held.place.at(key)?.text ?? '']);
  const description = { ...(shape.type !== undefined && { type: shape.type }), ...Object.fromEntries(texts) };
  seen.citations.push({ owner, entry, place, held: held.place, description, emptied });
  if (shape.in === undefined) walkMembers(spot, shape.of ?? {}, context, seen, told);
  else {
    walkMembers(spot, shape.of ?? {}, context, seen, [shape.in]);
    walkMembers(held, shape.held ?? {}, context, seen, told);
  }
}

function requireObject(spot: Spot, context: WalkContext): void {
  if (spot.place.kind !== 'object') throw refusals(context).invalid('is not an object', spot);
}
