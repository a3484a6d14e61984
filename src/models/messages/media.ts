import { createHash } from 'node:crypto';
import type { SharedV4FileData } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { type ReadText, writeText } from '../../base/text/encoding/codec.ts';
import { detectText, readText } from '../../base/text/encoding/decode.ts';
import { readTextType } from '../../base/text/encoding/media-type.ts';

export interface MediaFile {
  readonly data: SharedV4FileData;
  /** A full media type, or its first half alone. */
  readonly mediaType: string;
  readonly filename?: string;
}

/** A file for hooks. `text` is present if the file is text, and is then complete. */
export interface MediaPart {
  readonly type: 'image' | 'audio' | 'video' | 'document';
  readonly text?: string;
  readonly media: Readonly<Record<string, unknown>>;
}

/** The limit of one file's Base64 characters. Hooks get size and digest of a longer one. */
export const maxMediaChars = 1024 * 1024;

export function describeFile({ data, mediaType, filename }: MediaFile): MediaPart {
  const type = typeOf(mediaType);
  const media = { mime_type: mediaType, ...(filename !== undefined && { filename }) };
  switch (data.type) {
    case 'text':
      return { type: 'document', text: data.text, media };
    case 'url': {
      const inlineText = readFileText({ data, mediaType });
      if (inlineText !== undefined) return { type: 'document', text: inlineText.text, media };
      return { type, media: { ...media, ...limitUrl(data.originalUrl ?? data.url.href) } };
    }
    case 'reference':
      return { type, media: { ...media, storage_reference: referenceText(data.reference) } };
    case 'data': {
      const inlineText = readFileText({ data, mediaType });
      if (inlineText !== undefined) return { type: 'document', text: inlineText.text, media };
      return { type, media: { ...media, ...limitBytes(toBytes(data.data)) } };
    }
  }
}

export function withFileText<File extends MediaFile>(file: File, text: string): File {
  const { data } = file;
  const inlineText = readFileText(file);
  if (inlineText === undefined) return { ...file, data: { type: 'text', text } };
  const bytes = writeText(text, inlineText.encoding);
  if (bytes === undefined) {
    const what = `a file of a replaced message has characters that its encoding, ${inlineText.encoding.name}, does not have`;
    throw new RuntimeError('REPLY_MALFORMED', what);
  }
  return { ...file, data: withBytes(data, bytes) };
}

function withBytes(data: SharedV4FileData, bytes: Buffer): SharedV4FileData {
  if (data.type === 'url') {
    const [head = ''] = data.url.href.slice('data:'.length).split(',', 1);
    const type = head.replace(/;base64$/i, '');
    return { type: 'url', url: new URL(`data:${type};base64,${bytes.toString('base64')}`) };
  }
  const isText = data.type !== 'data' || typeof data.data === 'string';
  return { type: 'data', data: isText ? bytes.toString('base64') : new Uint8Array(bytes) };
}

/** Undefined if an inline file is not text. Throws EVENT_INVALID if its type says text. */
function readFileText({ data, mediaType }: Pick<MediaFile, 'data' | 'mediaType'>): ReadText | undefined {
  const known = textCache.get(data);
  if (known?.mediaType === mediaType) return known.text;
  const text = readInlineText(inlineFileOf(data), mediaType);
  textCache.set(data, { mediaType, text });
  return text;
}

/** A file's text is read when it is described and again when it comes back. */
const textCache = new WeakMap<
  SharedV4FileData,
  { readonly mediaType: string; readonly text: ReadText | undefined }
>();

interface InlineFile {
  readonly bytes: Buffer;
  readonly type: string;
}

function readInlineText(held: InlineFile | undefined, mediaType: string): ReadText | undefined {
  if (held === undefined) return undefined;
  const types = [mediaType, held.type].map(readTextType);
  const charset = types.find((each) => each.charset !== undefined)?.charset;
  if (types.some(({ isText }) => isText === 'yes'))
    return readText(held.bytes, charset) ?? throwUnreadable(charset);
  return types[0]?.isText === 'open' ? detectText(held.bytes) : undefined;
}

function inlineFileOf(data: SharedV4FileData): InlineFile | undefined {
  if (data.type === 'data') return { bytes: toBytes(data.data), type: '' };
  return data.type === 'url' ? decodeDataUrl(data.url) : undefined;
}

function throwUnreadable(charset: string | undefined): never {
  const what =
    charset === undefined
      ? 'its encoding is not known'
      : `its charset ${JSON.stringify(charset)} is not known, or not what its bytes are`;
  throw new RuntimeError('EVENT_INVALID', `a text file cannot be read: ${what}`);
}

function decodeDataUrl({ protocol, href }: URL): InlineFile | undefined {
  const comma = href.indexOf(',');
  if (protocol !== 'data:' || comma === -1) return undefined;
  const head = href.slice('data:'.length, comma);
  const body = href.slice(comma + 1);
  const isBase64 = /;\s*base64\s*$/i.test(head);
  const octets = body.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const bytes = Buffer.from(octets, isBase64 ? 'base64' : 'latin1');
  return { bytes, type: head.replace(/;\s*base64\s*$/i, '') };
}

/** Throws REPLY_MALFORMED if the part contains nothing for a model. */
export function parseFilePart(part: Readonly<Record<string, unknown>>): MediaFile {
  const { media, text } = part;
  const members = isObject(media) ? media : {};
  const { mime_type: mime, filename, url, data } = members;
  const mediaType = typeof mime === 'string' && mime !== '' ? mime : 'text/plain';
  const named = { mediaType, ...(typeof filename === 'string' && { filename }) };
  if (typeof text === 'string') return { ...named, data: { type: 'text', text } };
  if (typeof mime !== 'string') throw unusablePartError('has no `media.mime_type`');
  if (typeof data === 'string') return { ...named, data: { type: 'data', data } };
  if (typeof url === 'string' && URL.canParse(url)) {
    return { ...named, data: { type: 'url', url: new URL(url) } };
  }
  throw unusablePartError(
    'is not one of the files that were sent, and has neither `media.data` nor a `media.url`',
  );
}

function unusablePartError(what: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', `a part of a replaced message ${what}`);
}

function typeOf(mediaType: string): MediaPart['type'] {
  const [top] = mediaType.toLowerCase().split('/');
  return top === 'image' || top === 'audio' || top === 'video' ? top : 'document';
}

function toBytes(data: Uint8Array | string): Buffer {
  return typeof data === 'string'
    ? Buffer.from(data, 'base64')
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function limitBytes(bytes: Buffer): Readonly<Record<string, unknown>> {
  const size = { size_bytes: bytes.length };
  const isSent = Math.ceil(bytes.length / 3) * 4 <= maxMediaChars;
  return isSent ? { ...size, data: bytes.toString('base64') } : { ...size, sha256: digest(bytes) };
}

function limitUrl(url: string): Readonly<Record<string, unknown>> {
  if (url.length <= maxMediaChars) return { url };
  return { url_chars: url.length, sha256: digest(url) };
}

function digest(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

function referenceText(reference: Readonly<Record<string, string>>): string {
  return Object.entries(reference)
    .map(([provider, id]) => `${provider}:${id}`)
    .join(',');
}
