/** Seeded random numbers, so that a case can be repeated. */
export type Dice = (sides: number) => number;

export interface Making {
  readonly slot: (channel: string) => string;
  /** Whether the case has an optional channel. */
  readonly has: (channel: string) => boolean;
  readonly dice: Dice;
  /** JSON inside a string, such as arguments. */
  readonly json: (value: unknown) => string;
}

export interface Scene {
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly events: readonly Frame[];
}

export interface Frame {
  readonly event?: string;
  readonly data: unknown;
  readonly lines?: string;
  /** The data is not JSON. */
  readonly isRaw?: boolean;
}

export interface Endpoint {
  readonly name: string;
  readonly hasStreams: boolean;
  readonly asked: readonly string[];
  readonly answered: readonly string[];
  scene(making: Making): Scene;
  /** The texts of an answer, by channel. */
  view(answer: unknown): Readonly<Record<string, string>>;
  /** The answer that a client assembles from a stream. Throws Error where the client's parser would. */
  assemble(frames: readonly Frame[]): unknown;
}

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

export const only = (isThere: boolean, members: object) => (isThere ? members : {});

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
