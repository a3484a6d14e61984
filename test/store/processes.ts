import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { digestOfPin } from '../../src/store/pins.ts';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';

export function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), 'state-')), '.signalbox/state.db');
}

export async function openAt(file: string, options?: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore(file, options);
  onTestFinished(() => store.close());
  return store;
}

export interface Actor {
  readonly child: ChildProcess;
  next(): Promise<string | undefined>;
  rest(): Promise<string[]>;
  go(): void;
  /** Kills it with SIGKILL, waits for its end and returns its remaining lines. */
  kill(): Promise<string[]>;
}

/** Starts an actor, with `prefix` such as `sh -c …` before its command. It is killed after the test. */
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

/** Starts an actor for each argument list, releases all at the same moment and collects their output. */
export async function race(all: readonly (readonly string[])[]): Promise<string[][]> {
  const actors = all.map((args) => start(args));
  for (const one of actors) await one.next();
  for (const one of actors) one.go();
  return await Promise.all(actors.map((one) => one.rest()));
}

/** Processes that pin, all at once: their answers at first sight, and then when each of them accepts its own text. */
export async function racePins(place: string, count: number) {
  const names = Array.from({ length: count }, (_, index) => `person ${index}`);
  const ask = async (...more: string[]) =>
    (await race(names.map((name) => ['pin', place, name, ...more]))).map((lines) => JSON.parse(lines.join()));
  const first = await ask();
  const accepted = await ask(digestOfPin(first[0].pin));
  return { first, winners: accepted.filter(({ pin }) => pin !== null) };
}

/** Whether a process may mount its own file systems, without extra rights. */
export const mayMount =
  process.platform === 'linux' &&
  spawnSync('unshare', [...unshare(), 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0;

/** A prefix that mounts a small disk at `folder`, then runs the shell `commands`. */
export function withDisk(folder: string, options: string, commands = ':'): readonly string[] {
  const script = `mount -t tmpfs -o "$2" tmpfs "$1" && folder=$1 && shift 2 && ${commands} && exec "$@"`;
  return ['unshare', ...unshare(), 'sh', '-c', script, 'sh', folder, options];
}

function unshare(): readonly string[] {
  return ['--user', '--map-root-user', '--mount'];
}
