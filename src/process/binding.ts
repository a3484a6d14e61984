import { dirname } from 'node:path';
import { followLinks, holds } from '../base/files/paths.ts';
import type { Capability } from '../contract/event.ts';
import type { VolatileFields } from './cassette/volatile-fields.ts';
import type { ProcessLimits } from './process-config.ts';

/** How a server that exited is restarted; times are milliseconds. */
export interface RestartPolicy {
  /** Pause before the second restart in a row; the first is immediate, each later pause doubles. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The exits without a good reply in between after which the circuit opens. */
  readonly circuitDeaths: number;
  readonly circuitPauseMs: number;
}

/** Where the questions of a native hook are posted to, in place of a process. */
export interface HookEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The absolute path of the certificates that its own must be of; null: those that the system trusts. */
  readonly ca: string | null;
}

/** A fully resolved config entry: every default, path, environment value and limit is final. */
export interface Binding {
  readonly name: string;
  readonly capability: Capability;
  readonly dialect: string;
  /** The members of its payloads that differ from run to run, which no recording is found by. */
  readonly volatileFields: VolatileFields;
  readonly mode: 'oneshot' | 'server';
  /** null: there is a process, and `command` starts it. */
  readonly endpoint: HookEndpoint | null;
  /** An absolute path, or a bare name that the closed environment's PATH resolves. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  /** Between SIGTERM and SIGKILL, and between the end of stdin and SIGTERM. */
  readonly graceMs: number;
  /** How long outputs are still read after the process has exited. */
  readonly drainMs: number;
  readonly maxOutputBytes: number;
  /** What happens to processes that a finished one-shot child leaves in its process group. */
  readonly leftovers: 'kill' | 'keep';
  /** Exchanges of this entry that may run at once; Infinity when only the global limit counts. */
  readonly concurrency: number;
  readonly instances: number;
  readonly warm: boolean;
  /** One-shot processes that are started ahead of their calls and wait on stdin. */
  readonly spares: number;
  /** Whether one-shot processes are forked from one that has imported what they import, where that can be. */
  readonly isForked: boolean;
  readonly restart: RestartPolicy;
  readonly limits: ProcessLimits | null;
  readonly nice: number | null;
  /** null: the process runs directly. */
  readonly sandbox: Sandbox | null;
  /** Why no process may ever start for this entry; null when it may. */
  readonly refused: string | null;
}

/** Where a process runs instead of directly: all paths are absolute. */
export type Sandbox = BubblewrapSandbox | CommandSandbox | RefusedSandbox;

/** A view of this machine of its own, made by bubblewrap. */
export interface BubblewrapSandbox {
  readonly mode: 'bubblewrap';
  readonly name: string;
  readonly program: string;
  readonly network: boolean;
  /** What may be read beside the system’s own folders: the folder of the config file among them. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** What other sandboxes of the config may write; links in it are not followed either. */
  readonly writtenElsewhere?: readonly string[];
  /** Files that stay read-only, though they may lie in what may be written: those of the config. */
  readonly fixed?: readonly string[];
  /** Files and folders that stay hidden, though they lie in what may be read. */
  readonly hide: readonly string[];
  /** Files with secrets: whatever has their names stays hidden, now and later. */
  readonly secrets?: readonly string[];
}

/** A program that the command is handed to, such as a client of containers. */
export interface CommandSandbox {
  readonly mode: 'command';
  readonly name: string;
  readonly program: string;
  /** Its arguments before the command: `${id}` stands for a name of the call, an item `${env}` for `envFlag` with each name. */
  readonly args: readonly string[];
  /** How the variables of the entry go along; `stdin` needs a POSIX shell where the command runs. */
  readonly env: 'inherit' | 'flags' | 'stdin';
  readonly envFlag: string;
  /** Names that the entry gives itself, though every process has them. */
  readonly named: readonly string[];
  /** What the program itself reads of this process’s environment, and the command does not get. */
  readonly own: Readonly<Record<string, string>>;
  /** What ends the command where it runs, with `${id}`; null: the program does so when it is ended itself. */
  readonly kill: readonly string[] | null;
}

export interface RefusedSandbox {
  readonly mode: 'refused';
  readonly name: string;
  /** As the end of a sentence about the entry. */
  readonly reason: string;
}

const sharedFolders = [
  '/',
  '/etc',
  '/home',
  '/media',
  '/mnt',
  '/opt',
  '/root',
  '/run',
  '/srv',
  '/tmp',
  '/usr',
  '/var',
  '/var/tmp',
];

/** Whether a folder holds so much, a home folder for one, that it is only shown where the file says so itself. */
export function isTooBroad(path: string, home = ''): boolean {
  return sharedFolders.includes(path) || (home !== '' && home !== '/' && holds(path, home));
}

/** The sandbox, in which a folder of the hook’s own may be written. */
export function withWritable(sandbox: Sandbox | null, path: string): Sandbox | null {
  return sandbox?.mode === 'bubblewrap' ? { ...sandbox, write: [...sandbox.write, path] } : sandbox;
}

/** Why what must stay hidden would be shown, or what must stay as it is could be replaced, as the end of a sentence about the sandbox. */
export function findExposure({
  read,
  write,
  hide,
  fixed = [],
  secrets = [],
}: BubblewrapSandbox): string | undefined {
  const written = write.map(followLinks);
  const shown = [...read, ...write].map((path) => ({ path, real: followLinks(path) }));
  // A folder that stands deeper in what may be written goes along when one above it is moved.
  const findMovable = (real: string) =>
    written.find((path) => path !== real && holds(path, real) && dirname(real) !== path);
  for (const hidden of [...hide, ...secrets]) {
    const same = shown.find(({ real }) => real === followLinks(hidden));
    const what = hide.includes(hidden) ? 'Signalbox keeps its state' : 'a secret stands';
    if (same !== undefined) return `it shows ${same.path}, in which ${what}`;
  }
  for (const secret of secrets) {
    const folders = [followLinks(dirname(secret)), dirname(followLinks(secret))];
    const open = written.find((path) => folders.includes(path));
    if (open !== undefined)
      return `it may write ${open}, in which ${secret} stands: what takes the place of that secret would be seen`;
  }
  for (const kept of [...hide, ...secrets.map((path) => dirname(path)), ...fixed].map(followLinks)) {
    const movable = findMovable(kept);
    if (movable === undefined) continue;
    const what = fixed.map(followLinks).includes(kept) ? 'is this config' : 'stays hidden';
    return `it may write ${movable}, and so move away what ${what} at ${kept}`;
  }
  return undefined;
}

export interface HttpBinding {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly secrets: readonly string[];
}
