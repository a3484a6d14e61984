import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessRow, readProcessTable } from './process-table.ts';

/** The processes that one process has started, directly or not, itself included. */
export class Family {
  readonly #leader: number;
  /** Everyone who was ever seen, by when he began. */
  readonly #known = new Map<number, number>();

  constructor(leader: number) {
    this.#leader = leader;
  }

  /**
   * Those who live, by the table as it is now: the leader, its group, descendants of these, and who was one of them once. Who
   * leaves the group and loses his parent before he is looked at is missed. `others` lead families of their own.
   */
  members(table: ReadonlyMap<number, ProcessRow>, others: ReadonlySet<number>): readonly ProcessRow[] {
    const children = Map.groupBy(table.values(), ({ parent }) => parent);
    const found = new Map<number, ProcessRow>();
    const add = (row: ProcessRow) => {
      if (found.has(row.pid) || (row.pid !== this.#leader && others.has(row.pid))) return;
      found.set(row.pid, row);
      for (const child of children.get(row.pid) ?? []) add(child);
    };
    for (const row of table.values()) {
      if (row.group === this.#leader || this.#known.get(row.pid) === row.startedAt) add(row);
    }
    this.#known.clear();
    for (const { pid, startedAt } of found.values()) this.#known.set(pid, startedAt);
    return [...found.values()].filter(({ isOver }) => !isOver);
  }
}

/**
 * Whether a process, or one that it has started, computes rather than waits: it is runnable nearly each time that it is looked
 * at, for a quarter of a second. False where there is no /proc.
 */
export async function isComputing(pid: number): Promise<boolean> {
  const family = new Family(pid);
  let runnable = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(LOOK_MS);
    const table = tryReadTable();
    if (family.members(table, new Set()).some(({ isRunnable }) => isRunnable)) runnable += 1;
  }
  return runnable >= LOOKS - 1;
}

const LOOKS = 6;
const LOOK_MS = 50;

function tryReadTable(): ReadonlyMap<number, ProcessRow> {
  try {
    return readProcessTable();
  } catch {
    return new Map();
  }
}
