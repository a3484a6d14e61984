import { createHash } from 'node:crypto';
import type { SharedV4FileData } from '@ai-sdk/provider';
import { RuntimeError } from '../errors.ts';
import { isObject } from '../json.ts';

/** A file as the AI SDK carries it, in a prompt or in an answer. */
export interface MediaFile {
  readonly data: SharedV4FileData;
  /** A full media type, or its first half alone. */
  readonly mediaType: string;
  readonly filename?: string;
}

/** A file as a hook reads it: `text` is there when the file is text, and then is the whole of it. */
export interface MediaPart {
  readonly type: 'image' | 'audio' | 'video' | 'document';
  readonly text?: string;
  readonly media: Readonly<Record<string, unknown>>;
}

/** Base64 characters of one file that are sent to hooks; of a longer one they get size and digest. */
export const maxMediaChars = 1024 * 1024;

/** The part that hooks are sent for a file. */
export function describeFile({ data, mediaType, filename }: MediaFile): MediaPart {
  const type = typeOf(mediaType);
  const media = { mime_type: mediaType, ...(filename !== undefined && { filename }) };
  switch (data.type) {
    case 'text':
      return { type: 'document', text: data.text, media };
    case 'url':
      return { type, media: { ...media, ...boundUrl(data.originalUrl ?? data.url.href) } };
    case 'reference':
      return { type, media: { ...media, storage_reference: referenceText(data.reference) } };
    case 'data': {
      const bytes = toBytes(data.data);
      const text = isTextual(mediaType) ? decodeText(bytes) : undefined;
      if (text !== undefined) return { type: 'document', text, media };
      return { type, media: { ...media, ...boundBytes(bytes) } };
    }
  }
}

/** The file with another text, in the form in which it had the old one. */
export function withFileText<File extends MediaFile>(file: File, text: string): File {
  const { data } = file;
  if (data.type !== 'data') return { ...file, data: { type: 'text', text } };
  const bytes = Buffer.from(text);
  const changed = typeof data.data === 'string' ? bytes.toString('base64') : new Uint8Array(bytes);
  return { ...file, data: { type: 'data', data: changed } };
}

/** The file that a hook wrote. Throws REPLY_MALFORMED when the part has nothing that could be sent to a model. */
export function readFile(part: Readonly<Record<string, unknown>>): MediaFile {
  const { media, text } = part;
  const members = isObject(media) ? media : {};
  const { mime_type: mime, filename, url, data } = members;
  const mediaType = typeof mime === 'string' && mime !== '' ? mime : 'text/plain';
  const named = { mediaType, ...(typeof filename === 'string' && { filename }) };
  if (typeof text === 'string') return { ...named, data: { type: 'text', text } };
  if (typeof mime !== 'string') throw unusable('has no `media.mime_type`');
  if (typeof data === 'string') return { ...named, data: { type: 'data', data } };
  if (typeof url === 'string' && URL.canParse(url)) {
    return { ...named, data: { type: 'url', url: new URL(url) } };
  }
  throw unusable('is none of the files that were sent and has neither `media.data` nor a `media.url`');
}

function unusable(what: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', `a part of a replaced message ${what}`);
}

function typeOf(mediaType: string): MediaPart['type'] {
  const [top] = mediaType.toLowerCase().split('/');
  return top === 'image' || top === 'audio' || top === 'video' ? top : 'document';
}

function isTextual(mediaType: string): boolean {
  return /^(?:text(?:\/|$)|application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|sql|csv)\b)|\+(?:json|xml|yaml)\b/i.test(
    mediaType,
  );
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toBytes(data: Uint8Array | string): Buffer {
  return typeof data === 'string'
    ? Buffer.from(data, 'base64')
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function boundBytes(bytes: Buffer): Readonly<Record<string, unknown>> {
  const size = { size_bytes: bytes.length };
  const isSent = Math.ceil(bytes.length / 3) * 4 <= maxMediaChars;
  return isSent ? { ...size, data: bytes.toString('base64') } : { ...size, sha256: digest(bytes) };
}

/** A `data:` URL is as long as what it holds. */
function boundUrl(url: string): Readonly<Record<string, unknown>> {
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
