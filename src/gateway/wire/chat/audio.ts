import { isSameToTheDigit } from '../../../json/equal.ts';
import { isObject } from '../../../json/json.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { describeWireFile, isSoundFile } from '../media.ts';
import type { Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import { isOpaque, type ReadContext } from './read-context.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/** The spoken answer of a model: its bytes, and what it says as a text. */
export interface Audio {
  /** What hooks are told of it: its text is what was said. */
  readonly part: PlainObject | undefined;
  /** The members of the message that the part tells. */
  readonly told: readonly string[];
  /** Takes its part out of a replaced message, and the audio out of the body when the part is gone. Throws REPLY_MALFORMED. */
  take(changed: PlainObject, hasParts: boolean, edits: Edits): PlainObject;
}

const none: Audio = { part: undefined, told: [], take: (changed) => changed };

/** Reads the `audio` of a model's message: in a request it only refers to what was said before. */
export function readAudio(message: Place, context: ReadContext): Audio {
  const place = message.at('audio');
  if (place?.kind === 'null') return { ...none, told: ['audio'] };
  if (place?.kind !== 'object') return none;
  const where = `${context.at}.audio`;
  if (!context.side.isAnswer) {
    if (!context.rules.references.has('audio')) throw context.side.reference(where);
    return none;
  }
  if (!isOpaque(context.rules, 'audio', 'audio')) throw context.side.unknown('audio', where);
  const told = [...place.members].filter(([key, value]) => isTold(key, value)).map(([key]) => key);
  context.leftovers.addMembers(place, new Set(told), 'audio');
  const file = { base64: place.at('data')?.text ?? '', mediaType: 'audio/*' };
  if (!isSoundFile(file)) throw context.side.invalid('has bytes that are no base64', where);
  const { media } = describeWireFile(file);
  const transcript = place.at('transcript')?.text ?? '';
  const part = { type: 'audio', media, transcript };
  return {
    part,
    told: ['audio'],
    take: (changed, hasParts, edits) => takeAudio(changed, { part, message, hasParts }, edits),
  };
}

function isTold(key: string, value: Place): boolean {
  if (key === 'data' || key === 'transcript') return value.kind === 'string';
  if (key === 'id') return isPlainId(value.text ?? ' ');
  return key === 'expires_at' && value.kind === 'number';
}

interface SentAudio {
  readonly part: PlainObject;
  readonly message: Place;
  readonly hasParts: boolean;
}

function takeAudio(changed: PlainObject, { part, message, hasParts }: SentAudio, edits: Edits): PlainObject {
  const given: unknown[] = Array.isArray(changed['parts']) ? changed['parts'] : [];
  const sounds = given.filter(
    (each) => isObject(each) && each['type'] === 'audio' && each['transcript'] !== undefined,
  );
  const rest = given.filter((each) => !sounds.includes(each));
  if (sounds.length === 0) edits.remove(message, 'audio');
  else if (sounds.length > 1 || !isSameToTheDigit(sounds[0], part)) {
    throw unwritable('what an audio says cannot be changed; a replaced message may leave the audio out');
  }
  const { parts: _, ...others } = changed;
  return hasParts || rest.length > 0 ? { ...others, parts: rest } : others;
}
