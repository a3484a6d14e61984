import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signalProcess } from '../../launch/process-groups.ts';
import type { ProcessLimits } from '../../process-config.ts';
import type { Controller, Hierarchy } from './hierarchy.ts';

/** A folder in which control groups can be made. */
export interface Place extends Pick<Hierarchy, 'version' | 'controllers'> {
  readonly folder: string;
}

/** What the kernel noted of a group. */
export interface GroupEvents {
  /** Processes that it killed because the group had no memory left. */
  readonly oomKills: number;
  /** Processes and threads that it did not let start. */
  readonly refusedStarts: number;
}

/** Control groups for one process and all that it starts. */
export interface ControlGroup {
  /** A process joins by writing 0 to each of these. */
  readonly joins: readonly string[];
  /** What is bounded by them. */
  readonly bounds: ReadonlySet<Controller>;
  events(): GroupEvents;
  /** SIGKILL to everything in them. */
  kill(): void;
  /** Lets go of them: they are removed once they are empty. */
  release(): void;
}

/** Makes a group of that name in each place that bounds one of the limits. Throws the system's error. */
export function makeGroup(places: readonly Place[], name: string, limits: ProcessLimits): ControlGroup {
  const wanted = new Set(controllersOf(limits));
  const used = places.filter(({ controllers }) => controllers.some((each) => wanted.has(each)));
  const folders: string[] = [];
  try {
    for (const place of used) {
      const folder = join(place.folder, name);
      mkdirSync(folder);
      folders.push(folder);
      for (const [file, value] of boundsOf(place, limits)) writeBound(join(folder, file), value);
    }
  } catch (error) {
    removeLater(folders);
    throw error;
  }
  return {
    joins: folders.map((folder) => join(folder, 'cgroup.procs')),
    bounds: new Set(used.flatMap(({ controllers }) => controllers.filter((each) => wanted.has(each)))),
    events: () => ({
      oomKills: countIn(folders, ['memory.oom_control', 'memory.events'], 'oom_kill'),
      refusedStarts: countIn(folders, ['pids.events'], 'max'),
    }),
    kill: () => folders.forEach(killMembers),
    release: () => removeLater(folders),
  };
}

/** What bounds these limits. */
function controllersOf({ memoryMb, processes }: ProcessLimits): readonly Controller[] {
  return [
    ...(memoryMb === undefined ? [] : (['memory'] as const)),
    ...(processes === undefined ? [] : (['pids'] as const)),
  ];
}

/** Files and values, in the order in which they are written; what ends with `?` not every kernel has. */
function boundsOf(
  { version, controllers }: Place,
  { memoryMb, processes }: ProcessLimits,
): readonly (readonly [file: string, value: string])[] {
  const bytes =
    memoryMb !== undefined && controllers.includes('memory') ? String(memoryMb * 2 ** 20) : undefined;
  const count = processes !== undefined && controllers.includes('pids') ? String(processes) : undefined;
  const memory =
    version === 1
      ? (['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes?'] as const)
      : (['memory.max', 'memory.swap.max?'] as const);
  return [
    ...(bytes === undefined
      ? []
      : [[memory[0], bytes] as const, [memory[1], version === 1 ? bytes : '0'] as const]),
    ...(count === undefined ? [] : [['pids.max', count] as const]),
  ];
}

function writeBound(file: string, value: string): void {
  const isOptional = file.endsWith('?');
  try {
    writeFileSync(isOptional ? file.slice(0, -1) : file, value);
  } catch (error) {
    // A kernel that does not count what is swapped out.
    if (!isOptional) throw error;
  }
}

/** The number behind the word in the first of these files that is there. */
function countIn(folders: readonly string[], files: readonly string[], word: string): number {
  for (const path of folders.flatMap((folder) => files.map((file) => join(folder, file)))) {
    try {
      const [, count] = new RegExp(`^${word} (\\d+)$`, 'm').exec(readFileSync(path, 'utf8')) ?? [];
      if (count !== undefined) return Number(count);
    } catch {
      // It is none of this hierarchy.
    }
  }
  return 0;
}

function killMembers(folder: string): void {
  try {
    const members = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').map(Number);
    // Whoever cannot be seen from here stands there as 0, which would mean ourselves. Source: cgroups(7), "pid namespaces".
    for (const pid of members) if (pid > 0) signalProcess(pid, 'SIGKILL');
  } catch {
    // The group is gone.
  }
}

/** Groups that could not be removed yet: their last process is still ending, or was allowed to stay. */
const occupied = new Set<string>();
let remover: NodeJS.Timeout | undefined;
let tries = 0;

function removeLater(folders: readonly string[]): void {
  for (const folder of folders) if (!removeGroup(folder)) occupied.add(folder);
  tries = 0;
  removeSoon();
}

function removeSoon(): void {
  if (occupied.size === 0 || remover !== undefined) return;
  remover = setTimeout(
    () => {
      remover = undefined;
      tries += 1;
      removeOccupied();
      removeSoon();
    },
    Math.min(FIRST_TRY_MS * 2 ** tries, LAST_TRY_MS),
  ).unref();
}

function removeOccupied(): void {
  for (const folder of occupied) if (removeGroup(folder)) occupied.delete(folder);
}

process.on('exit', removeOccupied);

const FIRST_TRY_MS = 5;
const LAST_TRY_MS = 10_000;

/** False while it has processes. */
export function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}
