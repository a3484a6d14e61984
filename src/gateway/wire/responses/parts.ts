import type { MediaPart } from '../../../provider/messages/media.ts';
import { describeWireFile, isSoundFile, mediaTypeOfUrl, type WireFile } from '../media.ts';
import type { Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import type { BodyFacet, Facets, TextFacet } from './facets.ts';
import {
  elementSpots,
  joinPath,
  memberSpot,
  type Reading,
  requireText,
  type Spot,
  tellRest,
} from './reading.ts';

/** Reads a message's content or a tool's output: a text, a part, or a list of parts. */
export function readContent(content: Spot, facets: Facets, reading: Reading): void {
  if (content.place.kind === 'string') facets.body.push(textFacet(content));
  else if (content.place.kind === 'array') {
    for (const part of elementSpots(content)) readPart(part, facets, reading);
  } else if (content.place.kind === 'object') readPart(content, facets, reading);
  else throw reading.malformed(content.path);
}

/** A text that hooks read as the message's or the result's. */
export function textFacet(spot: Spot, part: Spot = spot, copies: readonly string[] = []): TextFacet {
  return {
    kind: 'text',
    place: spot.place,
    owner: part.owner,
    entry: part.entry,
    copies: copies.flatMap((key) => part.place.at(key) ?? []),
  };
}

function readPart(part: Spot, facets: Facets, reading: Reading): void {
  const type = part.place.at('type')?.text;
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      readText(part, facets, reading);
      break;
    case 'reasoning_text':
    case 'summary_text':
      facets.reasoning.push(requireTextFacet(part, 'text', reading));
      tellRest(part, toldOfText, facets);
      break;
    case 'refusal':
      facets.refusals.push(requireTextFacet(part, 'refusal', reading));
      tellRest(part, toldOfRefusal, facets);
      break;
    case 'encrypted_content':
      tellRest(part, toldOfSealed, facets);
      break;
    case 'input_image':
    case 'computer_screenshot':
      readFile(part, { kind: 'image', told: toldOfImage, file: imageOf }, facets, reading);
      break;
    case 'input_audio':
    case 'output_audio':
      readAudio(part, facets, reading);
      break;
    case 'input_file':
      readFile(part, { kind: 'file', told: toldOfFile(part), file: fileOf }, facets, reading);
      break;
    default: {
      if (type === undefined || !reading.rules.opaque.has(type)) throw reading.unknown(type, part.path);
      facets.body.push(mediaFacet(part, { type: 'document', media: { mime_type: unknownType } }));
    }
  }
}

const toldOfSealed = new Set(['type']);
const toldOfText = new Set(['type', 'text']);
const toldOfRefusal = new Set(['type', 'refusal']);
const toldOfImage = new Set(['type', 'image_url', 'file_id']);
const toldOfAudio = new Set(['type', 'input_audio', 'data']);

/** One of the two addresses; the name only where there is a file that it names. */
function toldOfFile({ place }: Spot): ReadonlySet<string> {
  const carrier = ['file_data', 'file_url'].find((key) => place.at(key)?.kind === 'string');
  return new Set(['type', 'file_id', ...(carrier === undefined ? [] : [carrier, 'filename'])]);
}

function readAudio(part: Spot, facets: Facets, reading: Reading): void {
  const held = memberSpot(part, 'input_audio');
  readFile(part, { kind: 'audio', told: toldOfAudio, file: audioOf }, facets, reading);
  if (held === undefined) return;
  const hasPlainFormat = isPlainId(held.place.at('format')?.text ?? ' ');
  tellRest(held, new Set(['data', ...(hasPlainFormat ? ['format'] : [])]), facets);
}

const unknownType = 'application/octet-stream';

/** The text of a part, which must have one. */
export function requireTextFacet(part: Spot, key: string, reading: Reading): TextFacet {
  const spot = memberSpot(part, key);
  if (spot === undefined || requireText(spot, reading) === undefined)
    throw reading.malformed(`${part.path}.${key}`);
  return textFacet(spot, part, ['logprobs']);
}

function readText(part: Spot, facets: Facets, reading: Reading): void {
  facets.body.push(requireTextFacet(part, 'text', reading));
  const annotations = memberSpot(part, 'annotations');
  for (const annotation of annotations === undefined ? [] : elementSpots(annotations)) {
    const members = [...annotation.place.members].filter(([key]) => !untoldOfCitation.has(key));
    const told = Object.fromEntries(members.map(([key, member]) => [key, member.value]));
    const type = citationTypes.get(annotation.place.at('type')?.text ?? '');
    const description = { ...told, ...(type !== undefined && { type }) };
    const { owner, entry, place } = annotation;
    facets.citations.push({ owner, entry, place, description });
  }
  tellRest(part, toldOfCitedText, facets);
}

