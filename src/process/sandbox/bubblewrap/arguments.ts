import type { LaunchRequest } from '../../launch/launch.ts';
import { type Mount, viewArguments } from './view.ts';

/** What every sandbox lacks: other processes, capabilities, new privileges, namespaces of its own making, the terminal, keyrings. */
const always = [
  ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
];

/** Descriptors of bwrap, beyond its standard streams. */
export interface BubblewrapFiles {
  readonly status: number;
  readonly seccomp: number;
}

/** What bwrap is started with; the descriptors are those from 3 on. */
export interface BubblewrapCommand {
  readonly args: readonly string[];
  readonly descriptors: readonly number[];
}

/**
 * The arguments of bwrap for the request. The environment is not among them, so that no value is seen by who lists processes: bwrap
 * hands on its own, but for what its own loader would obey.
 */
export function bubblewrapCommand(
  { network, mounts }: { readonly network: boolean; readonly mounts: readonly Mount[] },
  { command, args, cwd, env }: LaunchRequest,
  { status, seccomp }: BubblewrapFiles,
): BubblewrapCommand {
  const descriptors = [status, seccomp];
  const numberOf = (fd: number) => STANDARD + descriptors.push(fd) - 1;
  const view = viewArguments(mounts, env['HOME'] ?? '', numberOf);
  return {
    descriptors,
    args: [
      ...['--json-status-fd', String(STANDARD), '--seccomp', String(STANDARD + 1)],
      ...always,
      // Root has no capability over the host's namespaces in one of its own, and is somebody else by name, too.
      ...(process.getuid?.() === 0 ? ['--uid', NOBODY, '--gid', NOBODY] : []),
      ...(network ? [] : ['--unshare-net']),
      ...view,
      ...Object.entries(env).flatMap(([name, value]) => (isObeyed(name) ? ['--setenv', name, value] : [])),
      ...(env['TMPDIR'] === undefined ? [] : ['--setenv', 'TMPDIR', '/tmp']),
      ...['--chdir', cwd, '--', command, ...args],
    ],
  };
}

const STANDARD = 3;
const NOBODY = '65534';

/** The environment that bwrap itself is started with, whose libraries nothing in a sandbox may choose. */
export function bubblewrapEnvironment(env: LaunchRequest['env']): LaunchRequest['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isObeyed(name)));
}

/** Whether glibc's loader or its libraries load code or files by the variable. Source: `unsecvars.h` of glibc. */
function isObeyed(name: string): boolean {
  return /^(?:LD_|MALLOC_)|^(?:GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NLSPATH|RESOLV_HOST_CONF|TZDIR)$/.test(name);
}
