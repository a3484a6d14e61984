import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What a control group counts and bounds here. */
export type Controller = 'memory' | 'pids';

/** A tree of control groups that may count for us, and the folders in which groups of ours may stand, the best first. */
export interface Hierarchy {
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
