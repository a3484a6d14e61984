import { join, relative } from 'node:path';
import type { BubblewrapSandbox } from '../../../binding/sandbox.ts';
import { holds } from '../../../files/holds.ts';
import { followLinks } from '../../../files/real-path.ts';
import type { LaunchRequest } from '../../launch/launch.ts';
import { programFiles } from './program-files.ts';
import { type Mount, systemFolders, viewArguments } from './view.ts';

/** How much of a sandbox this machine permits: `root` is only had by root, where user namespaces are forbidden. */
export type Isolation = 'user' | 'root';

/** What every sandbox lacks: other processes, capabilities, new privileges, namespaces of its own making, the terminal. */
const isolating: Readonly<Record<Isolation, readonly string[]>> = {
  user: ['--unshare-user', '--disable-userns'],
  root: [],
};

const always = [
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--cap-drop', 'ALL'],
  ...['--new-session', '--die-with-parent'],
];

/**
 * The arguments of bwrap for the request, whose status goes to descriptor 3. The environment is not among them, so that no value
 * is seen by who lists processes: bwrap hands on its own, but for what its own loader would obey.
 */
export function bubblewrapArguments(
  sandbox: BubblewrapSandbox,
  request: LaunchRequest,
  isolation: Isolation,
): string[] {
  const { command, args, cwd, env } = request;
  const mounts = mountsOf(sandbox, request);
  return [
    ...['--json-status-fd', '3'],
    ...isolating[isolation],
    ...always,
    ...(sandbox.network ? [] : ['--unshare-net']),
    ...viewArguments(mounts, env['HOME'] ?? ''),
    ...Object.entries(env).flatMap(([name, value]) => (isObeyed(name) ? ['--setenv', name, value] : [])),
    ...(env['TMPDIR'] === undefined ? [] : ['--setenv', 'TMPDIR', '/tmp']),
    ...['--chdir', cwd, '--', command, ...args],
  ];
}

/** The environment that bwrap itself is started with, whose libraries nothing in a sandbox may choose. */
export function bubblewrapEnvironment(env: LaunchRequest['env']): LaunchRequest['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isObeyed(name)));
}

/** Whether glibc's loader or its libraries load code or files by the variable. Source: `unsecvars.h` of glibc. */
function isObeyed(name: string): boolean {
  return /^(?:LD_|MALLOC_)|^(?:GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NLSPATH|RESOLV_HOST_CONF|TZDIR)$/.test(name);
}

function mountsOf({ read, write, hide }: BubblewrapSandbox, request: LaunchRequest): Mount[] {
  const shown = [...read, ...write];
  const isShown = (file: string) => [...shown, ...systemFolders].some((path) => holds(path, file));
  const files = programFiles(request).filter((file) => !isShown(file));
  return [
    ...[...read, ...files].map((path): Mount => ({ path, as: 'read' })),
    ...write.map((path): Mount => ({ path, as: 'write' })),
    ...shown.flatMap((path) => placesIn(path, hide)).map((path): Mount => ({ path, as: 'hidden' })),
  ];
}

/** Where in a folder that is shown, by whichever name, the hidden paths stand. */
function placesIn(path: string, hidden: readonly string[]): string[] {
  const real = followLinks(path);
  const inside = hidden.map(followLinks).filter((place) => place !== real && holds(real, place));
  return inside.map((place) => join(path, relative(real, place)));
}
