import { RuntimeError } from '../base/errors.ts';
import { untilAborted, whenAborted } from '../base/time/async.ts';
import { openChangeWaiter } from '../pipelines/state/change-waiter.ts';
import { type ChangeSource, type StoreWatch, type WatchKind, watchKinds } from '../store/changes.ts';
import type { Change } from './api-options.ts';

/** Throws USAGE. */
export function requireKinds(kinds: readonly WatchKind[]): void {
  if (Array.isArray(kinds) && kinds.length > 0 && kinds.every((kind) => watchKinds.includes(kind))) return;
  throw new RuntimeError('USAGE', `the kinds to watch are not a list of ${watchKinds.join(', ')}`);
}

/** Yields all kinds, then those that may have changed. Ends when `signal` aborts. Throws STORE_FAILED. */
export async function* watchChanges(
  sources: readonly ChangeSource[],
  kinds: readonly WatchKind[],
  signal: AbortSignal,
): AsyncGenerator<Change, void> {
  const changed = new Set<WatchKind>();
  const watched: { readonly source: ChangeSource; readonly watch: StoreWatch }[] = [];
  const watch = (tell: () => void): StoreWatch => {
    for (const source of sources) {
      const note = (kind?: WatchKind) => {
        // A store that counts changes reports writes of any kind.
        if (source.count === undefined) for (const each of kind ? [kind] : source.kinds) changed.add(each);
        tell();
      };
      watched.push({ source, watch: source.watch(note) });
    }
    return {
      isLive: () => watched.every(({ watch: { isLive } }) => isLive()),
      close: () => {
        for (const { watch: each } of watched) each.close();
      },
    };
  };
  const counts = new Map<string, number>();
  const look = async () => {
    for (const {
      source,
      watch: { isLive },
    } of watched) {
      const counted = await source.count?.();
      for (const kind of source.kinds) {
        const count = counted?.get(kind);
        if (counted ? count !== counts.get(kind) : !isLive()) changed.add(kind);
        if (count !== undefined) counts.set(kind, count);
      }
    }
  };
  const canCount = sources.every(({ count }) => count !== undefined);
  const waiter = openChangeWaiter({ watch }, signal, canCount ? {} : { pollMs: BLIND_MS });
  const stopClosing = whenAborted(signal, waiter.close);
  try {
    await Promise.race([Promise.all(watched.map(({ watch: { ready } }) => ready)), untilAborted(signal)]);
    await look();
    if (signal.aborted) return;
    changed.clear();
    yield { kinds: [...new Set(kinds)] };
    for (;;) {
      await waiter.next(undefined);
      await look();
      const found = kinds.filter((kind) => changed.has(kind));
      changed.clear();
      if (found.length > 0) yield { kinds: [...new Set(found)] };
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    stopClosing();
    waiter.close();
  }
}

/** How often everything may have changed while a database reports nothing. */
const BLIND_MS = 5_000;