const toldOfCitedText = new Set(['type', 'text', 'annotations']);
/** What docs/guard.md calls them. */
const citationTypes: ReadonlyMap<string, string> = new Map([
  ['url_citation', 'url'],
  ['file_citation', 'document'],
  ['container_file_citation', 'document'],
  ['file_path', 'document'],
]);
const untoldOfCitation = new Set(['start_index', 'end_index', 'index']);

interface OpaqueKind {
  readonly kind: 'image' | 'audio' | 'file';
  readonly told: ReadonlySet<string>;
  readonly file: (part: Spot, reading: Reading) => Carried | undefined;
}

/** A file, and the string that carries it. */
interface Carried {
  readonly file: WireFile;
  readonly place: Place;
}

function readFile(part: Spot, { kind, told, file }: OpaqueKind, facets: Facets, reading: Reading): void {
  const carried = file(part, reading);
  const described = carried === undefined ? undefined : describe(carried.file, part, reading);
  const isText = described?.text !== undefined;
  if (!isText) requireOpaque(part, kind, reading);
  const stored = storedFile(part, reading);
  const { type, text, media } = described ?? { type: mediaTypes[kind], media: { mime_type: `${kind}/*` } };
  const description = { type, ...(text !== undefined && { text }), media: { ...media, ...stored } };
  facets.body.push({ ...mediaFacet(part, description), inline: isText ? carried : undefined });
  tellRest(part, told, facets);
}

const mediaTypes = { image: 'image', audio: 'audio', file: 'document' } as const;

/** Throws RefusedCall for a text in an encoding that cannot be read, and for what is not base64 where that should be. */
function describe(file: WireFile, part: Spot, reading: Reading): MediaPart {
  if (!isSoundFile(file)) throw reading.malformed(part.path);
  try {
    return describeWireFile(file);
  } catch {
    throw reading.malformed(part.path);
  }
}

/** Throws RefusedCall unless the config lets the kind, or the part's own type, pass unread. */
export function requireOpaque(part: Spot, kind: string, { rules, unknown }: Reading): void {
  const type = part.place.at('type')?.text;
  if (rules.opaque.has(kind) || (type !== undefined && rules.opaque.has(type))) return;
  throw unknown(type ?? kind, part.path);
}

function imageOf(part: Spot, reading: Reading): Carried | undefined {
  const spot = memberSpot(part, 'image_url');
  const url = requireText(spot, reading);
  if (spot === undefined || url === undefined) return undefined;
  return { file: { url, mediaType: mediaTypeOfUrl(url) ?? 'image/*' }, place: spot.place };
}

function audioOf(part: Spot, reading: Reading): Carried | undefined {
  const held = memberSpot(part, 'input_audio') ?? part;
  const spot = memberSpot(held, 'data');
  const base64 = requireText(spot, reading);
  if (spot === undefined || base64 === undefined) return undefined;
  const format = held.place.at('format')?.text ?? '*';
  return { file: { base64, mediaType: `audio/${isPlainId(format) ? format : '*'}` }, place: spot.place };
}

function fileOf(part: Spot, reading: Reading): Carried | undefined {
  const filename = requireText(memberSpot(part, 'filename'), reading);
  const spot = memberSpot(part, 'file_data') ?? memberSpot(part, 'file_url');
  const carried = requireText(spot, reading);
  if (spot === undefined || carried === undefined) return undefined;
  const isUrl = spot.entry === 'file_url' || /^\s*data:/i.test(carried);
  const file = isUrl
    ? { url: carried, mediaType: mediaTypeOfUrl(carried) ?? unknownType, filename }
    : { base64: carried, mediaType: unknownType, filename };
  return { file, place: spot.place };
}

/** A file that the API keeps. Throws RefusedCall unless the config lets such references pass. */
function storedFile(part: Spot, reading: Reading): { readonly storage_reference?: string } {
  const id = requireText(memberSpot(part, 'file_id'), reading);
  if (id === undefined) return {};
  if (!reading.rules.references.has('file_id')) throw reading.reference(joinPath(part.path, 'file_id'));
  return { storage_reference: id };
}

function mediaFacet({ owner, entry }: Spot, description: MediaPart): BodyFacet & { readonly kind: 'media' } {
  return { kind: 'media', description, owner, entry, inline: undefined };
}
