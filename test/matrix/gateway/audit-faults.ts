import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import type { Serving } from '../../gateway/hostile/serving.ts';
import { mayMount, withDisk } from '../../store/processes.ts';

export interface AuditFault {
  readonly title: string;
  /** Damages the audit; returns a repair if there is one. */
  spoil(served: Serving): (() => void) | undefined;
  /** Some rows may still be stored, so their calls may be answered. */
  readonly isPartial?: true;
  /** Also damages the gateway's keys. */
  readonly takesKeys?: true;
  /** Requires a state folder on a small disk. */
  readonly isSmallDisk?: true;
}

/** The state folder as the server sees it, possibly on a disk of its own. */
export function stateOf({ folder, pid }: Serving): string {
  return join(`/proc/${pid}/root`, folder, '.signalbox');
}

/** A command prefix that puts the server's state folder on a small disk. */
export function smallDisk(folder: string): readonly string[] {
  const state = join(folder, '.signalbox');
  mkdirSync(state);
  return withDisk(state, 'size=2m');
}

const file = (served: Serving) => join(stateOf(served), 'audit.db');

const once = (title: string, spoil: (served: Serving) => void, isPartial?: true): AuditFault => ({
  title,
  spoil: (served) => void spoil(served),
  ...(isPartial && { isPartial }),
});

const all: readonly AuditFault[] = [
  once('is removed', (served) => rmSync(file(served))),
  {
    ...once('is removed with its folder', (served) => rmSync(stateOf(served), { recursive: true })),
    takesKeys: true,
  },
  once('is replaced by an empty file', (served) => {
    rmSync(file(served));
    writeFileSync(file(served), '');
  }),
  once('is cut to nothing', (served) => writeFileSync(file(served), '')),
  once('is overwritten', (served) => overwrite(file(served)), true),
  once('is overwritten, and so is its journal', overwriteAll, true),
  {
    title: 'is locked',
    spoil: (served) => {
      const { DatabaseSync } = loadSqlite();
      const database = new DatabaseSync(file(served));
      database.exec('BEGIN IMMEDIATE');
      return () => database.close();
    },
  },
  {
    title: 'is on a full disk',
    isSmallDisk: true,
    spoil: (served) => {
      const filler = join(stateOf(served), 'filler');
      fill(filler);
      return () => rmSync(filler);
    },
  },
];

/** The faults that this machine supports. */
export const auditFaults = all.filter(({ isSmallDisk }) => mayMount || !isSmallDisk);

function overwriteAll(served: Serving): void {
  for (const name of readdirSync(stateOf(served)))
    if (/^audit\.db(-wal)?$/.test(name)) overwrite(join(stateOf(served), name));
}

function overwrite(path: string): void {
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, Buffer.alloc(statSync(path).size, 'junk'), 0);
  closeSync(descriptor);
}

function fill(path: string): void {
  const descriptor = openSync(path, 'w');
  try {
    for (let size = 65_536; size >= 1; ) {
      try {
        if (writeSync(descriptor, Buffer.alloc(size)) < size) size = Math.floor(size / 2);
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
