import { RuntimeError } from '../../../errors.ts';
import { describeWireFile, isSoundFile, mediaTypeOfUrl, type WireFile } from '../media.ts';
import type { Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import { isOpaque, type ReadContext } from './read-context.ts';

/** A part of a message's content, and what hooks are told of it. */
export interface ContentPart {
  readonly place: Place;
  readonly told: Readonly<Record<string, unknown>> & { readonly type: string; readonly text?: string };
  /** Where its text stands, if it can be changed there. */
  readonly text: Place | undefined;
  /** Of a file of text: the string that holds it. */
  readonly file?: { readonly place: Place; readonly file: WireFile } | undefined;
}

/** Reads an element of a `content` list; `path` is that of the element in its message, such as `content[1]`. */
export function readPart(place: Place, path: string, context: ReadContext): ContentPart {
  const { leftovers, side, at } = context;
  const type = place.at('type')?.text;
  const where = `${at}.${path}`;
  if (type === undefined) throw side.unknown(undefined, where);
  if (type === 'text' || type === 'refusal') {
    const text = place.at(type);
    if (text?.text === undefined) throw side.invalid(`has no text`, where);
    leftovers.addMembers(place, new Set(['type', type]), path);
    return { place, text, told: { type, text: text.text } };
  }
  const known = fileKinds[type];
  if (!isOpaque(context.rules, known?.kind ?? type, type)) throw side.unknown(type, where);
  if (known === undefined) return { place, text: undefined, told: { type } };
  leftovers.addMembers(place, new Set(['type', known.member]), path);
  return readFile(place, { path: `${path}.${known.member}`, where, context, known });
}

interface FileKind {
  /** The name that rules call it by. */
  readonly kind: 'image' | 'audio' | 'video' | 'file';
  readonly member: string;
  /** The media type where nothing else tells it. */
  readonly mediaType: string;
}

const image: FileKind = { kind: 'image', member: 'image_url', mediaType: 'image/*' };
const fileKinds: Readonly<Record<string, FileKind>> = {
  image_url: image,
  input_audio: { kind: 'audio', member: 'input_audio', mediaType: 'audio/*' },
  file: { kind: 'file', member: 'file', mediaType: 'application/octet-stream' },
  video_url: { kind: 'video', member: 'video_url', mediaType: 'video/*' },
};

interface FileOptions {
  readonly path: string;
  readonly where: string;
  readonly context: ReadContext;
  readonly known: FileKind;
}

function readFile(place: Place, { path, where, context, known }: FileOptions): ContentPart {
  const held = place.at(known.member);
  if (held?.kind !== 'object' && held?.kind !== 'string')
    throw context.side.invalid(`has no \`${known.member}\``, where);
  const fileId = held.at('file_id');
  if (fileId !== undefined && !context.rules.references.has('file_id'))
    throw context.side.reference(`${where}.file_id`);
  const carrier = held.kind === 'string' ? held : (held.at('url') ?? held.at('data') ?? held.at('file_data'));
  context.leftovers.addMembers(held, toldOfFile(held, carrier), path);
  if (carrier !== undefined && carrier.text === undefined)
    throw context.side.invalid('has no text as bytes', where);
  if (carrier?.text === undefined) return { place, text: undefined, told: { type: known.kind } };
  const file = fileOf(held, carrier.text, known);
  if (!isSoundFile(file)) throw context.side.invalid('has bytes that are no base64', where);
  const told = describe(file, () => context.side.invalid('is a file of text that cannot be read', where));
  const isText = told.text !== undefined;
  return { place, text: undefined, told, ...(isText && { file: { place: carrier, file } }) };
}

/** The members of a file that its description tells, or that only choose among known words. */
function toldOfFile(held: Place, carrier: Place | undefined): ReadonlySet<string> {
  const told = [...held.members].filter(([key, place]) => {
    if (place === carrier) return true;
    if (key === 'filename') return place.kind === 'string' && carrier !== undefined;
    if (key === 'format') return isPlainId(place.text ?? ' ') && carrier !== undefined;
    return key === 'detail' && ['auto', 'low', 'high', 'original'].includes(place.text ?? '');
  });
  return new Set(told.map(([key]) => key));
}

function fileOf(held: Place, carried: string, { mediaType }: FileKind): WireFile {
  const filename = held.at('filename')?.text;
  const format = held.at('format')?.text;
  const isUrl = held.kind === 'string' || held.at('url') !== undefined || /^\s*data:/i.test(carried);
  const type = format === undefined || !isPlainId(format) ? mediaType : mediaType.replace('*', format);
  return isUrl
    ? { url: carried, mediaType: mediaTypeOfUrl(carried) ?? type, filename }
    : { base64: carried, mediaType: type, filename };
}

function describe(file: WireFile, fail: () => Error): ContentPart['told'] {
  try {
    return { ...describeWireFile(file) };
  } catch (error) {
    if (error instanceof RuntimeError) throw fail();
    throw error;
  }
}
