import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { ownerToText } from '../../base/files/owner.ts';
import { type ProcessStat, readProcess } from '../../base/files/process-stat.ts';
import { type OwnerMark, readOwnerMark } from '../launch/system/owner-mark.ts';
import { stdoutMark } from '../launch/watcher.ts';
import { findKilledOwners, type KilledOwner } from './killed-owners.ts';

/** A process that a killed Signalbox has left, whatever session it went into. */
export interface Orphan {
  readonly pid: number;
  /** In clock ticks since the start of the system; with `pid` it names one process for good. */
  readonly startedAt: number;
  /** Its words, joined by spaces; empty where it has none. */
  readonly command: string;
  /** Who started it, or what it descends from. */
  readonly owner: string;
}

/**
 * What killed Signalboxes have left running: of an entry with `leftovers: kill` everything, of one with `keep` what belongs to
 * the calls that were under way. Reads /proc only where a Signalbox was killed in the middle of calls. Never rejects.
 */
export async function listOrphans(): Promise<Orphan[]> {
  return await findOrphans(await findKilledOwners());
}

/** The orphans of these owners, without this process. */
export async function findOrphans(killed: ReadonlyMap<string, KilledOwner>): Promise<Orphan[]> {
  const hadWork = [...killed.values()].some(({ groups, stdouts }) => groups.size + stdouts.size > 0);
  if (!hadWork) return [];
  const marked: MarkedProcess[] = [];
  for (const entry of await readdir('/proc').catch(() => [])) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const found = await readMarked(pid, killed);
    if (found !== undefined) marked.push(found);
  }
  const left = new Set<MarkedProcess>();
  for (const found of marked) if (await isOfCutCall(found)) left.add(found);
  addDescendants(left, marked);
  return await Promise.all([...left].map(toOrphan));
}

interface MarkedProcess {
  readonly pid: number;
  readonly stat: ProcessStat;
  readonly mark: OwnerMark;
  readonly killed: KilledOwner;
}

/** Undefined for a process of another user or a living owner, one that has no mark, and one that has just ended. */
async function readMarked(
  pid: number,
  killed: ReadonlyMap<string, KilledOwner>,
): Promise<MarkedProcess | undefined> {
  try {
    const mark = readOwnerMark(await readFile(`/proc/${pid}/environ`));
    if (mark === undefined) return undefined;
    const owner = killed.get(ownerToText(mark.owner));
    if (owner === undefined || owner.groups.size + owner.stdouts.size === 0) return undefined;
    // One that runs with the rights of another user belongs to that one.
    if ((await stat(`/proc/${pid}`)).uid !== process.getuid?.()) return undefined;
    const read = readProcess(pid);
    return read === undefined || read.isOver ? undefined : { pid, stat: read, mark, killed: owner };
  } catch {
    return undefined;
  }
}

/** Whether it belongs to a call that was cut off, rather than to one that was over and let it live. */
async function isOfCutCall({ pid, stat: { group }, mark, killed }: MarkedProcess): Promise<boolean> {
  if (mark.leftovers === 'kill' || killed.groups.has(group)) return true;
  return killed.stdouts.size > 0 && killed.stdouts.has(stdoutMark(await stdoutOf(pid)));
}

/** Adds what such a process has started, in whatever session. */
function addDescendants(left: Set<MarkedProcess>, marked: readonly MarkedProcess[]): void {
  for (let size = -1; size !== left.size; ) {
    size = left.size;
    const parents = new Set([...left].map(({ pid }) => pid));
    for (const found of marked) if (parents.has(found.stat.parent)) left.add(found);
  }
}

async function stdoutOf(pid: number): Promise<string> {
  return await readlink(`/proc/${pid}/fd/1`).catch(() => '');
}

async function toOrphan({ pid, stat: { startedAt }, killed }: MarkedProcess): Promise<Orphan> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return { pid, startedAt, command: words.replaceAll('\0', ' ').trim(), owner: ownerToText(killed.owner) };
}
