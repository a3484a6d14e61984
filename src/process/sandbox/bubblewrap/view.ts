import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundledFolders, findExecutable } from '../../../base/files/executable.ts';
import { interpreterWords, isFile } from '../../../base/files/interpreter.ts';
import { holds } from '../../../base/files/paths.ts';
import { findScript } from '../../../base/files/script.ts';
import type { LaunchRequest } from '../../launch/launch.ts';

export type Mount = { readonly path: string } & (
  | { readonly as: 'read' | 'write'; readonly fd: number }
  /** A writable folder in memory; an empty one; one whose entries are mounted separately. */
  | { readonly as: 'private' | 'hidden' | 'selected' }
  | { readonly as: 'link'; readonly target: string }
);

const PRIVATE_BYTES = 1024 ** 3;

/** The parts of /etc that programs need and that hold no secrets. */
const ETC = [
  ...[
    'alternatives',
    'ca-certificates',
    'ca-certificates.conf',
    'crypto-policies',
    'debian_version',
    'fonts',
  ],
  ...['gai.conf', 'group', 'host.conf', 'hosts', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'locale.alias'],
  ...['localtime', 'magic', 'mime.types', 'nsswitch.conf', 'os-release', 'passwd', 'pki/ca-trust/extracted'],
  ...['pki/tls/cert.pem', 'pki/tls/certs', 'pki/tls/openssl.cnf', 'protocols', 'resolv.conf', 'services'],
  ...['ssl/cert.pem', 'ssl/certs', 'ssl/openssl.cnf', 'timezone'],
].map((name) => join('/etc', name));

const LINKED_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Visible in every sandbox, read-only. */
export const systemFolders: readonly string[] = ['/usr', ...LINKED_FOLDERS];

/** `numberOf` maps descriptors to bwrap's. At one path the later mode in `strength` wins; deeper mounts come later. */
export function viewArguments(
  mounts: readonly Mount[],
  home: string,
  numberOf: (fd: number) => number,
): string[] {
  const isWholeRoot = mounts.some(({ path }) => path === '/');
  const own: Mount[] = [{ path: '/tmp', as: 'private' }];
  if (isOwnFolder(home)) own.push({ path: home, as: 'private' });
  // They hold the host's sockets and kernel settings.
  if (isWholeRoot) own.push({ path: '/run', as: 'hidden' }, { path: '/sys', as: 'hidden' });
  const inner = inOrder([...own, ...mounts.filter(({ path }) => path !== '/')]);
  const selected = inner.filter(({ as }) => as === 'selected');
  return [
    ...(isWholeRoot ? ['--ro-bind', '/', '/'] : systemArguments()),
    ...['--proc', '/proc', '--dev', '/dev', ...coverArguments()],
    ...inner.flatMap((mount) => mountArguments(mount, numberOf)),
    ...selected.flatMap(({ path }) => ['--remount-ro', path]),
    // /proc also holds host settings, and a file's owner can write them without a capability.
    ...['--remount-ro', '/proc'],
    ...(isWholeRoot ? [] : ['--symlink', '/tmp', '/var/tmp', '--remount-ro', '/']),
  ];
}

let cover: readonly string[] | undefined;

/** Hides the root-only entries of /proc if root starts the sandbox. Read once. */
function coverArguments(): readonly string[] {
  cover ??= process.getuid?.() === 0 ? readCover() : [];
  return cover;
}

function readCover(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    const path = join('/proc', name);
    const stats = /^\d/.test(name) ? undefined : lookAt(path);
    if (stats === undefined || stats.isSymbolicLink() || (stats.mode & 0o004) !== 0) return [];
    return stats.isDirectory() ? ['--perms', '0555', '--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  });
}

let system: readonly string[] | undefined;

/** Read once: libraries do not move while the system runs. */
function systemArguments(): readonly string[] {
  system ??= readSystem();
  return system;
}

function readSystem(): string[] {
  const linked = LINKED_FOLDERS.flatMap((path) => {
    const stats = lookAt(path);
    if (stats?.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
    return stats === undefined ? [] : ['--ro-bind', path, path];
  });
  // Bound as their link targets: resolv.conf may be a link into /run.
  const settings = ETC.flatMap((path) => ['--ro-bind-try', path, path]);
  return ['--ro-bind', '/usr', '/usr', ...linked, ...settings];
}

function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The home folder of a system user may be a shown folder, such as /usr/sbin. */
function isOwnFolder(home: string): boolean {
  const shown = [...systemFolders, '/etc', '/proc', '/dev'];
  return home.startsWith('/') && !shown.some((path) => holds(home, path) || holds(path, home));
}

const strength: readonly Mount['as'][] = ['private', 'link', 'read', 'selected', 'write', 'hidden'];

function inOrder(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts.toSorted((a, b) => strength.indexOf(a.as) - strength.indexOf(b.as)))
    byPath.set(mount.path, mount);
  return [...byPath.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path));
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function mountArguments(mount: Mount, numberOf: (fd: number) => number): string[] {
  const { path } = mount;
  switch (mount.as) {
    case 'read':
      return ['--ro-bind-fd', String(numberOf(mount.fd)), path];
    case 'write':
      return ['--bind-fd', String(numberOf(mount.fd)), path];
    case 'link':
      return ['--symlink', mount.target, path];
    case 'private':
      return ['--size', String(PRIVATE_BYTES), '--tmpfs', path];
    case 'selected':
      return ['--perms', '0755', '--tmpfs', path];
    case 'hidden':
      return ['--perms', '0555', '--tmpfs', path];
  }
}

/** Includes the folders of a program of this package. Ignores the `#!` line of a file that is not trusted. */
export function programFiles(
  { command, args, cwd, env }: LaunchRequest,
  isTrusted: (file: string) => boolean,
): string[] {
  const index = findScript(command, args);
  const script = index === undefined ? undefined : resolve(cwd, args[index] ?? '');
  const begun = [command, ...(script !== undefined && isFile(script) ? [script] : [])];
  const interpreters = begun
    .filter(isTrusted)
    .flatMap((file) => interpreterOf(file, env['PATH'] ?? '') ?? []);
  return [...new Set([...begun, ...begun.flatMap(bundledFolders), ...interpreters])];
}

function interpreterOf(file: string, searchPath: string): string | undefined {
  const word = interpreterWords(file)?.find((part) => !part.startsWith('-') && !/^\w+=/.test(part));
  if (word === undefined) return undefined;
  const found = findExecutable(word, '/', searchPath);
  return found.found ? found.path : undefined;
}
