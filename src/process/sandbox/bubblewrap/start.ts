import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { RuntimeError } from '../../../base/errors.ts';
import { followLinks, holds } from '../../../base/files/paths.ts';
import { makeTempFolder } from '../../../base/files/temp-folder.ts';
import { type BubblewrapSandbox, findExposure } from '../../binding.ts';
import type { LaunchedProcess, Launcher, LaunchListener, LaunchRequest } from '../../launch/launch.ts';
import { type Mount, programFiles, systemFolders, viewArguments } from './view.ts';

interface OpenedMounts {
  readonly mounts: readonly Mount[];
  close(): void;
}

function openMounts(sandbox: BubblewrapSandbox, request: LaunchRequest): OpenedMounts {
  const opener = new Opener(sandbox);
  try {
    return { mounts: opener.mounts(request), close: () => opener.close() };
  } catch (error) {
    opener.close();
    throw error;
  }
}

interface Shown extends OpenedPath {
  readonly path: string;
  readonly as: 'read' | 'write';
}

class Opener {
  readonly #sandbox: BubblewrapSandbox;
  /** Folders where a sandboxed process may have created links. */
  readonly #writable: readonly string[];
  readonly #opened: number[] = [];

  constructor(sandbox: BubblewrapSandbox) {
    const { write, writtenElsewhere = [] } = sandbox;
    this.#sandbox = sandbox;
    this.#writable = [...write, ...writtenElsewhere].flatMap((path) => [path, followLinks(path)]);
  }

