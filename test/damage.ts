/** Damaged values of a member; undefined: removed. */
const wrongValues: readonly unknown[] = [undefined, null, 0, 'x', [], {}];

export interface Damage {
  readonly title: string;
  readonly text: string;
}

/** The JSON text with each member and element damaged in every way. */
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

/** The result of reading: `read`, an error code, or the crash. */
export async function outcomeOf(read: () => unknown): Promise<string> {
  try {
    await read();
    return 'read';
  } catch (error) {
    const hasCode = error instanceof Error && error.name === 'RuntimeError' && 'code' in error;
    return hasCode ? String(error.code) : `crashed: ${error instanceof Error ? error.stack : error}`;
  }
}
