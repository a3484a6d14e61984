import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { sleep } from '../../base/time/deadline.ts';
import { createPool } from '../pool.ts';

/** At most half of the cores start processes ahead of calls, for all entries together: calls that run come first. */
const gate = createPool(Math.max(1, Math.floor(availableParallelism() / 2)));

/**
 * Runs `start` when it is its turn among all starts ahead of calls. The turn lasts until the process that was started sleeps,
 * which it does once it waits for its request.
 */
export async function inStartGate(start: () => Promise<number | undefined>): Promise<void> {
  await gate.add(async () => {
    const pid = await start();
    if (pid !== undefined) await whenAsleep(pid);
  });
}

const LOOK_MS = 5;
/** What is still busy after this long is no start any more. */
const LONGEST_MS = 1_000;

async function whenAsleep(pid: number): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  do await sleep(LOOK_MS);
  while (isBusy(pid) && performance.now() < until);
}

/** Source: proc_pid_stat(5): the state follows the name, which stands in parentheses. False where there is no /proc. */
function isBusy(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[RD]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}
