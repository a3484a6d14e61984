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

/** Opens what the sandbox shows of this machine to the request. Throws an Error that says why it must not, or cannot, be shown. */
function openMounts(sandbox: BubblewrapSandbox, request: LaunchRequest): OpenedMounts {
  const opener = new Opener(sandbox);
  try {
    return { mounts: opener.mounts(request), close: () => opener.close() };
  } catch (error) {
    opener.close();
    throw error;
  }
}

/** A folder or file that is shown by a name that the config gives it. */
interface Shown extends OpenedPath {
  readonly path: string;
  readonly as: 'read' | 'write';
}

class Opener {
  readonly #sandbox: BubblewrapSandbox;
  /** Folders whose links may be those of a sandboxed process. */
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
    // Where it starts is what the config names, and no place that a link of its own leads to.
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

  /** Links of a program lead to what it cannot do without, unless a sandboxed process may have made them. */
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

  /** Undefined where there is nothing, or nothing that may be followed: bwrap then says that it is not there. */
  #tryOpen(path: string): OpenedPath | undefined {
    try {
      return this.#open(path);
    } catch {
      return undefined;
    }
  }

  #hiddenFolder(path: string, shown: readonly Shown[]): Mount[] {
    return placesOf(path, shown).flatMap(({ place, shows }): Mount[] => {
      // Otherwise what runs inside could make it, and have its own state read as ours.
      if (shows.as === 'write' && !statSync(place, { throwIfNoEntry: false }))
        mkdirSync(place, { recursive: true, mode: 0o700 });
      if (!statSync(place, { throwIfNoEntry: false })) return [];
      this.#open(place);
      return [{ path: place, as: 'hidden' }];
    });
  }

  /**
   * Shows the folders of secret files entry by entry, without those files. A file that takes the place of a secret later is not
   * shown then either, while a mount on the secret itself would go with its old file.
   */
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
        return []; // It has gone since.
      }
    });
  }
}

/** Each mount of these costs bwrap a look at all others. */
const MAX_ENTRIES = 512;

/** Where in what is shown, by whichever name, a path stands. */
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

/** A file or folder that stays the same one, whatever is moved or linked at its path. */
interface OpenedPath {
  /** Of a kind that reads nothing (O_PATH); whoever opened it closes it. */
  readonly fd: number;
  /** The path without links. */
  readonly real: string;
  readonly isFolder: boolean;
}

/**
 * Opens a path step by step. A link that stands in one of the `writable` folders, or below, is not followed: a sandboxed process
 * may have made it. Throws an Error that says why not.
 */
export function openPath(path: string, writable: readonly string[]): OpenedPath {
  let names = namesOf(path);
  let real = '/';
  let fd = openSync('/', O_PATH);
  try {
    for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
      // Relative to the descriptor, so that nobody can put another folder in the place of the one that was looked at.
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
        throw new Error(`${join(real, name)} is a link, and a sandboxed process may write where it stands`);
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

/** Source: <asm-generic/fcntl.h>; Node does not export it. The same on every architecture that Node runs on. */
const O_PATH = 0o10000000;
/** Source: MAXSYMLINKS of the kernel. */
const MAX_LINKS = 40;

/**
 * Starts bwrap with the request; what it is to show is opened for this start, and stays the same whatever happens at its paths
 * meanwhile. Throws SANDBOX_FAILED, and what `launch` throws.
 */
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
    throw sandboxError(
      entry,
      sandbox,
      `the system calls of ${process.arch} that must be refused are not known`,
    );
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

/** What every sandbox lacks: other processes, capabilities, new privileges, namespaces of its own making, the terminal, keyrings. */
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

/**
 * The arguments of bwrap for the request. The environment is not among them, so that no value is seen by who lists processes: bwrap
 * hands on its own, but for what its own loader would obey.
 */
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
function bubblewrapEnvironment(env: LaunchRequest['env']): LaunchRequest['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isObeyed(name)));
}

/** Whether glibc's loader or its libraries load code or files by the variable. Source: `unsecvars.h` of glibc. */
function isObeyed(name: string): boolean {
  return /^(?:LD_|MALLOC_)|^(?:GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NLSPATH|RESOLV_HOST_CONF|TZDIR)$/.test(name);
}

/** How the kernel names an architecture, and the numbers of its calls. Source: <linux/audit.h>, and the tables of syscalls. */
interface Abi {
  readonly audit: number;
  /** add_key, request_key, keyctl. */
  readonly calls: readonly number[];
}

const generic = [217, 218, 219] as const;
const x86_64: Abi = { audit: 0xc000003e, calls: [248, 249, 250, ...x32([248, 249, 250])] };
const i386: Abi = { audit: 0x40000003, calls: [286, 287, 288] };
const arm: Abi = { audit: 0x40000028, calls: [309, 310, 311] };

/** By Node's name, with those that the same kernel runs as well. */
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

/**
 * A program for seccomp that refuses keyrings (EPERM): a process has those of who started it. A call of another architecture than this
 * one's is refused, too. Undefined where the numbers are not known.
 */
function keyringFilter(architecture: string = process.arch): Buffer | undefined {
  const known = abis[architecture];
  if (known === undefined) return undefined;
  const rules = known.flatMap(({ audit, calls }) => [
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    // Not this architecture: on to the next one's rules.
    [IF_EQUAL, 0, calls.length + 3, audit],
    [LOAD, 0, 0, NUMBER_OFFSET],
    ...calls.map((call, index) => [IF_EQUAL, calls.length - index, 0, call]),
    [ANSWER, 0, 0, ALLOW],
    [ANSWER, 0, 0, REFUSE],
  ]);
  return Buffer.concat([...rules, [ANSWER, 0, 0, REFUSE]].map(encode));
}

/** Source: struct sock_filter of <linux/filter.h>, in the byte order of this machine. */
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

/** SANDBOX_FAILED: nothing was run, since its sandbox cannot be had or does not show it. */
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

/** A nameless file in which bwrap tells how far it got. */
export interface StatusFile {
  readonly fd: number;
  readonly isOpen: boolean;
  /** The process that leads the group of everything inside, in our numbers; undefined until it has been started. */
  child(): number | undefined;
  /** What the command exited with, 128 more than the number of a signal; undefined until then, and where it never ran. */
  exitCode(): number | undefined;
  close(): void;
}

/** Makes a status file. Throws what the system says. */
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

/** A nameless file with that content, which is read from its start. Throws what the system says. */
function openDataFile(content: Uint8Array): number {
  const fd = openNameless();
  // At its place, so that the position of the descriptor stays at the start.
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

/** Two short lines are written. */
const MAX_BYTES = 64 * 1024;

/** Source: `dump_info` and `report_child_exit_status` of bubblewrap.c, whose lines are JSON objects of numbers. */
function numberOf(text: string, pattern: RegExp): number | undefined {
  const [, digits] = pattern.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
