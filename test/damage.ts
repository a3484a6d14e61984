/** What a member may become by damage; undefined: it is gone. */
const wrongValues: readonly unknown[] = [undefined, null, 0, 'x', [], {}];

/** A JSON value with one part of it damaged. */
export interface Damage {
  /** Such as `outcome.result.content[0] = null`. */
  readonly title: string;
  readonly text: string;
}

/** The JSON text with each of its members and elements damaged in turn, in every way. */
export function* damagesOf(text: string): Generator<Damage> {
  for (const path of pathsOf(JSON.parse(text), [])) {
    for (const wrong of wrongValues) {
      const root: unknown = JSON.parse(text);
      change(root, path, wrong);
      yield { title: `${path.join('.')} = ${JSON.stringify(wrong)}`, text: JSON.stringify(root) };
    }
  }
}

type Path = readonly (string | number)[];

function* pathsOf(value: unknown, path: Path): Generator<Path> {
  if (typeof value !== 'object' || value === null) return;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  for (const key of keys) {
    yield [...path, key];
    yield* pathsOf(Reflect.get(value, key), [...path, key]);
  }
}

function change(root: unknown, path: Path, wrong: unknown): void {
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => Reflect.get(Object(value), key), root);
  const last = path.at(-1) ?? '';
  if (wrong === undefined) Reflect.deleteProperty(Object(parent), last);
  else Reflect.set(Object(parent), last, wrong);
}

/** What came of reading something: `read`, the code of a coded error, or what crashed. */
export async function outcomeOf(read: () => unknown): Promise<string> {
  try {
    await read();
    return 'read';
  } catch (error) {
    const hasCode = error instanceof Error && error.name === 'RuntimeError' && 'code' in error;
    return hasCode ? String(error.code) : `crashed: ${error instanceof Error ? error.stack : error}`;
  }
}
