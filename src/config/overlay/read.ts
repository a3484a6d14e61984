import { isObject } from '../../base/json/json.ts';
import { type Path, readDocument, type YamlDocument } from '../../base/yaml/document.ts';
import { isAt } from '../../base/yaml/read.ts';

/** Merges providers by their ids. `first`: the file, if it is read already. Throws FILE_UNREADABLE. */
export function readConfigDocument(
  file: string,
  overlays: readonly string[],
  first?: YamlDocument,
): YamlDocument {
  return overlays
    .map(readDocument)
    .reduce(
      (base, overlay) =>
        mergeDocuments(base, overlay, (path) => (isAt(path, 'spec.providers') ? 'id' : undefined)),
      first ?? readDocument(file),
    );
}

/** The key that identifies the items of the list at `path`; undefined replaces the whole list. */
type IdentityOf = (path: Path) => string | undefined;

/** Merges mappings by key and lists by an identity key; all else is replaced. Null removes a key. */
function mergeDocuments(base: YamlDocument, overlay: YamlDocument, identityOf: IdentityOf): YamlDocument {
  const origins = new Map<string, Origin>();
  const isWhole = base.value !== undefined && overlay.value !== undefined;
  const merged = isWhole
    ? new Merge(origins, identityOf).values(base.value, overlay.value, { base: [], overlay: [], path: [] })
    : undefined;
  const locate = (path: Path) => originAt({ base, overlay }, origins, path);
  return {
    file: base.file,
    value: merged,
    problems: [...base.problems, ...overlay.problems],
    secondDocument: base.secondDocument,
    positionOf: (path) => locate(path).document.positionOf(locate(path).path),
    keyPositionOf: (path) => locate(path).document.keyPositionOf(locate(path).path),
    sourceOf: (path) =>
      exists(merged, path) ? locate(path).document.sourceOf(locate(path).path) : undefined,
    keysOf: (path) => keysOf(merged, path, origins, { base, overlay }),
  };
}

/** The paths of a merged value in both documents; undefined if absent or overridden. */
interface Origin {
  readonly base: Path | undefined;
  readonly overlay: Path | undefined;
}

interface Sides {
  readonly base: YamlDocument;
  readonly overlay: YamlDocument;
}

interface Place {
  readonly base: Path;
  readonly overlay: Path;
  readonly path: Path;
}

class Merge {
  readonly #origins: Map<string, Origin>;
  readonly #identityOf: IdentityOf;

  constructor(origins: Map<string, Origin>, identityOf: IdentityOf) {
    this.#origins = origins;
    this.#identityOf = identityOf;
  }

  values(base: unknown, overlay: unknown, place: Place): unknown {
    if (isObject(base) && isObject(overlay)) return this.#mappings(base, overlay, place);
    const identity = this.#identityOf(place.path);
    if (identity !== undefined && Array.isArray(base) && Array.isArray(overlay))
      return this.#lists(base, overlay, { ...place, identity });
    this.#keep(place.path, { base: undefined, overlay: place.overlay });
    return overlay;
  }

  #mappings(
    base: Readonly<Record<string, unknown>>,
    overlay: Readonly<Record<string, unknown>>,
    place: Place,
  ): Record<string, unknown> {
    this.#keep(place.path, place);
    const keys = [...Object.keys(base), ...Object.keys(overlay).filter((key) => !Object.hasOwn(base, key))];
    return Object.fromEntries(
      keys
        .filter((key) => !(Object.hasOwn(overlay, key) && overlay[key] === null))
        .map((key) => [
          key,
          this.#member(
            Object.hasOwn(base, key) ? { value: base[key] } : undefined,
            Object.hasOwn(overlay, key) ? { value: overlay[key] } : undefined,
            {
              base: [...place.base, key],
              overlay: [...place.overlay, key],
              path: [...place.path, key],
            },
          ),
        ]),
    );
  }

  #lists(
    base: readonly unknown[],
    overlay: readonly unknown[],
    { identity, ...place }: Place & { readonly identity: string },
  ): unknown[] {
    this.#keep(place.path, place);
    const idOf = (item: unknown) => (isObject(item) ? item[identity] : undefined);
    const overAt = firstPlaces(overlay.map(idOf));
    const baseAt = firstPlaces(base.map(idOf));
    const rows = base.map((item, index) => ({ item, index, over: overAt.get(idOf(item)) ?? -1 }));
    const added = overlay.flatMap((item, over) => (baseAt.has(idOf(item)) ? [] : [{ item, over }]));
    return [
      ...rows.map(({ item, index, over }) =>
        this.#member({ value: item }, over === -1 ? undefined : { value: overlay[over] }, {
          base: [...place.base, index],
          overlay: [...place.overlay, over],
          path: [...place.path, index],
        }),
      ),
      ...added.map(({ item, over }, index) =>
        this.#member(
          undefined,
          { value: item },
          {
            base: place.base,
            overlay: [...place.overlay, over],
            path: [...place.path, base.length + index],
          },
        ),
      ),
    ];
  }

  #member(
    base: { readonly value: unknown } | undefined,
    overlay: { readonly value: unknown } | undefined,
    place: Place,
  ): unknown {
    if (base !== undefined && overlay !== undefined) return this.values(base.value, overlay.value, place);
    this.#keep(place.path, {
      base: base === undefined ? undefined : place.base,
      overlay: overlay === undefined ? undefined : place.overlay,
    });
    return base === undefined ? overlay?.value : base.value;
  }

  #keep(path: Path, { base, overlay }: Origin): void {
    this.#origins.set(keyOf(path), { base, overlay });
  }
}

function firstPlaces(ids: readonly unknown[]): ReadonlyMap<unknown, number> {
  const places = ids.map((id, index) => [id, index] as const);
  return new Map(places.filter(([id]) => id !== undefined).toReversed());
}

/** A value that is merged from both documents has its position in the overlay. */
function originAt(
  { base, overlay }: Sides,
  origins: ReadonlyMap<string, Origin>,
  path: Path,
): { readonly document: YamlDocument; readonly path: Path } {
  for (let length = path.length; length >= 0; length -= 1) {
    const origin = origins.get(keyOf(path.slice(0, length)));
    if (origin === undefined) continue;
    const rest = path.slice(length);
    if (origin.overlay !== undefined) return { document: overlay, path: [...origin.overlay, ...rest] };
    if (origin.base !== undefined) return { document: base, path: [...origin.base, ...rest] };
  }
  return { document: base.value === undefined ? base : overlay, path };
}

function keysOf(
  merged: unknown,
  path: Path,
  origins: ReadonlyMap<string, Origin>,
  sides: Sides,
): readonly string[] {
  const origin = origins.get(keyOf(path));
  if (origin?.base === undefined || origin.overlay === undefined) {
    const { document, path: there } = originAt(sides, origins, path);
    return document.keysOf(there);
  }
  const keys = [...sides.base.keysOf(origin.base), ...sides.overlay.keysOf(origin.overlay)];
  return [...new Set(keys)].filter((key) => exists(merged, [...path, key]));
}

function exists(value: unknown, path: Path): boolean {
  let current = value;
  for (const segment of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return false;
    current = Reflect.get(current, segment);
  }
  return true;
}

function keyOf(path: Path): string {
  return JSON.stringify(path.map(String));
}
