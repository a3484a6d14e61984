import { constants } from 'node:fs';
import { open, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { isGone, type Owner, ownerToText } from '../../base/files/owner.ts';
import { type ProcessStat, readProcess } from '../../base/files/process-stat.ts';
import {
  type OwnerMark,
  ownerOfTable,
  readOwnerMark,
  readRows,
  removeTable,
  signalProcess,
  stdoutMark,
  tableFolders,
} from '../launch/process-groups.ts';

/** SIGTERM, grace, SIGKILL. Does not keep Node alive; the next start continues. Never rejects. */
export function sweepOrphans(times: SweepTimes = usual): Promise<void> {
  sweeping ??= sweep(times)
    .catch(() => {})
    .finally(() => {
      sweeping = undefined;
    });
  return sweeping;
}

interface SweepTimes {
  /** The first wait: a watcher that is still alive ends most orphans itself. */
  readonly watcherMs: number;
  readonly graceMs: number;
}

/** A Signalbox among the orphans needs its own grace of two seconds to end its children. */
const usual: SweepTimes = { watcherMs: 2_000, graceMs: 5_000 };

let sweeping: Promise<void> | undefined;

async function sweep({ watcherMs, graceMs }: SweepTimes): Promise<void> {
  if ((await findKilledOwners()).size === 0) return;
  await pause(watcherMs);
  const killed = await findKilledOwners();
  const asked = await findOrphans(killed);
  for (const orphan of asked) signal(orphan, 'SIGTERM');
  for (let waited = 0; waited < graceMs && asked.some(isThere); waited += POLL_MS) await pause(POLL_MS);
  // A process that received SIGTERM must end even if its call can no longer be identified.
  let left = [...asked.filter(isThere), ...(await findOrphans(killed))];
  for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round++) {
    for (const orphan of left) signal(orphan, 'SIGKILL');
    await pause(POLL_MS);
    left = await findOrphans(killed);
  }
  const unfinished = new Set(left.map(({ owner }) => owner));
  for (const [owner, { files }] of killed) {
    if (!unfinished.has(owner)) for (const file of files) removeTable(file);
  }
}

const POLL_MS = 100;
const MAX_ROUNDS = 10;

async function pause(ms: number): Promise<void> {
  await setTimeoutPromise(ms, undefined, { ref: false });
}

/** Signals only while the pid still belongs to the same process. */
function signal(orphan: Orphan, name: NodeJS.Signals): void {
  if (isThere(orphan)) signalProcess(orphan.pid, name);
}

function isThere({ pid, startedAt }: Orphan): boolean {
  const stat = readProcess(pid);
  return stat?.startedAt === startedAt && !stat.isOver;
}

interface Orphan {
  readonly pid: number;
  /** In clock ticks since boot. Together with `pid` it identifies a process. */
  readonly startedAt: number;
  readonly command: string;
  readonly owner: string;
}

/** With `leftovers: keep`, only processes of interrupted calls are orphans. Never rejects. */
export async function listOrphans(): Promise<Orphan[]> {
  return await findOrphans(await findKilledOwners());
}

async function findOrphans(killed: ReadonlyMap<string, KilledOwner>): Promise<Orphan[]> {
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

async function readMarked(
  pid: number,
  killed: ReadonlyMap<string, KilledOwner>,
): Promise<MarkedProcess | undefined> {
  try {
    const mark = readOwnerMark(await readFile(`/proc/${pid}/environ`));
    if (mark === undefined) return undefined;
    const owner = killed.get(ownerToText(mark.owner));
    if (owner === undefined || owner.groups.size + owner.stdouts.size === 0) return undefined;
    // A process of another user is not ours to end.
    if ((await stat(`/proc/${pid}`)).uid !== process.getuid?.()) return undefined;
    const read = readProcess(pid);
    return read === undefined || read.isOver ? undefined : { pid, stat: read, mark, killed: owner };
  } catch {
    return undefined;
  }
}

/** Whether its call was interrupted, rather than finished with the process kept. */
async function isOfCutCall({ pid, stat: { group }, mark, killed }: MarkedProcess): Promise<boolean> {
  if (mark.leftovers === 'kill' || killed.groups.has(group)) return true;
  return killed.stdouts.size > 0 && killed.stdouts.has(stdoutMark(await stdoutOf(pid)));
}

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

interface KilledOwner {
  readonly owner: Owner;
  readonly files: string[];
  readonly groups: Set<number>;
  readonly stdouts: Set<string>;
}

async function findKilledOwners(): Promise<ReadonlyMap<string, KilledOwner>> {
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

/** A shared folder may hold another user's files or links. */
async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    return stat.isFile() && stat.uid === process.getuid?.() ? await file.readFile('utf8') : undefined;
  } catch {
    return undefined;
  }
}
