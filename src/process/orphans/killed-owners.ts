import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isGone, type Owner, ownerToText } from '../../base/files/owner.ts';
import { ownerOfTable, tableFolders } from '../launch/system/group-table.ts';
import { readRows } from '../launch/watcher.ts';

/** A Signalbox, or a thread of one, that was ended while calls were under way, and what its tables say of them. */
export interface KilledOwner {
  readonly owner: Owner;
  /** Its tables, by path. */
  readonly files: string[];
  /** The process groups that ran. */
  readonly groups: Set<number>;
  /** What stdout is for processes that were just starting, as /proc shows it. */
  readonly stdouts: Set<string>;
}

/** Reads the tables of this user whose owner is gone, by `ownerToText`. Reads no other process. Never rejects. */
export async function findKilledOwners(): Promise<ReadonlyMap<string, KilledOwner>> {
  const killed = new Map<string, KilledOwner>();
  for (const folder of tableFolders()) {
    for (const name of await readdir(folder).catch(() => [])) {
      const owner = ownerOfTable(name);
      if (owner !== undefined && (await isGone(owner))) await addTable(killed, owner, join(folder, name));
    }
  }
  return killed;
}

async function addTable(killed: Map<string, KilledOwner>, owner: Owner, file: string): Promise<void> {
  const text = await readOwnFile(file);
  if (text === undefined) return;
  const key = ownerToText(owner);
  const found = killed.get(key) ?? { owner, files: [], groups: new Set(), stdouts: new Set() };
  killed.set(key, found);
  found.files.push(file);
  const { groups, stdouts } = readRows(text);
  for (const group of groups) found.groups.add(group);
  for (const stdout of stdouts) found.stdouts.add(stdout);
}

/** Folders for all users may hold what another one made, or a link. */
async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    return stat.isFile() && stat.uid === process.getuid?.() ? await file.readFile('utf8') : undefined;
  } catch {
    return undefined;
  }
}
