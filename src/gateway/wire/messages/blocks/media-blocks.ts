import { RuntimeError } from '../../../../errors.ts';
import { isSoundFile } from '../../media.ts';
import type { Place } from '../../place.ts';
import {
  type BodyPart,
  describeBytes,
  documentTextPart,
  encodedTextPart,
  opaquePart,
  textPart,
} from './body-part.ts';
import {
  type PathedBlock,
  type PathedList,
  positionOf,
  type ReadContext,
  requireString,
} from './read-context.ts';
import { collectLeftovers, type Shape } from './shapes.ts';
import type { ToldContent } from './told-content.ts';

/** An image, which has to be listed as opaque. */
export function readImage(pathed: PathedBlock, told: ToldContent, context: ReadContext): BodyPart {
  const source = requireSource(pathed, context);
  return readOpaqueSource('image', { pathed, source }, told, context);
}

interface DocumentReading {
  readonly told: ToldContent;
  readonly context: ReadContext;
  /** Reads blocks that a document consists of. */
  readonly readNested: (list: PathedList) => void;
}

/** A document: its text where it has one, else a file that has to be listed as opaque. */
export function readDocument(pathed: PathedBlock, { told, context, readNested }: DocumentReading): void {
  const source = requireSource(pathed, context);
  const type = source.at('type')?.text;
  if (type === 'content') {
    readContentSource(source, pathed, { told, context, readNested });
    return;
  }
  const part =
    type === 'text' || type === 'base64' ? readTextSource(type, { pathed, source }, context) : undefined;
  if (part === undefined) told.body.push(readOpaqueSource('file', { pathed, source }, told, context));
  else {
    collectSource(source, pathed, told);
    told.body.push(part);
  }
}

interface Sourced {
  readonly pathed: PathedBlock;
  readonly source: Place;
}

function readTextSource(
  type: 'text' | 'base64',
  { pathed, source }: Sourced,
  context: ReadContext,
): BodyPart | undefined {
  const fullPath = `${pathed.fullPath}.source`;
  const data = requireString({ block: source, fullPath }, 'data', context);
  const mediaType = mediaTypeOf(source);
  if (type === 'text') return documentTextPart(data, mediaType, positionOf(pathed));
  requireBytes(data, fullPath, context);
  if (/^(?:application\/pdf|image\/|audio\/|video\/)/i.test(mediaType)) return undefined;
  try {
    return encodedTextPart(data, mediaType, positionOf(pathed));
  } catch (error) {
    throw error instanceof RuntimeError ? context.malformed(fullPath) : error;
  }
}

/** A document of blocks: their texts are those of the message. */
function readContentSource(
  source: Place,
  pathed: PathedBlock,
  { told, context, readNested }: DocumentReading,
): void {
  collectSource(source, pathed, told);
  const list = source.at('content');
  if (list?.kind === 'string') {
    told.body.push(textPart(list, positionOf(pathed)));
    return;
  }
  const fullPath = `${pathed.fullPath}.source.content`;
  if (list?.kind !== 'array') throw context.malformed(fullPath);
  readNested({ list, path: `${pathed.path}.source.content`, fullPath });
}

function readOpaqueSource(
  kind: 'image' | 'file',
  { pathed, source }: Sourced,
  told: ToldContent,
  context: ReadContext,
): BodyPart {
  const { opaque, references } = context.rules;
  const type = source.at('type')?.text;
  if (type === 'file') {
    if (!references.has('file_id')) throw context.reference(`${pathed.fullPath}.source.file_id`);
  } else if (type !== 'base64' && type !== 'url') {
    throw context.unknown(type ?? '', `${pathed.fullPath}.source`);
  } else if (!opaque.has(kind) && !(kind === 'file' && opaque.has('document'))) {
    throw context.unknown(kind, pathed.fullPath);
  }
  const member = memberOfType[type];
  const fullPath = `${pathed.fullPath}.source`;
  const held = requireString({ block: source, fullPath }, member, context);
  if (type === 'base64') requireBytes(held, fullPath, context);
  collectSource(source, pathed, told);
  return opaquePart(kind === 'image' ? 'image' : 'document', describeSource(source), positionOf(pathed));
}

/** A text among bytes would pass unread. */
function requireBytes({ text = '' }: Place, fullPath: string, { malformed }: ReadContext): void {
  if (!isSoundFile({ base64: text, mediaType: '' })) throw malformed(`${fullPath}.data`);
}

/** What is told of a file without its bytes. */
function describeSource(source: Place): Readonly<Record<string, unknown>> {
  const mime = source.at('media_type')?.text;
  const data = source.at('data')?.text;
  const url = source.at('url')?.text;
  const id = source.at('file_id')?.text;
  return {
    ...(mime !== undefined && { mime_type: mime }),
    ...(data !== undefined && describeBytes(data)),
    ...(url !== undefined && { url }),
    ...(id !== undefined && { storage_reference: id }),
  };
}

function collectSource(source: Place, { path }: PathedBlock, told: ToldContent): void {
  const shape = sourceShapes[source.at('type')?.text ?? ''] ?? { members: {} };
  collectLeftovers(source, shape, `${path}.source`, told.leftovers);
}

const memberOfType = { base64: 'data', url: 'url', file: 'file_id' } as const;

/** The members of sources: they are told with the part. */
const sourceShapes: Readonly<Record<string, { readonly members: Readonly<Record<string, Shape>> }>> = {
  text: { members: { type: 'text', data: 'text', media_type: 'text' } },
  base64: { members: { type: 'text', data: 'text', media_type: 'text' } },
  url: { members: { type: 'text', url: 'text' } },
  file: { members: { type: 'text', file_id: 'text' } },
  content: { members: { type: 'text', content: 'told' } },
};

function mediaTypeOf(source: Place): string {
  return source.at('media_type')?.text ?? 'text/plain';
}

function requireSource({ block, fullPath }: PathedBlock, { malformed }: ReadContext): Place {
  const source = block.at('source');
  if (source?.kind !== 'object') throw malformed(`${fullPath}.source`);
  return source;
}
