import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isGone, ownerFromText, ownerPattern, ownerToText, thisOwner } from '../../base/files/owner.ts';
import { signalProcess } from '../launch/process-groups.ts';
import { tryScript } from '../launch/try-script.ts';
import type { ProcessLimits } from '../process-config.ts';

interface Place extends Pick<Hierarchy, 'version' | 'controllers'> {
  readonly folder: string;
}

export interface GroupEvents {
  readonly oomKills: number;
  readonly refusedStarts: number;
}

export interface ControlGroup {
  /** A process joins by writing 0 to each of these files. */
  readonly joins: readonly string[];
  readonly bounds: ReadonlySet<Controller>;
  events(): GroupEvents;
  kill(): void;
  release(): void;
}

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
    // Kernels without swap accounting lack this file.
    if (!isOptional) throw error;
  }
}

function countIn(folders: readonly string[], files: readonly string[], word: string): number {
  for (const path of folders.flatMap((folder) => files.map((file) => join(folder, file)))) {
    try {
      const [, count] = new RegExp(`^${word} (\\d+)$`, 'm').exec(readFileSync(path, 'utf8')) ?? [];
      if (count !== undefined) return Number(count);
    } catch {
      // The file belongs to another hierarchy.
    }
  }
  return 0;
}

function killMembers(folder: string): void {
  try {
    const members = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').map(Number);
    // A pid outside our pid namespace reads as 0, which would signal ourselves. Source: cgroups(7), "pid namespaces".
    for (const pid of members) if (pid > 0) signalProcess(pid, 'SIGKILL');
  } catch {
    // The group no longer exists.
  }
}

/** Groups that could not be removed yet: their last process is still ending, or may stay. */
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

function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

type Controller = 'memory' | 'pids';

interface Hierarchy {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  readonly folders: readonly string[];
}

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

/** Source: cgroups(7), "/proc files", and proc_pid_mountinfo(5). */
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
    // In version 2 a group with processes cannot give controllers to its children, so ours are its siblings.
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

function unescapeSpaces(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function folderOf({ root, folder }: Mount, path: string): string | undefined {
  if (path === root) return folder;
  if (root === '/') return join(folder, path);
  return path.startsWith(`${root}/`) ? join(folder, path.slice(root.length)) : undefined;
}

export interface GroupMaker {
  readonly folders: readonly string[];
  make(limits: Parameters<typeof makeGroup>[2]): ControlGroup;
}

/** Removes empty groups of killed processes. Returns undefined if no group can be made. Never rejects. */
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

/** Source: "Enabling and Disabling" of the kernel's Control Group v2. */
function controllersIn(folder: string, { version, controllers }: Hierarchy): Place['controllers'] {
  if (version === 1) return controllers;
  try {
    const given = readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
    return controllers.filter((each) => given.includes(each));
  } catch {
    return [];
  }
}

async function isUsable(place: Place, name: string): Promise<boolean> {
  // A shell script quotes the folder name.
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

/** Groups with processes stay, since their entries keep background children. */
async function sweep(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [, owner] = ownedName.exec(name) ?? [];
    if (owner !== undefined && (await isGone(ownerFromText(owner)))) removeGroup(join(folder, name));
  }
}
