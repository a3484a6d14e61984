/** Numbers that a case is made of: the same ones give the same case. */
export type Dice = (sides: number) => number;

export interface Making {
  readonly slot: (channel: string) => string;
  /** Whether a channel that may be left out is there. */
  readonly has: (channel: string) => boolean;
  readonly dice: Dice;
  /** JSON that stands in a string, such as arguments. */
  readonly json: (value: unknown) => string;
}

export interface Scene {
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** Unstreamed. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Streamed: names and data of events. */
  readonly events: readonly Frame[];
}

export interface Frame {
  readonly event?: string;
  readonly data: unknown;
  /** Lines before it. */
  readonly lines?: string;
  /** Its data is no JSON. */
  readonly isRaw?: boolean;
}

export interface Endpoint {
  readonly name: string;
  readonly hasStreams: boolean;
  /** Where text may stand in a request, and in an answer. */
  readonly asked: readonly string[];
  readonly answered: readonly string[];
  scene(making: Making): Scene;
  /** What an answer tells, by channel. */
  view(answer: unknown): Readonly<Record<string, string>>;
  /** The answer that a client puts together from a stream; throws Error where its parser would. */
  assemble(frames: readonly Frame[]): unknown;
}

/** Cuts a text into pieces, of which some may be empty. */
export function cut(text: string, dice: Dice): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest !== '') {
    const length = dice(3) === 0 ? 1 : 1 + dice(12);
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return pieces.length === 0 ? [''] : pieces;
}

export const nameOf = (text: string) => `send_${text.replaceAll(/[^\w-]/g, '')}`;

/** Members that are there only in some cases. */
export const only = (isThere: boolean, members: object) => (isThere ? members : {});

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of a value, however deep; undefined where there is none. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

export function textAt(value: unknown, ...path: (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function require(condition: boolean, what: string): void {
  if (!condition) throw new Error(`a client cannot read this: ${what}`);
}
