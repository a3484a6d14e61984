import { DamagedError } from '../sqlite/row.ts';
import type { KeyRecord } from './key.ts';
import type { KeyBook, KeyChanges, KeyEntry } from './key-book.ts';
import { type KeysTables, openKeysDatabase } from './keys-database.ts';

/** The keys in a file. Throws STORE_FAILED. */
export async function openLocalKeyBook(file: string): Promise<KeyBook> {
  const { location, tables, read, change, close } = await openKeysDatabase(file, { commitWaitsFor: 'disk' });
  const { keys, usage, leases } = tables;
  const entryOf = (key: KeyRecord): KeyEntry => ({ key, secrets: keys.secretsOf(key.id) });
  const find = (which: string) => {
    const key = keys.find(which) ?? keys.findByName(which);
    return key && entryOf(key);
  };
  return {
    location,
    list: () => read(() => keys.list().map(entryOf)),
    find: (which) => read(() => find(which)),
    usageOf: (id, periods) =>
      read(() => ({
        calls: leases.heldBy(id).calls,
        usage: periods.map((period) => usage.find(id, period)),
      })),
    change: (which, plan) =>
      change(() => {
        const found = find(which);
        const changes = plan(found);
        const id = changes.key?.id ?? found?.key.id ?? '';
        makeChanges(tables, id, changes);
        const changed = keys.find(id);
        if (changed === undefined) throw new DamagedError('a key that was changed is not there');
        return entryOf(changed);
      }),
    close,
  };
}

function makeChanges(
  { keys }: KeysTables,
  id: string,
  { key, revokedAt, ended = [], secret }: KeyChanges,
): void {
  if (key !== undefined) keys.insert(key);
  if (revokedAt !== undefined) keys.revoke(id, revokedAt);
  for (const { hash, at } of ended) keys.endSecret(hash, at);
  if (secret !== undefined) keys.insertSecret(secret);
}
