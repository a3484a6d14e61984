import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { readProcess } from '../../base/files/process-stat.ts';
import { signalProcess } from '../launch/process-groups.ts';
import { removeTable } from '../launch/system/group-table.ts';
import { findKilledOwners, findOrphans, type Orphan } from './find-orphans.ts';

/**
 * Ends what killed Signalboxes have left running: SIGTERM, a grace, SIGKILL to exactly these processes. Keeps no program alive:
 * what it cannot finish, the next start does. Never rejects.
 */
export function sweepOrphans(times: SweepTimes = usual): Promise<void> {
  sweeping ??= sweep(times)
    .catch(() => {})
    .finally(() => {
      sweeping = undefined;
    });
  return sweeping;
}

/** How long a sweep waits, in milliseconds. */
export interface SweepTimes {
  /** Before anything is done: a watcher that still lives ends most of it by itself, and asks politely first. */
  readonly watcherMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
}

/** A Signalbox among the orphans has children of its own to end, with a grace of two seconds by default. */
const usual: SweepTimes = { watcherMs: 2_000, graceMs: 5_000 };

let sweeping: Promise<void> | undefined;

async function sweep({ watcherMs, graceMs }: SweepTimes): Promise<void> {
  if ((await findKilledOwners()).size === 0) return;
  await pause(watcherMs);
  const killed = await findKilledOwners();
  const asked = await findOrphans(killed);
  for (const orphan of asked) signal(orphan, 'SIGTERM');
  for (let waited = 0; waited < graceMs && asked.some(isThere); waited += POLL_MS) await pause(POLL_MS);
  // What was asked is to go, even where nothing tells any more which call it belongs to.
  let left = [...asked.filter(isThere), ...(await findOrphans(killed))];
  for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round++) {
    for (const orphan of left) signal(orphan, 'SIGKILL');
    await pause(POLL_MS);
    // What they have forked meanwhile.
    left = await findOrphans(killed);
  }
  const unfinished = new Set(left.map(({ owner }) => owner));
  for (const [owner, { files }] of killed) {
    if (!unfinished.has(owner)) for (const file of files) removeTable(file);
  }
}

const POLL_MS = 100;
const MAX_ROUNDS = 10;

/** Waits, without keeping this program alive. */
async function pause(ms: number): Promise<void> {
  await setTimeoutPromise(ms, undefined, { ref: false });
}

/** Only while the number is still that of the very process. */
function signal(orphan: Orphan, name: NodeJS.Signals): void {
  if (isThere(orphan)) signalProcess(orphan.pid, name);
}

function isThere({ pid, startedAt }: Orphan): boolean {
  const stat = readProcess(pid);
  return stat?.startedAt === startedAt && !stat.isOver;
}
