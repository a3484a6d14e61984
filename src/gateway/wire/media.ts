import { createHash } from 'node:crypto';
import { RuntimeError } from '../../base/errors.ts';
import { describeFile, type MediaFile, type MediaPart, withFileText } from '../../models/messages/media.ts';
import { isPlainId, memberSpot, type Place, type Spot } from './place.ts';
import { refusals } from './refusal.ts';
import type { MediaFacet, Seen, WireFile } from './seen.ts';
import type { Members, ShowMedia, WalkContext } from './shape.ts';

/** Includes the text of a text file, but never bytes. Throws EVENT_INVALID if a text file's bytes are not text. */
function describeWireFile(file: WireFile): MediaPart {
  const carried = toMediaFile(file);
  if (carried === undefined) {
    const media = { mime_type: file.mediaType, ...named(file), url: file.url ?? '' };
    return { type: describeFile({ data: noBytes, mediaType: file.mediaType }).type, media };
  }
  const { type, text, media } = describeFile(carried);
  return { type, ...(text !== undefined && { text }), media: withoutBytes(media) };
}

/** Throws REPLY_MALFORMED if the file's charset lacks a character. */
export function encodeWireText(file: WireFile, text: string): string | undefined {
  const carried = toMediaFile(file);
  if (carried === undefined) return undefined;
  const { data } = withFileText(carried, text);
  if (data.type === 'url') return data.url.href;
  if (data.type !== 'data' || typeof data.data !== 'string') return undefined;
  if (file.base64 !== undefined) return data.data;
  return `data:${dataUrlOf(file.url)?.head ?? file.mediaType};base64,${data.data}`;
}

/** Whether the content is a URL or pure Base64. Text among Base64 would pass unread. */
export function isSoundFile({ url, base64 }: WireFile): boolean {
  const bytes = base64 ?? dataUrlOf(url)?.base64;
  return bytes === undefined || /^[\w+/-]*={0,2}$/.test(bytes);
}

function mediaTypeOfUrl(url: string): string | undefined {
  const head = dataUrlOf(url)?.head ?? '';
  const type = head.split(';', 1)[0] ?? '';
  return type === '' ? undefined : type;
}

const noBytes = { type: 'data', data: '' } as const;

/** Returns undefined for an address that no URL parser accepts. Hooks see it unchanged. */
function toMediaFile(file: WireFile): MediaFile | undefined {
  const { url, base64, mediaType } = file;
  const base = { mediaType, ...named(file) };
  if (base64 !== undefined) return { ...base, data: { type: 'data', data: base64 } };
  const inline = url === undefined ? undefined : dataUrlOf(url);
  if (inline?.base64 !== undefined) {
    return {
      ...base,
      mediaType: inline.head === '' ? mediaType : inline.head,
      data: { type: 'data', data: inline.base64 },
    };
  }
  if (url === undefined || !URL.canParse(url)) return undefined;
  return { ...base, data: { type: 'url', url: new URL(url), originalUrl: url } };
}

function named({ filename }: WireFile): { readonly filename?: string } {
  return filename === undefined ? {} : { filename };
}

function dataUrlOf(
  url: string | undefined,
): { readonly head: string; readonly base64: string | undefined } | undefined {
  if (url === undefined || !/^\s*data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma === -1) return undefined;
  const head = url.slice(url.indexOf(':') + 1, comma);
  const isBase64 = /;\s*base64\s*$/i.test(head);
  return {
    head: head.replace(/;\s*base64\s*$/i, '').trim(),
    base64: isBase64 ? decodePercents(url.slice(comma + 1)) : undefined,
  };
}

