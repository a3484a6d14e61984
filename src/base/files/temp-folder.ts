import { mkdtempSync, rmSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isGone, type Owner, ownerFromText, ownerPattern, ownerToText, thisOwner } from './owner.ts';

/**
 * Creates a temporary folder that only this user can read and whose name identifies its owner. It is removed at exit or
 * by `removeTempFolder`; `sweepTempFolders` removes folders of killed processes. `purpose` is a lower-case word. Throws
 * the system error.
 */
export function makeTempFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `signalbox-${purpose}-${ownerToText(thisOwner())}-`));
  if (createdFolders.size === 0) process.once('exit', removeAll);
  createdFolders.add(folder);
  return folder;
}

/** Removes a folder that `makeTempFolder` created. Throws the system error. */
export function removeTempFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  createdFolders.delete(folder);
  if (createdFolders.size === 0) process.off('exit', removeAll);
}

/**
 * Removes this user's temporary folders whose owner has certainly ended. Folders of another machine, container or boot
 * stay. Never rejects.
 */
export function sweepTempFolders(): Promise<void> {
  sweeping ??= sweep().finally(() => {
    sweeping = undefined;
  });
  return sweeping;
}

const createdFolders = new Set<string>();
let sweeping: Promise<void> | undefined;

function removeAll(): void {
  for (const folder of createdFolders) rmSync(folder, { recursive: true, force: true });
}

async function sweep(): Promise<void> {
  const root = tmpdir();
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner === undefined || !(await isGone(owner))) continue;
    const folder = join(root, name);
    const stat = await lstat(folder).catch(() => undefined);
    if (stat?.isDirectory() && stat.uid === process.getuid?.()) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }
}

const ownedName = new RegExp(String.raw`^signalbox-[a-z]+-(${ownerPattern})-\w+$`);

function ownerOf(name: string): Owner | undefined {
  const [, owner] = ownedName.exec(name) ?? [];
  return owner === undefined ? undefined : ownerFromText(owner);
}
