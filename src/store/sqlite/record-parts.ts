import { Json } from '../../base/json/json.ts';
import {
  fillIn,
  LongJson,
  type LongText,
  markOf,
  PartedJson,
  splitSkeleton,
} from '../../base/json/parted.ts';
import { KeptText, measureText, QuotedText, type TextMeasure } from '../kept-text.ts';
import { DamagedError } from './row.ts';

interface NewText {
  readonly number: number;
  readonly text: string;
}

/** The references of a record as JSON, and the texts that it is the first to have. */
export interface RecordParts {
  readonly refs: string;
  readonly texts: readonly NewText[];
}

export interface KeptRecord {
  readonly text: string;
  readonly parts: RecordParts | null;
}

interface PreparedRecord {
  readonly record: KeptRecord;
  readonly fresh: readonly KeptText[];
}

export interface RecordPlace {
  readonly runId: string;
  readonly step: string;
}

/** Splits a record; texts that the run already has become references. */
export function toKeptRecord(json: Json, { runId, step }: RecordPlace): PreparedRecord {
  if (!(json instanceof PartedJson) && !(json instanceof LongJson))
    return { record: { text: json.text, parts: null }, fresh: [] };
  const [skeleton, parts] =
    json instanceof PartedJson ? [json.skeleton, json.parts] : [markOf(0), [json.long]];
  const texts: NewText[] = [];
  const fresh: KeptText[] = [];
  const refs: Ref[] = [];
  const keep = (text: string, number = NUMBERED_HERE + texts.length) => {
    texts.push({ number, text });
    return { step, number, ...measureText(text) };
  };
  const placeOf = (part: LongText) => {
    if (!(part instanceof KeptText) || part.place.runId !== runId) return keep(part.read());
    const { place, length, hash, isLoose } = part;
    if (!isLoose) return { step: place.step, number: place.number, length, hash };
    if (place.step !== step) return keep(part.read());
    part.promise();
    fresh.push(part);
    return keep(part.read(), place.number);
  };
  let text = '';
  for (const piece of splitSkeleton(skeleton)) {
    text += piece.text;
    const part = piece.part === undefined ? undefined : parts[piece.part];
    if (part === undefined) continue;
    const isQuoted = part instanceof QuotedText;
    refs.push({ at: text.length, ...placeOf(isQuoted ? part.kept : part), isQuoted });
    text += HOLE;
  }
  return { record: { text, parts: { refs: JSON.stringify(refs.map(toList)), texts } }, fresh };
}

const HOLE = 'null';
const NUMBERED_HERE = 1_000_000;

interface Ref extends TextMeasure {
  /** The position in the record's own text. */
  readonly at: number;
  readonly step: string;
  readonly number: number;
  readonly isQuoted: boolean;
}

function toList({ at, length, hash, step, number, isQuoted }: Ref): unknown[] {
  return [at, length, hash, step, number, isQuoted ? 1 : 0];
}

/** `load` reads a text on demand. Throws Damaged. */
export function fromKeptRecord(
  text: string,
  refs: string,
  { runId, load }: { readonly runId: string; readonly load: (step: string, number: number) => string },
): Json {
  const parts: LongText[] = [];
  let skeleton = '';
  let end = 0;
  for (const { at, step, number, isQuoted, ...measure } of readRefs(refs)) {
    if (!text.startsWith(HOLE, at) || at < end) throw new DamagedError('a reference has no target');
    const kept = new KeptText({ runId, step, number }, measure, () => load(step, number));
    skeleton += text.slice(end, at) + markOf(parts.push(isQuoted ? new QuotedText(kept) : kept) - 1);
    end = at + HOLE.length;
  }
  skeleton += text.slice(end);
  requireJson(fillIn(skeleton, () => HOLE));
  const [only] = parts;
  return only !== undefined && skeleton === markOf(0) ? new LongJson(only) : new PartedJson(skeleton, parts);
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new DamagedError('a record is not JSON');
  }
}

function readRefs(refs: string): Ref[] {
  const lists: unknown = new Json(refs).value;
  if (!Array.isArray(lists)) throw new DamagedError('references are not a list');
  return lists.map((list: unknown): Ref => {
    const [at, length, hash, step, number, isQuoted] = Array.isArray(list) ? list : [];
    const numbers = [at, length, hash, number, isQuoted];
    if (typeof step !== 'string' || !numbers.every((each) => Number.isSafeInteger(each)))
      throw new DamagedError('a reference is incomplete');
    return { at, length, hash, step, number, isQuoted: isQuoted === 1 };
  });
}
