import { dirname } from 'node:path';
import { followLinks, holds } from '../base/files/paths.ts';
import type { Capability } from '../contract/event.ts';
import type { VolatileFields } from './cassette/volatile-fields.ts';
import type { ProcessLimits } from './process-config.ts';

export interface RestartPolicy {
  /** The first restart is immediate; this is the delay before the second. Each later delay doubles. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The number of consecutive exits without a good reply after which the circuit opens. */
  readonly circuitDeaths: number;
  readonly circuitPauseMs: number;
}

export interface HookEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The absolute path of the CA certificates for this endpoint; null: the system's certificates. */
  readonly ca: string | null;
  /** Entries of `spec.private_hosts`. */
  readonly privateHosts: readonly string[];
}

export interface Binding {
  readonly name: string;
  readonly capability: Capability;
  readonly dialect: string;
  /** Payload fields that vary between runs; the lookup of a recording ignores them. */
  readonly volatileFields: VolatileFields;
  readonly mode: 'oneshot' | 'server';
  readonly endpoint: HookEndpoint | null;
  /** An absolute path, or a bare name that the closed environment's PATH resolves. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  /** The time between the end of stdin and SIGTERM, and between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly drainMs: number;
  readonly maxOutputBytes: number;
  /** Whether processes that a finished one-shot child leaves in its process group are killed. */
  readonly leftovers: 'kill' | 'keep';
  /** The maximum number of concurrent exchanges; Infinity: only the global limit applies. */
  readonly concurrency: number;
  readonly instances: number;
  readonly warm: boolean;
  readonly spares: number;
  readonly isForked: boolean;
  readonly restart: RestartPolicy;
  readonly limits: ProcessLimits | null;
  readonly nice: number | null;
  readonly sandbox: Sandbox | null;
  readonly refused: string | null;
}

/** All paths are absolute. */
export type Sandbox = BubblewrapSandbox | CommandSandbox | RefusedSandbox;

export interface BubblewrapSandbox {
  readonly mode: 'bubblewrap';
  readonly name: string;
  readonly program: string;
  readonly network: boolean;
  /** Readable paths besides the system folders, including the folder of the config file. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly writtenElsewhere?: readonly string[];
  /** The config files. They stay read-only even inside a writable folder. */
  readonly fixed?: readonly string[];
  /** Files and folders that stay hidden even inside a readable folder. */
  readonly hide: readonly string[];
  /** Files with secrets. Every file at one of these paths stays hidden, including one created later. */
  readonly secrets?: readonly string[];
}

export interface CommandSandbox {
  readonly mode: 'command';
  readonly name: string;
  readonly program: string;
  /** `${id}` is replaced by an id of the call; an item `${env}` becomes `envFlag` with each name. */
  readonly args: readonly string[];
  /** How the entry's variables are passed. `stdin` requires a POSIX shell where the command runs. */
  readonly env: 'inherit' | 'flags' | 'stdin';
  readonly envFlag: string;
  readonly named: readonly string[];
  /** Variables of this process that the program reads and the command does not get. */
  readonly own: Readonly<Record<string, string>>;
  /** The command that ends the sandboxed command, with `${id}`; null: ending the program is enough. */
  readonly kill: readonly string[] | null;
}

export interface RefusedSandbox {
  readonly mode: 'refused';
  readonly name: string;
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

/** Whether a folder holds so much that only an explicit setting may show it. */
export function isTooBroad(path: string, home = ''): boolean {
  return sharedFolders.includes(path) || (home !== '' && home !== '/' && holds(path, home));
}

export function withWritable(sandbox: Sandbox | null, path: string): Sandbox | null {
  return sandbox?.mode === 'bubblewrap' ? { ...sandbox, write: [...sandbox.write, path] } : sandbox;
}

/** Returns the end of a sentence: why hidden paths would be visible, or fixed files replaceable. */
export function findExposure({
  read,
  write,
  hide,
  fixed = [],
  secrets = [],
}: BubblewrapSandbox): string | undefined {
  const written = write.map(followLinks);
  const shown = [...read, ...write].map((path) => ({ path, real: followLinks(path) }));
  const findMovable = (real: string) =>
    written.find((path) => path !== real && holds(path, real) && dirname(real) !== path);
  for (const hidden of [...hide, ...secrets]) {
    const same = shown.find(({ real }) => real === followLinks(hidden));
    const what = hide.includes(hidden) ? 'where Signalbox keeps its state' : 'which contains a secret';
    if (same !== undefined) return `it shows ${same.path}, ${what}`;
  }
  for (const secret of secrets) {
    const folders = [followLinks(dirname(secret)), dirname(followLinks(secret))];
    const open = written.find((path) => folders.includes(path));
    if (open !== undefined)
      return `it may write ${open}, which contains the secret ${secret}: a file that takes its place would be visible`;
  }
  for (const kept of [...hide, ...secrets.map((path) => dirname(path)), ...fixed].map(followLinks)) {
    const movable = findMovable(kept);
    if (movable === undefined) continue;
    const what = fixed.map(followLinks).includes(kept) ? 'this config' : 'what is hidden';
    return `it may write ${movable}, and so move ${what} at ${kept}`;
  }
  return undefined;
}

export interface HttpBinding {
  readonly name: string;
  readonly url: string;
  readonly privateHosts: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly secrets: readonly string[];
}
