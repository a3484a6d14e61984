import { createHash } from 'node:crypto';
import { describeFile, type MediaFile, type MediaPart, withFileText } from '../../models/messages/media.ts';

/** A picture, sound or file as a body carries it. */
export interface WireFile {
  /** Of any scheme, `data:` too. */
  readonly url?: string | undefined;
  readonly base64?: string | undefined;
  /** A full media type, or its first half alone; `application/octet-stream` where nothing tells it. */
  readonly mediaType: string;
  readonly filename?: string | undefined;
}

/**
 * A file as hooks are told of it: without its bytes, unless they are text, which `text` then is the whole of. Throws
 * RuntimeError EVENT_INVALID when its type says text and its bytes are none.
 */
export function describeWireFile(file: WireFile): MediaPart {
  const carried = toMediaFile(file);
  if (carried === undefined) {
    const media = { mime_type: file.mediaType, ...named(file), url: file.url ?? '' };
    return { type: describeFile({ data: noBytes, mediaType: file.mediaType }).type, media };
  }
  const { type, text, media } = describeFile(carried);
  return { type, ...(text !== undefined && { text }), media: withoutBytes(media) };
}

/**
 * The URL, or the base64, of a file of text with another text. Throws RuntimeError REPLY_MALFORMED when its encoding
 * lacks one of the characters.
 */
export function encodeWireText(file: WireFile, text: string): string | undefined {
  const carried = toMediaFile(file);
  if (carried === undefined) return undefined;
  const { data } = withFileText(carried, text);
  if (data.type === 'url') return data.url.href;
  if (data.type !== 'data' || typeof data.data !== 'string') return undefined;
  if (file.base64 !== undefined) return data.data;
  return `data:${dataUrlOf(file.url)?.head ?? file.mediaType};base64,${data.data}`;
}

/** Whether what a file carries is an address, or bytes in base64 and nothing else: a text among them would pass unread. */
export function isSoundFile({ url, base64 }: WireFile): boolean {
  const bytes = base64 ?? dataUrlOf(url)?.base64;
  return bytes === undefined || /^[\w+/-]*={0,2}$/.test(bytes);
}

/** The media type of a `data:` URL; undefined of any other. */
export function mediaTypeOfUrl(url: string): string | undefined {
  const head = dataUrlOf(url)?.head ?? '';
  const type = head.split(';', 1)[0] ?? '';
  return type === '' ? undefined : type;
}

const noBytes = { type: 'data', data: '' } as const;

/** Undefined: an address that no URL parser takes, of which hooks are told as it is. */
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

/** The parts of a `data:` URL; `base64` only where its bytes are that. */
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

/** Size and digest say which bytes they are; a long URL with bytes in it is told by its digest already. */
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
