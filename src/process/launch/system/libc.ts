import { createRequire } from 'node:module';
import { constants } from 'node:os';

// From <asm/ioctls.h>, <fcntl.h>, <poll.h>, <spawn.h>, <sys/mman.h> and <sys/wait.h>: the same on every Linux architecture that koffi supports.
export const O_CLOEXEC = 0o2000000;
export const F_GETPIPE_SZ = 1032;
export const FIONREAD = 0x541b;
export const POLLIN = 0x01;
export const POLLHUP = 0x10;
const POSIX_SPAWN_SETPGROUP = 0x02;
const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
export const WNOHANG = 1;
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
/** Room for any libc structure used here; glibc's largest, posix_spawnattr_t, has 336 bytes. */
export const STRUCT_BYTES = 512;

export type Libc = NonNullable<ReturnType<typeof loadLibc>>;

let loaded: Libc | undefined;

export function requireLibc(): Libc | undefined {
  loaded ??= loadLibc();
  return loaded;
}

/** Returns glibc if it is already loaded; does not load it. */
export function loadedLibc(): Libc | undefined {
  return loaded;
}

function loadLibc() {
  try {
    // Optional: without a build of koffi, the portable launcher is used.
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    const libc = koffi.load('libc.so.6');
    return {
      attributes: encodeAttributes(libc),
      errno: () => koffi.errno(),
      addressOf: (memory: Buffer): bigint => koffi.address(memory),
      pointerBytes: koffi.sizeof('void *'),
      // Not Node's, which tracks open files per worker thread.
      close: libc.func('int close(int fd)'),
      read: libc.func('long read(int fd, void *to, size_t bytes)'),
      write: libc.func('long write(int fd, void *from, size_t bytes)'),
      fcntl: libc.func('int fcntl(int fd, int command)'),
      ioctl: libc.func('int ioctl(int fd, unsigned long request, void *out)'),
      poll: libc.func('int poll(void *fds, unsigned long count, int timeout)'),
      pipe2: libc.func('int pipe2(void *fds, int flags)'),
      actionsInit: libc.func('int posix_spawn_file_actions_init(void *actions)'),
      actionsDestroy: libc.func('int posix_spawn_file_actions_destroy(void *actions)'),
      addDup2: libc.func('int posix_spawn_file_actions_adddup2(void *actions, int from, int to)'),
      addCloseFrom: optional(() =>
        libc.func('int posix_spawn_file_actions_addclosefrom_np(void *actions, int from)'),
      ),
      addChdir: libc.func('int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)'),
      spawn: libc.func(
        'int posix_spawn(void *pid, void *path, void *actions, void *attr, void *argv, void *envp)',
      ),
      kill: libc.func('int kill(int pid, int signal)'),
      waitpid: libc.func('int waitpid(int pid, void *status, int options)'),
      map: (fd: number, bytes: number) => map({ koffi, libc }, fd, bytes),
    };
  } catch {
    return undefined;
  }
}

export interface MappedFile {
  readonly memory: Buffer;
  /** Access to `memory` is an error from then on. */
  unmap(): void;
}

function map(
  { koffi, libc }: { readonly koffi: typeof import('koffi'); readonly libc: Library },
  fd: number,
  bytes: number,
): MappedFile | undefined {
  const mmap = libc.func('void *mmap(void *at, size_t length, int access, int flags, int fd, long offset)');
  const munmap = libc.func('int munmap(void *at, size_t length)');
  const at: unknown = mmap(null, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  // MAP_FAILED is -1.
  if (koffi.address(at) === BigInt.asUintN(8 * koffi.sizeof('void *'), -1n)) return undefined;
  try {
    return { memory: Buffer.from(koffi.view(at, bytes)), unmap: () => munmap(at, bytes) };
  } catch {
    // Some embedders, such as Electron, forbid memory that V8 did not allocate.
    munmap(at, bytes);
    return undefined;
  }
}

type Library = ReturnType<typeof import('koffi').load>;

/** The process gets its own group and default signals: Node ignores SIGPIPE, which would survive exec. */
function encodeAttributes(libc: Library): Buffer {
  const attributes = Buffer.alloc(STRUCT_BYTES);
  const allSignals = Buffer.alloc(STRUCT_BYTES);
  const noSignals = Buffer.alloc(STRUCT_BYTES);
  libc.func('int sigfillset(void *set)')(allSignals);
  libc.func('int sigemptyset(void *set)')(noSignals);
  libc.func('int posix_spawnattr_init(void *attr)')(attributes);
  libc.func('int posix_spawnattr_setsigdefault(void *attr, void *set)')(attributes, allSignals);
  libc.func('int posix_spawnattr_setsigmask(void *attr, void *set)')(attributes, noSignals);
  libc.func('int posix_spawnattr_setpgroup(void *attr, int group)')(attributes, 0);
  libc.func('int posix_spawnattr_setflags(void *attr, short flags)')(
    attributes,
    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK,
  );
  return attributes;
}

function optional<Part>(load: () => Part): Part | undefined {
  try {
    return load();
  } catch {
    return undefined;
  }
}

export function errorName(errno: number): string {
  const known = Object.entries(constants.errno).find(([, value]) => value === errno);
  return known?.[0] ?? `error ${errno}`;
}
