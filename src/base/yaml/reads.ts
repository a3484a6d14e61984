import type { Path, YamlDocument } from './document.ts';

/** Tracks which members of a document are read, since an import loses the others. */
export interface Reads {
  /** The same document; reading a member of its value marks it. */
  readonly document: YamlDocument;
  /** The unread members below a path, outermost first, without null values. */
  unread(below: Path): readonly Path[];
}

export function trackReads(document: YamlDocument): Reads {
  const read = new Map<object, Set<string>>();
  const known = new WeakMap<object, object>();
  const track = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const old = known.get(value);
    if (old !== undefined) return old;
    const tracked = new Proxy(value, {
      get(target, key, receiver) {
        const member: unknown = Reflect.get(target, key, receiver);
        if (typeof key !== 'string' || !Object.hasOwn(target, key)) return member;
        read.set(target, (read.get(target) ?? new Set()).add(key));
        return track(member);
      },
    });
    known.set(value, tracked);
    plain.set(tracked, value);
    return tracked;
  };
  const unreadIn = (value: unknown, path: Path): readonly Path[] => {
    if (typeof value !== 'object' || value === null) return [];
    const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
      ? [...value.entries()]
      : Object.entries(value);
    return entries.flatMap(([key, member]) => {
      if (member === null || member === undefined) return [];
      const isRead = read.get(value)?.has(String(key)) === true;
      return isRead ? unreadIn(member, [...path, key]) : [[...path, key]];
    });
  };
  const at = (path: Path): unknown =>
    path.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      document.value,
    );
  return {
    document: { ...document, value: track(document.value) },
    unread: (below) => unreadIn(at(below), below),
  };
}

const plain = new WeakMap<object, object>();

/** The untracked value, for code such as a schema check that looks at everything but uses nothing. */
export function unwatched(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (plain.get(value) ?? value) : value;
}
