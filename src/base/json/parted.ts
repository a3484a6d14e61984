import { Json, keepExactForm, parseLossless } from './json.ts';
import { parseJson } from './parse-json.ts';
import { elementsOf, exactMembers } from './scan.ts';

/** A long JSON text that is stored separately from the value that contains it. */
export interface LongText {
  read(): string;
  isDeeperThan(levels: number): boolean;
}

/** A value that is one long text. Reads the text on each access and does not retain it. */
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
    return parseJson(this.text);
  }
}

/** A value with separate long parts. Assembles its text on each access and does not retain it. */
export class PartedJson extends Json {
  readonly #skeleton: string;
  readonly #parts: readonly LongText[];

  /** `skeleton`: JSON in which `markOf(n)` stands for part `n`. */
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
    return parseJson(this.text);
  }

  override slice(start: number, end: number): Json {
    return fromSkeleton(this.#skeleton.slice(start, end), this.#parts);
  }
}

export function fromSkeleton(skeleton: string, parts: readonly LongText[]): Json {
  if (!skeleton.includes(OPEN)) return new Json(skeleton);
  const isOne = skeleton.startsWith(OPEN) && skeleton.indexOf(CLOSE) === skeleton.length - 1;
  const only = isOne ? parts[splitSkeleton(skeleton)[0]?.part ?? -1] : undefined;
  return only === undefined ? new PartedJson(skeleton, parts) : new LongJson(only);
}

/** The mark of a part. Code that finds the ends of values treats it as a list. */
export function markOf(part: number): string {
  return `${OPEN}${part}${CLOSE}`;
}

// This character cannot occur in JSON text: strings escape it, and it is invalid elsewhere.
const OPEN = '[\u0001';
const CLOSE = ']';

interface Piece {
  readonly text: string;
  readonly part: number | undefined;
}

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

export function fillIn(skeleton: string, textOf: (part: number) => string): string {
  return splitSkeleton(skeleton)
    .map(({ text, part }) => (part === undefined ? text : text + textOf(part)))
    .join('');
}

export function isDeeperThan(json: Json, levels: number, isTextDeeper: (text: string) => boolean): boolean {
  if (json instanceof LongJson) return json.long.isDeeperThan(levels);
  if (!(json instanceof PartedJson)) return isTextDeeper(json.text);
  const { parts } = json;
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

/** A frozen plain value that keeps its digits. Long parts are parsed on access and not retained. */
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
  keepExactForm(value, json);
  Object.freeze(value);
  parsed.set(json, new WeakRef(value));
  return value;
}

const parsed = new WeakMap<LongJson, WeakRef<object>>();
