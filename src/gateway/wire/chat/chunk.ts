import { isObject, parseLossless } from '../../../json/json.ts';
import type { Channel } from '../codec.ts';
import { invalidAnswer } from '../faults.ts';
import { bodySpot, openPlace, type Place } from '../place.ts';
import { Seen } from '../seen.ts';
import type { SseEvent } from '../sse.ts';
import { openStrictly } from '../strict-json.ts';
import { walk } from '../walk.ts';
import type { Members } from './merge.ts';
import { chunkShape } from './shapes.ts';

/** A chunk of a chat stream. */
export interface Chunk {
  /** All members but `choices`. */
  readonly members: Members;
  readonly choices: readonly ChunkChoice[];
  /** The members that have a value which hooks are to see. */
  readonly judged: readonly string[];
  /** Whether it waits for the whole answer: it has more than texts, and members that tell nothing. */
  readonly isHeld: boolean;
}

export interface ChunkChoice {
  readonly index: number;
  readonly delta: Members;
  readonly finishReason: string | undefined;
  /** Members beside these. */
  readonly members: Members;
  /** New texts, which may go out behind a window, with the member of the delta that has each. */
  readonly texts: readonly {
    readonly member: Channel['member'];
    readonly key: string;
    readonly text: string;
  }[];
}

/** The most choices of an answer, as the SDK of OpenAI has it. */
const MAX_CHOICES = 128;

/** The chunk of an event with data; a chunk that was read once is kept as long as its event. Throws RefusedCall (502). */
export function readChunk(event: SseEvent): Chunk {
  const known = chunks.get(event);
  if (known !== undefined) return known;
  const chunk = toChunk(
    openStrictly(event.data, (problem) => invalidAnswer(`a frame of its stream ${problem}`)),
  );
  chunks.set(event, chunk);
  return chunk;
}

const chunks = new WeakMap<SseEvent, Chunk>();

/** A chunk of our own. */
export function parseChunk(json: string): Chunk {
  return toChunk(openPlace(json));
}

const anything = { opaque: new Set<string>(), references: new Set<string>(), redactsEmbeddings: false };

function toChunk(place: Place): Chunk {
  const value = parseLossless(place.source);
  if (!isObject(value)) throw invalidAnswer('a frame of its stream is no object');
  const members: Members = new Map(Object.entries(value));
  const choices = members.get('choices') ?? [];
  members.delete('choices');
  if (!Array.isArray(choices)) throw invalidAnswer('the choices of a frame are no list');
  const seen = new Seen(place);
  walk(bodySpot(place), chunkShape, { rules: anything, isAnswer: true, at: '' }, seen);
  // What was read is not kept, as a held answer has many chunks.
  return {
    members,
    choices: choices.map((choice, at) => toChoice(choice, seen.messages[at] ?? seen)),
    judged: [...seen.other.paths].map((path) => path.replace(/[.['].*$/s, '')),
    isHeld: !seen.other.isEmpty || !seen.messages.every(isOfTexts),
  };
}

function toChoice(choice: unknown, seen: Seen): ChunkChoice {
  if (!isObject(choice)) throw invalidAnswer('a choice of a frame is no object');
  const members: Members = new Map(Object.entries(choice));
  const index = members.get('index');
  const delta = members.get('delta') ?? {};
  const finish = members.get('finish_reason') ?? undefined;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= MAX_CHOICES)
    throw invalidAnswer('a choice of a frame has no index');
  if (!isObject(delta)) throw invalidAnswer('a delta of a frame is no object');
  if (finish !== undefined && typeof finish !== 'string')
    throw invalidAnswer('a finish_reason of a frame is no text');
  for (const key of ['index', 'delta', 'finish_reason']) members.delete(key);
  return {
    index,
    delta: new Map(Object.entries(delta)),
    finishReason: finish === '' ? undefined : finish,
    members,
    texts: textsOf(seen),
  };
}

function textsOf({ body, refusals, reasoning }: Seen): ChunkChoice['texts'] {
  const found = [
    ['content', body[0]],
    ['refusal', refusals[0]],
    ['reasoning', reasoning[0]],
  ] as const;
  return found.flatMap(([member, facet]) => {
    const text = facet?.kind === 'text' ? facet.place.text : undefined;
    return facet === undefined || text === undefined || text === ''
      ? []
      : [{ member, key: String(facet.entry), text }];
  });
}

function isOfTexts({ other, finish }: Seen): boolean {
  return other.isEmpty && (finish === undefined || finish.place.text === '');
}
