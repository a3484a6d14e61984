import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';

/** A path in a folder of its own, where nothing is yet. */
export function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), 'state-')), '.signalbox/state.db');
}

/** A store that is closed after the test. */
export async function openAt(file: string, options?: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore(file, options);
  onTestFinished(() => store.close());
  return store;
}

/** A process that runs an actor. */
export interface Actor {
  readonly child: ChildProcess;
  /** The next line that it says; undefined when it has ended. */
  next(): Promise<string | undefined>;
  /** All lines that it still says. */
  rest(): Promise<string[]>;
  go(): void;
  /** Ends it with SIGKILL and waits for the end; then every line that it said has been read. */
  kill(): Promise<string[]>;
}

/** Starts an actor, by way of `prefix` if there is one, such as `sh -c …`. It is ended after the test at the latest. */
export function start(args: readonly string[], prefix: readonly string[] = [], file = actor): Actor {
  const [command = '', ...words] = [...prefix, process.execPath, file, ...args];
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const closed = once(child, 'close');
  const next = async () => {
    const line = await lines.next();
    return line.done ? undefined : line.value;
  };
  const rest = async () => {
    const said: string[] = [];
    for (let line = await next(); line !== undefined; line = await next()) said.push(line);
    await closed;
    return said;
  };
  const kill = () => {
    child.kill('SIGKILL');
    return rest();
  };
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return { child, next, rest, kill, go: () => child.stdin.write('go\n') };
}

const actor = join(import.meta.dirname, 'actor.ts');

/** Starts one actor for each of these arguments, lets them go at the same moment, and collects what they say. */
export async function race(all: readonly (readonly string[])[]): Promise<string[][]> {
  const actors = all.map((args) => start(args));
  for (const one of actors) await one.next();
  for (const one of actors) one.go();
  return await Promise.all(actors.map((one) => one.rest()));
}

/** Whether a process may have file systems of its own, which need no rights on the machine. */
export const mayMount =
  process.platform === 'linux' &&
  spawnSync('unshare', [...unshare(), 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0;

/** Runs what follows with a small disk of its own at `folder`, after `commands` of the shell. */
export function withDisk(folder: string, options: string, commands = ':'): readonly string[] {
  const script = `mount -t tmpfs -o "$2" tmpfs "$1" && folder=$1 && shift 2 && ${commands} && exec "$@"`;
  return ['unshare', ...unshare(), 'sh', '-c', script, 'sh', folder, options];
}

function unshare(): readonly string[] {
  return ['--user', '--map-root-user', '--mount'];
}
