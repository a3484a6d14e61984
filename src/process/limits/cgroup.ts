import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isGone, ownerFromText, ownerPattern, ownerToText, thisOwner } from '../../base/files/owner.ts';
import { signalProcess } from '../launch/process-groups.ts';
import { tryScript } from '../launch/try-script.ts';
import type { ProcessLimits } from '../process-config.ts';

/** A folder in which control groups can be made. */
interface Place extends Pick<Hierarchy, 'version' | 'controllers'> {
  readonly folder: string;
}

export interface GroupEvents {
  readonly oomKills: number;
  readonly refusedStarts: number;
}

/** Control groups for one process and all that it starts. */
export interface ControlGroup {
  /** A process joins by writing 0 to each of these. */
  readonly joins: readonly string[];
  readonly bounds: ReadonlySet<Controller>;
  events(): GroupEvents;
  kill(): void;
  /** Lets go of them: they are removed once they are empty. */
  release(): void;
}

/** Makes a group of that name in each place that bounds one of the limits. Throws the system's error. */
function makeGroup(places: readonly Place[], name: string, limits: ProcessLimits): ControlGroup {
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
function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

type Controller = 'memory' | 'pids';

/** A tree of control groups that may count for us, and the folders in which groups of ours may stand, the best first. */
interface Hierarchy {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  readonly folders: readonly string[];
}

/** The hierarchies of this process; none where there are no control groups. */
export function findHierarchies(): readonly Hierarchy[] {
  try {
    return readHierarchies(
      readFileSync('/proc/self/cgroup', 'utf8'),
      readFileSync('/proc/self/mountinfo', 'utf8'),
    );
  } catch {
    return [];
  }
}

/** The same, of those two files. Source: cgroups(7), "/proc files", and proc_pid_mountinfo(5). */
export function readHierarchies(memberships: string, mounts: string): readonly Hierarchy[] {
  const mounted = mounts.split('\n').flatMap(readMount);
  return memberships.split('\n').flatMap((line): Hierarchy[] => {
    const [, list = '', path = ''] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    const version = line.startsWith('0::') ? 2 : 1;
    const controllers =
      version === 2 ? allControllers : allControllers.filter((each) => list.split(',').includes(each));
    const mount = mounted.find((each) =>
      version === 2
        ? each.type === 'cgroup2'
        : each.type === 'cgroup' && each.options.includes(controllers[0] ?? ''),
    );
    if (path === '' || controllers.length === 0 || mount === undefined) return [];
    const own = folderOf(mount, path);
    if (own === undefined) return [];
    // In the second version a group that has processes itself gives its groups no controllers, so that ours stand beside it.
    const folders = version === 1 || own === mount.folder ? [own] : [dirname(own), own];
    return [{ version, controllers, folders }];
  });
}

const allControllers = ['memory', 'pids'] as const;

interface Mount {
  readonly root: string;
  readonly folder: string;
  readonly type: string;
  readonly options: readonly string[];
}

function readMount(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, folder] = before.split(' ').map(unescapeSpaces);
  const [type, , options] = after.split(' ');
  if (root === undefined || folder === undefined || type === undefined || options === undefined) return [];
  return type.startsWith('cgroup') ? [{ root, folder, type, options: options.split(',') }] : [];
}

/** Spaces and the like stand there as `\040`. */
function unescapeSpaces(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** Where the group of that path is to be seen; undefined outside of what is mounted. */
function folderOf({ root, folder }: Mount, path: string): string | undefined {
  if (path === root) return folder;
  if (root === '/') return join(folder, path);
  return path.startsWith(`${root}/`) ? join(folder, path.slice(root.length)) : undefined;
}

export interface GroupMaker {
  /** Where they are made. */
  readonly folders: readonly string[];
  make(limits: Parameters<typeof makeGroup>[2]): ControlGroup;
}

/**
 * The maker of groups in those hierarchies in which this process may make some and have others join them; undefined where there
 * is none. Removes empty groups that killed processes left. Never rejects.
 */
export async function openGroupMaker(
  hierarchies: readonly Hierarchy[] = findHierarchies(),
): Promise<GroupMaker | undefined> {
  const owner = ownerToText(thisOwner());
  const nextName = () => `${PREFIX}${owner}-${count++}`;
  const places: Place[] = [];
  for (const hierarchy of hierarchies) {
    for (const folder of hierarchy.folders) {
      const place = { ...hierarchy, controllers: controllersIn(folder, hierarchy), folder };
      if (!(await isUsable(place, nextName()))) continue;
      await sweep(folder);
      places.push(place);
      break;
    }
  }
  if (places.length === 0) return undefined;
  return {
    folders: places.map(({ folder }) => folder),
    make: (limits) => makeGroup(places, nextName(), limits),
  };
}

const PREFIX = 'signalbox-limits-';

let count = 0;

/** What groups in that folder can bound. Source: "Enabling and Disabling" of the kernel's Control Group v2. */
function controllersIn(folder: string, { version, controllers }: Hierarchy): Place['controllers'] {
  if (version === 1) return controllers;
  try {
    const given = readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
    return controllers.filter((each) => given.includes(each));
  } catch {
    return [];
  }
}

/** Whether a process can be put into a group there, and be bounded. */
async function isUsable(place: Place, name: string): Promise<boolean> {
  // A shell writes to it by that name.
  if (place.controllers.length === 0 || place.folder.includes("'")) return false;
  let group: ControlGroup | undefined;
  try {
    group = makeGroup([place], name, { memoryMb: 64, processes: 8 });
    return await tryScript(group.joins.map((file) => `echo 0 >'${file}'`).join(' && '), TRY_MS);
  } catch {
    return false;
  } finally {
    group?.release();
  }
}

const TRY_MS = 5_000;

const ownedName = new RegExp(`^${PREFIX}(${ownerPattern})-\\d+$`);

/** Groups with processes stay: these were allowed to. */
async function sweep(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [, owner] = ownedName.exec(name) ?? [];
    if (owner !== undefined && (await isGone(ownerFromText(owner)))) removeGroup(join(folder, name));
  }
}