function decodePercents(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function withoutBytes(media: MediaPart['media']): MediaPart['media'] {
  const { data, ...rest } = media;
  if (typeof data !== 'string') return withoutInlineUrl(rest);
  return { ...rest, sha256: createHash('sha256').update(Buffer.from(data, 'base64')).digest('hex') };
}

function withoutInlineUrl(media: MediaPart['media']): MediaPart['media'] {
  const { url, ...rest } = media;
  if (typeof url !== 'string' || !/^\s*data:/i.test(url)) return media;
  return { ...rest, url_chars: url.length, sha256: createHash('sha256').update(url).digest('hex') };
}

type WalkRest = (spot: Spot, members: Members, told: readonly string[]) => void;

/** Shows the text of text files, but never bytes. Throws RefusedCall. */
export function seeMedia(
  spot: Spot,
  shape: ShowMedia,
  {
    context,
    seen,
    walkRest,
  }: { readonly context: WalkContext; readonly seen: Seen; readonly walkRest: WalkRest },
): void {
  const { invalid, reference, unknown } = refusals(context);
  const held = shape.in === undefined ? spot : memberSpot(spot, shape.in);
  if (held?.place.kind !== 'object' && held?.place.kind !== 'string')
    throw invalid(`has no \`${shape.in}\``, spot);
  const id = shape.reference === undefined ? undefined : memberSpot(held, shape.reference);
  if (id !== undefined && id.place.kind !== 'null' && !context.rules.references.has('file_id'))
    throw reference(id);
  const carrier = carrierOf(held, shape);
  const isListed = isOpaque(spot.place, shape, context);
  if (!isListed && (carrier === undefined || shape.passesText !== true)) {
    if (id === undefined || carrier !== undefined)
      throw unknown(spot.place.at('type')?.text ?? shape.media, spot);
  }
  const file = carrier && fileOf(held.place, carrier, shape);
  if (file !== undefined && !isSoundFile(file))
    throw invalid('has bytes that are not base64', memberSpot(held, carrier?.key ?? '') ?? held);
  const transcript = shape.transcript === undefined ? undefined : held.place.at(shape.transcript);
  const description: MediaFacet['description'] = {
    ...(file === undefined
      ? { type: shape.media === 'file' ? 'document' : shape.media }
      : describeCarried(file, () => invalid('is a file of text that cannot be read', spot))),
    ...(transcript !== undefined && { transcript: transcript.text ?? '' }),
  };
  if (!isListed && description.text === undefined && file !== undefined)
    throw unknown(spot.place.at('type')?.text ?? shape.media, spot);
  const isText = file !== undefined && carrier !== undefined && description.text !== undefined;
  const inline = isText ? { file, place: carrier.place } : undefined;
  seen.body.push({ kind: 'media', description, inline, owner: spot.owner, entry: spot.entry });
  const told = toldOf(held.place, carrier, shape);
  if (shape.in === undefined) walkRest(spot, shape.of ?? {}, told);
  else {
    walkRest(spot, shape.of ?? {}, [shape.in]);
    if (held.place.kind === 'object') walkRest(held, shape.held ?? {}, told);
  }
}

function isOpaque(
  place: Place,
  { media, in: member = '' }: ShowMedia,
  { rules: { opaque } }: WalkContext,
): boolean {
  return opaque.has(media) || opaque.has(place.at('type')?.text ?? member);
}

interface Carrier {
  readonly place: Place;
  readonly key: string;
  readonly isUrl: boolean;
}

function carrierOf({ place }: Spot, { url = [], bytes = [] }: ShowMedia): Carrier | undefined {
  if (place.kind === 'string') return { place, key: '', isUrl: true };
  for (const key of [...url, ...bytes]) {
    const found = place.at(key);
    if (found?.kind === 'string')
      return { place: found, key, isUrl: url.includes(key) || /^\s*data:/i.test(found.text ?? '') };
  }
  return undefined;
}

function fileOf(held: Place, { place, isUrl }: Carrier, shape: ShowMedia): WireFile {
  const carried = place.text ?? '';
  const filename = shape.filename === undefined ? undefined : held.at(shape.filename)?.text;
  const named = shape.mediaType === undefined ? undefined : held.at(shape.mediaType)?.text;
  const format = shape.format === undefined ? undefined : held.at(shape.format)?.text;
  const type =
    named ?? (format !== undefined && isPlainId(format) ? shape.isOf.replace('*', format) : shape.isOf);
  return isUrl
    ? { url: carried, mediaType: mediaTypeOfUrl(carried) ?? type, filename }
    : { base64: carried, mediaType: type, filename };
}

function toldOf(held: Place, carrier: Carrier | undefined, shape: ShowMedia): string[] {
  const told =
    shape.transcript !== undefined && held.at(shape.transcript)?.kind === 'string' ? [shape.transcript] : [];
  if (carrier === undefined) return told;
  told.push(carrier.key);
  for (const key of [shape.filename, shape.mediaType])
    if (key !== undefined && held.at(key)?.kind === 'string') told.push(key);
  const { format } = shape;
  if (format !== undefined && isPlainId(held.at(format)?.text ?? ' ')) told.push(format);
  return told;
}

function describeCarried(file: WireFile, fail: () => Error): MediaFacet['description'] {
  try {
    return { ...describeWireFile(file) };
  } catch (error) {
    if (error instanceof RuntimeError) throw fail();
    throw error;
  }
}
