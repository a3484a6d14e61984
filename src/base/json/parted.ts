import { Json, keepExactForm, parseLossless } from './json.ts';
import { elementsOf, exactMembers } from './scan.ts';

/** A long JSON text that stands apart from the values that it is a part of. */
export interface LongText {
  /** Throws what reading it throws. */
  read(): string;
  /** Whether it is nested in more than `levels` levels. */
  isDeeperThan(levels: number): boolean;
}

/** A value that is one long text, which is read when it is asked for, and not held. */
export class LongJson extends Json {
  readonly #long: LongText;

  constructor(long: LongText) {
    super('');
    this.#long = long;
    Object.defineProperty(this, 'text', { get: () => long.read(), enumerable: true });
  }

  get long(): LongText {
    return this.#long;
  }

  override get value(): unknown {
    return JSON.parse(this.text);
  }
}

/** A value whose long parts stand apart; its text is put together when it is asked for, and not held. */
export class PartedJson extends Json {
  readonly #skeleton: string;
  readonly #parts: readonly LongText[];

  /** `skeleton`: JSON in which `markOf(n)` stands for the part `n`. */
  constructor(skeleton: string, parts: readonly LongText[]) {
    super('');
    this.#skeleton = skeleton;
    this.#parts = parts;
    const join = () => fillIn(skeleton, (n) => parts[n]?.read() ?? 'null');
    Object.defineProperty(this, 'text', { get: join, enumerable: true });
  }

  override get skeleton(): string {
    return this.#skeleton;
  }

  get parts(): readonly LongText[] {
    return this.#parts;
  }

  override get value(): unknown {
    return JSON.parse(this.text);
  }

  override slice(start: number, end: number): Json {
    return fromSkeleton(this.#skeleton.slice(start, end), this.#parts);
  }
}

/** The value of a skeleton, of the kind that it needs to be. */
export function fromSkeleton(skeleton: string, parts: readonly LongText[]): Json {
  if (!skeleton.includes(OPEN)) return new Json(skeleton);
  const isOne = skeleton.startsWith(OPEN) && skeleton.indexOf(CLOSE) === skeleton.length - 1;
  const only = isOne ? parts[splitSkeleton(skeleton)[0]?.part ?? -1] : undefined;
  return only === undefined ? new PartedJson(skeleton, parts) : new LongJson(only);
}

/** What stands for a part: what looks for the ends of values takes it for a list. */
export function markOf(part: number): string {
  return `${OPEN}${part}${CLOSE}`;
}

// No JSON text has this character: within strings it is escaped, and elsewhere it means nothing.
const OPEN = '[\u0001';
const CLOSE = ']';

/** A piece of a skeleton, and the part that follows it; the last one has none. */
interface Piece {
  readonly text: string;
  readonly part: number | undefined;
}

/** The pieces between the marks of a skeleton. */
export function splitSkeleton(skeleton: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (;;) {
    const open = skeleton.indexOf(OPEN, from);
    if (open === -1) return [...pieces, { text: skeleton.slice(from), part: undefined }];
    const close = skeleton.indexOf(CLOSE, open);
    const part = Number(skeleton.slice(open + OPEN.length, close));
    pieces.push({ text: skeleton.slice(from, open), part });
    from = close + CLOSE.length;
  }
}

/** The skeleton with something in place of each mark. */
export function fillIn(skeleton: string, textOf: (part: number) => string): string {
  return splitSkeleton(skeleton)
    .map(({ text, part }) => (part === undefined ? text : text + textOf(part)))
    .join('');
}

/** Whether the value is nested in more than `levels` levels. */
export function isDeeperThan(json: Json, levels: number, isTextDeeper: (text: string) => boolean): boolean {
  if (json instanceof LongJson) return json.long.isDeeperThan(levels);
  if (!(json instanceof PartedJson)) return isTextDeeper(json.text);
  const { parts } = json;
  // A part may stand at any level of the few that a skeleton has.
  const own = depthOf(fillIn(json.skeleton, () => 'null'));
  return own > levels || parts.some((part) => part.isDeeperThan(levels - own));
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '')) {
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/**
 * The value as a plain one that keeps its digits, frozen. What is long is parsed when it is looked at, and again
 * whenever it is, so that nobody holds it but who looks.
 */
export function parseParted(json: Json): unknown {
  if (json instanceof LongJson) return parseLong(json);
  if (!(json instanceof PartedJson)) return Object.freeze(parseLossless(json.text));
  const view: object = json.skeleton.startsWith('[') ? [] : {};
  const members = Array.isArray(view) ? elementsOf(json).entries() : exactMembers(json);
  for (const [key, member] of members) Object.defineProperty(view, key, memberOf(member));
  keepExactForm(view, json);
  return Object.freeze(view);
}

function memberOf(json: Json): PropertyDescriptor {
  if (json instanceof LongJson) return { get: () => parseLong(json), enumerable: true };
  return { value: parseParted(json), enumerable: true };
}

function parseLong(json: LongJson): unknown {
  const known = parsed.get(json)?.deref();
  if (known !== undefined) return known;
  const value = parseLossless(json.text);
  if (typeof value !== 'object' || value === null) return value;
  // Written again as the part that it is.
  keepExactForm(value, json);
  Object.freeze(value);
  parsed.set(json, new WeakRef(value));
  return value;
}

/** Parsed values that somebody still holds. */
const parsed = new WeakMap<LongJson, WeakRef<object>>();
