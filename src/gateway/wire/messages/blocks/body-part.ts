import { createHash } from 'node:crypto';
import { describeFile, type MediaFile, withFileText } from '../../../../provider/messages/media.ts';
import type { Edits } from '../../edits.ts';
import type { Place } from '../../place.ts';

/** A part of what a message says, in the order of the body: a text, or a file. */
export interface BodyPart {
  /** As one of the message's `parts`. */
  readonly described: {
    readonly type: string;
    readonly text?: string;
    readonly media?: Readonly<Record<string, unknown>>;
  };
  /** Writes another text where the part has one. */
  readonly write: ((edits: Edits, text: string) => void) | undefined;
  /** Takes the part out; undefined when it is the whole content, as a plain string is. */
  readonly remove: ((edits: Edits) => void) | undefined;
}

/** The list that a part stands in, and its index. */
export interface PartPosition {
  readonly owner: Place;
  readonly entry: number;
}

/** A text that stands in the body as a string. */
export function textPart(place: Place, position: PartPosition | undefined): BodyPart {
  return {
    described: { type: 'text', text: place.text ?? '' },
    write: (edits, text) => edits.replaceText(place, text),
    remove: removeAt(position),
  };
}

/** A document whose text stands in the body as a string. */
export function documentTextPart(place: Place, mediaType: string, position: PartPosition): BodyPart {
  return {
    described: { type: 'document', text: place.text ?? '', media: { mime_type: mediaType } },
    write: (edits, text) => edits.replaceText(place, text),
    remove: removeAt(position),
  };
}

/** The file as text, where its bytes are that; undefined when they are no text. Throws RuntimeError EVENT_INVALID. */
export function encodedTextPart(
  data: Place,
  mediaType: string,
  position: PartPosition,
): BodyPart | undefined {
  const file: MediaFile = { data: { type: 'data', data: data.text ?? '' }, mediaType };
  const { type, text, media } = describeFile(file);
  if (text === undefined) return undefined;
  return {
    described: { type, text, media },
    write: (edits, changed) => {
      const { data: written } = withFileText(file, changed);
      if (written.type === 'data') edits.replaceText(data, String(written.data));
    },
    remove: removeAt(position),
  };
}

/** A file that hooks cannot read, told of without its bytes. */
export function opaquePart(
  type: string,
  media: Readonly<Record<string, unknown>>,
  position: PartPosition,
): BodyPart {
  return { described: { type, media }, write: undefined, remove: removeAt(position) };
}

/** What is told of bytes in base64. */
export function describeBytes(data: string): Readonly<Record<string, unknown>> {
  const bytes = Buffer.from(data, 'base64');
  return { size_bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function removeAt(position: PartPosition | undefined): BodyPart['remove'] {
  if (position === undefined) return undefined;
  return (edits) => edits.remove(position.owner, position.entry);
}
