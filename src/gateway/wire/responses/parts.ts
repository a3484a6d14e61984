import { describeFile, type MediaFile, type MediaPart } from '../../../provider/messages/media.ts';
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
      readOpaque(part, { kind: 'image', told: toldOfImage, address: 'image_url' }, facets, reading);
      break;
    case 'input_audio':
    case 'output_audio':
      readOpaque(part, { kind: 'audio', told: toldOfAudio, address: undefined }, facets, reading);
      break;
    case 'input_file':
      readFile(part, facets, reading);
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
const toldOfFile = new Set(['type', 'file_data', 'file_url', 'file_id', 'filename']);
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
    const description = Object.fromEntries(members.map(([key, member]) => [key, member.value]));
    const { owner, entry, place } = annotation;
    facets.citations.push({ owner, entry, place, description });
  }
  tellRest(part, toldOfCitedText, facets);
}

const toldOfCitedText = new Set(['type', 'text', 'annotations']);
const untoldOfCitation = new Set(['start_index', 'end_index', 'index']);

interface OpaqueKind {
  readonly kind: 'image' | 'audio';
  readonly told: ReadonlySet<string>;
  /** The member with the address of the file. */
  readonly address: string | undefined;
}

function readOpaque(part: Spot, { kind, told, address }: OpaqueKind, facets: Facets, reading: Reading): void {
  requireOpaque(part, kind, reading);
  const url = address === undefined ? undefined : part.place.at(address)?.text;
  const media = { mime_type: typeOf(url) ?? `${kind}/*`, ...publicUrl(url), ...storedFile(part, reading) };
  facets.body.push(mediaFacet(part, { type: kind, media }));
  tellRest(part, told, facets);
}

/** Throws RefusedCall unless the config lets the kind, or the part's own type, pass unread. */
export function requireOpaque(part: Spot, kind: string, { rules, unknown }: Reading): void {
  const type = part.place.at('type')?.text;
  if (rules.opaque.has(kind) || (type !== undefined && rules.opaque.has(type))) return;
  throw unknown(type ?? kind, part.path);
}

function readFile(part: Spot, facets: Facets, reading: Reading): void {
  const name = requireText(memberSpot(part, 'filename'), reading);
  const named = name === undefined ? {} : { filename: name };
  const data = memberSpot(part, 'file_data');
  const inline = data === undefined ? undefined : inlineFile(requireText(data, reading) ?? '', named);
  const described = inline === undefined ? undefined : describeInline(inline, part, reading);
  tellRest(part, toldOfFile, facets);
  if (data !== undefined && inline !== undefined && described?.text !== undefined) {
    facets.body.push({ ...mediaFacet(part, described), inline: { file: inline, place: data.place } });
    return;
  }
  requireOpaque(part, 'file', reading);
  const url = part.place.at('file_url')?.text;
  const media = {
    mime_type: inline?.mediaType ?? unknownType,
    ...named,
    ...publicUrl(url),
    ...storedFile(part, reading),
  };
  facets.body.push(mediaFacet(part, { type: 'document', media }));
}

/** Throws RefusedCall for a text in an encoding that cannot be read. */
function describeInline(file: MediaFile, part: Spot, reading: Reading): MediaPart {
  try {
    return describeFile(file);
  } catch {
    throw reading.unknown('input_file', part.path);
  }
}

/** A file whose bytes stand in a `data:` URL. */
function inlineFile(data: string, named: { readonly filename?: string }): MediaFile | undefined {
  const mediaType = typeOf(data);
  if (mediaType === undefined || !URL.canParse(data)) return undefined;
  return { data: { type: 'url', url: new URL(data) }, mediaType, ...named };
}

function typeOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : /^data:([\w.+-]+\/[\w.+*-]+)[;,]/i.exec(url)?.[1];
}

function publicUrl(url: string | undefined): { readonly url?: string } {
  return url === undefined || /^data:/i.test(url) ? {} : { url };
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
