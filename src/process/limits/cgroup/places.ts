import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGone, ownerFromText, ownerPattern, ownerToText, thisOwner } from '../../../base/files/owner.ts';
import { tryScript } from '../../launch/try-script.ts';
import { type ControlGroup, makeGroup, type Place, removeGroup } from './group.ts';
import { findHierarchies, type Hierarchy } from './hierarchy.ts';

/** Makes control groups, each with a name that tells its owner. */
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

/** Groups of this thread so far: no two makers of it use one name. */
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