  mounts(request: LaunchRequest): readonly Mount[] {
    const { read, write, hide, fixed = [], secrets = [] } = this.#sandbox;
    const exposure = findExposure(this.#sandbox);
    if (exposure !== undefined) throw new Error(exposure);
    const shown = [
      ...[...read, ...fixed].map((path): Shown => ({ path, as: 'read', ...this.#open(path) })),
      ...write.map((path): Shown => ({ path, as: 'write', ...this.#open(path) })),
    ];
    // Rejects a working folder behind a link that a sandboxed process may have made.
    this.#open(request.cwd);
    const folders = hide.filter((path) => !isFile(path));
    const files = [...secrets, ...hide.filter(isFile)];
    return [
      ...shown.map(({ path, as, fd }) => ({ path, as, fd })),
      ...this.#program(request, shown, [...folders, ...files]),
      ...folders.flatMap((path) => this.#hiddenFolder(path, shown)),
      ...this.#withoutSecrets(files, shown),
    ];
  }

  close(): void {
    for (const fd of this.#opened.splice(0)) closeSync(fd);
  }

  #open(path: string): OpenedPath {
    const opened = openPath(path, this.#writable);
    this.#opened.push(opened.fd);
    return opened;
  }

  #program(request: LaunchRequest, shown: readonly Shown[], hidden: readonly string[]): Mount[] {
    const isOurs = (file: string) => !this.#writable.some((folder) => holds(folder, followLinks(file)));
    const isShown = (file: string) =>
      [...shown.map(({ path }) => path), ...systemFolders].some((path) => holds(path, file));
    const isHidden = (file: string) => hidden.some((path) => holds(followLinks(path), file));
    return programFiles(request, isOurs).flatMap((file) => {
      const opened = this.#tryOpen(file);
      if (opened === undefined || isHidden(opened.real)) return [];
      const places = [...new Set([file, opened.real])].filter((place) => !isShown(place));
      return places.map((path): Mount => ({ path, as: 'read', fd: opened.fd }));
    });
  }

  /** Returns undefined for a missing or refused path; bwrap then reports that it does not exist. */
  #tryOpen(path: string): OpenedPath | undefined {
    try {
      return this.#open(path);
    } catch {
      return undefined;
    }
  }

  #hiddenFolder(path: string, shown: readonly Shown[]): Mount[] {
    return placesOf(path, shown).flatMap(({ place, shows }): Mount[] => {
      // Otherwise a sandboxed process could create it, and its content would be read as ours.
      if (shows.as === 'write' && !statSync(place, { throwIfNoEntry: false }))
        mkdirSync(place, { recursive: true, mode: 0o700 });
      if (!statSync(place, { throwIfNoEntry: false })) return [];
      this.#open(place);
      return [{ path: place, as: 'hidden' }];
    });
  }

  /** A mount on the secret itself would not cover a file that replaces it later, so entries are mounted one by one. */
  #withoutSecrets(files: readonly string[], shown: readonly Shown[]): Mount[] {
    const names = new Map<string, Set<string>>();
    for (const file of files) {
      const entry = join(followLinks(dirname(file)), basename(file));
      for (const { place } of [entry, followLinks(file)].flatMap((path) => placesOf(path, shown))) {
        const folder = dirname(place);
        names.set(folder, (names.get(folder) ?? new Set()).add(basename(place)));
      }
    }
    return [...names].flatMap(([folder, secret]): Mount[] => [
      { path: folder, as: 'selected' },
      ...this.#entriesOf(folder, secret),
    ]);
  }

  #entriesOf(folder: string, secret: ReadonlySet<string>): Mount[] {
    const { fd: folderFd } = this.#open(folder);
    const entries = readdirSync(`/proc/self/fd/${folderFd}`).filter((name) => !secret.has(name));
    if (entries.length > MAX_ENTRIES) {
      const [name = ''] = secret;
      throw new Error(
        `${folder} has the secret file ${name} and more than ${MAX_ENTRIES} others: give the file a folder of its own`,
      );
    }
    return entries.flatMap((name): Mount[] => {
      const place = `/proc/self/fd/${folderFd}/${name}`;
      const path = join(folder, name);
      try {
        const fd = openSync(place, O_PATH | constants.O_NOFOLLOW);
        this.#opened.push(fd);
        if (!fstatSync(fd).isSymbolicLink()) return [{ path, as: 'read', fd }];
        return [{ path, as: 'link', target: readlinkSync(place) }];
      } catch {
        return []; // The folder no longer exists.
      }
    });
  }
}

/** bwrap compares each mount with all others. */
const MAX_ENTRIES = 512;

function placesOf(
  path: string,
  shown: readonly Shown[],
): { readonly place: string; readonly shows: Shown }[] {
  const target = path === join(followLinks(dirname(path)), basename(path)) ? path : followLinks(path);
  return shown
    .filter(({ real }) => target !== real && holds(real, target))
    .map((shows) => ({ place: join(shows.path, relative(shows.real, target)), shows }));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

interface OpenedPath {
  /** Opened with O_PATH. The caller closes it. */
  readonly fd: number;
  readonly real: string;
  readonly isFolder: boolean;
}

/** Throws an Error for links inside `writable` folders, since a sandboxed process may have made them. */
export function openPath(path: string, writable: readonly string[]): OpenedPath {
  let names = namesOf(path);
  let real = '/';
  let fd = openSync('/', O_PATH);
  try {
    for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
      // Relative to the descriptor, so that the checked folder cannot be replaced.
      const place = `/proc/self/fd/${fd}/${name}`;
      const next = openSync(place, O_PATH | constants.O_NOFOLLOW);
      if (!fstatSync(next).isSymbolicLink()) {
        closeSync(fd);
        fd = next;
        real = join(real, name);
        continue;
      }
      closeSync(next);
      if (writable.some((folder) => holds(folder, real)))
        throw new Error(`${join(real, name)} is a link in a folder that a sandboxed process may write`);
      links += 1;
      if (links > MAX_LINKS) throw new Error(`ELOOP: too many links in ${path}`);
      names = [...namesOf(resolve(real, readlinkSync(place))), ...names];
      closeSync(fd);
      real = '/';
      fd = openSync('/', O_PATH);
    }
    return { fd, real, isFolder: fstatSync(fd).isDirectory() };
  } catch (error) {
    closeSync(fd);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be opened (${code})`;
    throw new Error(`${path} ${why}`, { cause: error });
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/** Source: <asm-generic/fcntl.h>; Node does not export it. The same on all of Node's architectures. */
const O_PATH = 0o10000000;
/** Source: MAXSYMLINKS of the kernel. */
const MAX_LINKS = 40;

/** Paths are opened once, so later changes have no effect. Throws SANDBOX_FAILED and the errors of `launch`. */
export async function startBubblewrap(
  entry: string,
  sandbox: BubblewrapSandbox,
  request: LaunchRequest,
  {
    launch,
    status,
    watch,
  }: { readonly launch: Launcher; readonly status: StatusFile; readonly watch?: LaunchListener },
): Promise<LaunchedProcess> {
  const filter = keyringFilter();
  if (filter === undefined)
    throw sandboxError(entry, sandbox, `the system calls to block on ${process.arch} are not known`);
  const { mounts, close } = openOrFail(entry, sandbox, request);
  let seccomp: number | undefined;
  try {
    seccomp = openDataFile(filter);
    const { network, program } = sandbox;
    const command = bubblewrapCommand({ network, mounts }, request, { status: status.fd, seccomp });
    const env = bubblewrapEnvironment(request.env);
    return await launch({ command: program, cwd: '/', input: request.input, env, ...command }, watch);
  } finally {
    if (seccomp !== undefined) closeSync(seccomp);
    close();
  }
}

function openOrFail(entry: string, sandbox: BubblewrapSandbox, request: LaunchRequest): OpenedMounts {
  try {
    return openMounts(sandbox, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const told = `its sandbox "${sandbox.name}" could not start it: ${reason}`;
    throw sandboxError(entry, sandbox, told, { cause: error });
  }
}

/** No sandbox gets other processes, capabilities, new privileges, new namespaces, the terminal or keyrings. */
const always = [
  ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
];

interface BubblewrapFiles {
  readonly status: number;
  readonly seccomp: number;
}

interface BubblewrapCommand {
  readonly args: readonly string[];
  readonly descriptors: readonly number[];
}

/** Returns bwrap's arguments. Environment values are not among them, since process lists show arguments. */
function bubblewrapCommand(
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
      // Root has no capability over the host's namespaces inside a user namespace, and gets another uid too.
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

/** Removes the variables that would choose bwrap's own libraries. */
function bubblewrapEnvironment(env: LaunchRequest['env']): LaunchRequest['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isObeyed(name)));
}

/** Whether glibc loads code or files by the variable. Source: `unsecvars.h` of glibc. */
function isObeyed(name: string): boolean {
  return /^(?:LD_|MALLOC_)|^(?:GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NLSPATH|RESOLV_HOST_CONF|TZDIR)$/.test(name);
}

/** The kernel's architecture id and syscall numbers. Source: <linux/audit.h> and the syscall tables. */
interface Abi {
  readonly audit: number;
  /** add_key, request_key, keyctl. */
  readonly calls: readonly number[];
}

const generic = [217, 218, 219] as const;
const x86_64: Abi = { audit: 0xc000003e, calls: [248, 249, 250, ...x32([248, 249, 250])] };
const i386: Abi = { audit: 0x40000003, calls: [286, 287, 288] };
const arm: Abi = { audit: 0x40000028, calls: [309, 310, 311] };

const abis: Readonly<Record<string, readonly Abi[]>> = {
  x64: [x86_64, i386],
  ia32: [i386, x86_64],
  arm64: [{ audit: 0xc00000b7, calls: generic }, arm],
  arm: [arm],
  riscv64: [{ audit: 0xc00000f3, calls: generic }],
  loong64: [{ audit: 0xc0000102, calls: generic }],
  s390x: [{ audit: 0x80000016, calls: [278, 279, 280] }],
  ppc64: [{ audit: endianness() === 'LE' ? 0xc0000015 : 0x80000015, calls: [269, 270, 271] }],
};

function x32(calls: readonly number[]): number[] {
  return calls.map((call) => call + 0x40000000);
}

/** Refuses keyring calls, since keyrings are inherited, and foreign architectures. Undefined for an unknown one. */
function keyringFilter(architecture: string = process.arch): Buffer | undefined {
  const known = abis[architecture];
  if (known === undefined) return undefined;
  const rules = known.flatMap(({ audit, calls }) => [
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    // Not this architecture: jump to the next rules.
    [IF_EQUAL, 0, calls.length + 3, audit],
    [LOAD, 0, 0, NUMBER_OFFSET],
    ...calls.map((call, index) => [IF_EQUAL, calls.length - index, 0, call]),
    [ANSWER, 0, 0, ALLOW],
    [ANSWER, 0, 0, REFUSE],
  ]);
  return Buffer.concat([...rules, [ANSWER, 0, 0, REFUSE]].map(encode));
}

/** Source: struct sock_filter of <linux/filter.h>, in native byte order. */
function encode([code = 0, ifTrue = 0, ifFalse = 0, value = 0]: readonly number[]): Buffer {
  const instruction = Buffer.from([0, 0, ifTrue, ifFalse, 0, 0, 0, 0]);
  const isLittle = endianness() === 'LE';
  if (isLittle) instruction.writeUInt16LE(code);
  else instruction.writeUInt16BE(code);
  if (isLittle) instruction.writeUInt32LE(value, 4);
  else instruction.writeUInt32BE(value, 4);
  return instruction;
}

// BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K and BPF_RET | BPF_K of <linux/bpf_common.h>.
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const ANSWER = 0x06;
// SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM, of <linux/seccomp.h>; offsets in struct seccomp_data.
const ALLOW = 0x7fff0000;
const REFUSE = 0x00050001;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;

export function sandboxError(
  entry: string,
  sandbox: { readonly name: string; readonly mode: string },
  reason: string,
  options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): RuntimeError {
  const { name, mode } = sandbox;
  return new RuntimeError('SANDBOX_FAILED', `"${entry}" was not run: ${reason}`, {
    ...options,
    details: { sandbox: { name, mode } },
  });
}

/** An unlinked file that receives bwrap's status lines. */
export interface StatusFile {
  readonly fd: number;
  readonly isOpen: boolean;
  /** The pid of the sandbox's group leader in our namespace; undefined before the start. */
  child(): number | undefined;
  /** The command's exit code, 128 plus the number for a signal; undefined before it ends or if it never ran. */
  exitCode(): number | undefined;
  close(): void;
}

export function openStatusFile(): StatusFile {
  const fd = openNameless();
  let isOpen = true;
  let last = '';
  const read = () => {
    if (isOpen) last = readAll(fd);
    return last;
  };
  return {
    fd,
    get isOpen() {
      return isOpen;
    },
    child: () => numberOf(read(), /"child-pid": (\d+)/),
    exitCode: () => numberOf(read(), /"exit-code": (\d+)/),
    close: () => {
      if (!isOpen) return;
      read();
      isOpen = false;
      closeSync(fd);
    },
  };
}

function openDataFile(content: Uint8Array): number {
  const fd = openNameless();
  // Positioned, so that the descriptor's offset stays at the start.
  writeSync(fd, content, 0, content.length, 0);
  return fd;
}

let folder: string | undefined;
let counter = 0;

function openNameless(): number {
  if (folder === undefined || !existsSync(folder)) folder = makeTempFolder('sandbox');
  const path = join(folder, `file-${counter++}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return fd;
}

function readAll(fd: number): string {
  const bytes = Buffer.alloc(Math.min(fstatSync(fd).size, MAX_BYTES));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)).toString();
}

const MAX_BYTES = 64 * 1024;

/** Source: `dump_info` and `report_child_exit_status` of bubblewrap.c, which print JSON objects of numbers. */
function numberOf(text: string, pattern: RegExp): number | undefined {
  const [, digits] = pattern.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
