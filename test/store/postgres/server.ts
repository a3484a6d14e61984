import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Address, readAddress } from '../../../src/store/postgres/connection/address.ts';

const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
const debian = versions.map((version) => `/usr/lib/postgresql/${version}/bin`);
/** The folder of another Postgres version than Debian's. */
const chosen = process.env['POSTGRES_BIN'];
const binaries = (chosen === undefined ? debian : [chosen]).findLast((folder) =>
  existsSync(join(folder, 'initdb')),
);

/** Whether this machine has Debian's Postgres, and the title of the test group. */
export const hasPostgres = binaries !== undefined;
export const unlessMissing = hasPostgres ? '' : ' (skipped: there is no /usr/lib/postgresql/*/bin/initdb)';

export function programOf(name: string): string {
  return join(binaries ?? '', name);
}

/** Whose clock expires calls: the server's or, for tests that pass times, the caller's. */
type Clock = 'server' | 'caller';

export interface TestServer {
  readonly port: number;
  readonly folder: string;
  /** The address of a new database without tables: over the socket, or over TCP with a password. */
  newUrl(by?: 'socket' | 'tcp', clock?: Clock): Promise<string>;
  /** The socket address of the emptied database for `name`, which uses the caller's clock. */
  emptyUrl(name: string): Promise<string>;
  socketUrl(name: string): string;
  /** Runs a statement as superuser and returns its rows. */
  ask(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  start(): Promise<void>;
  /** `immediate` acts like a power failure; `fast` ends all clients first. */
  stop(how?: 'immediate' | 'fast'): Promise<void>;
  remove(): Promise<void>;
}

export const password = 'p@ss/wörd-of-the-tests';

export interface ServerOptions {
  /** A command prefix that starts the server as root and drops privileges. */
  readonly prefix?: readonly string[];
  /** Additional settings. The defaults give up durability for speed. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The parent of its folder. Default: a file system in memory, if there is one. */
  readonly parent?: string;
}

const inMemory = existsSync('/dev/shm') ? '/dev/shm' : '/tmp';

/** Creates and starts a server without durability, which no test relies on. */
export async function startServer({
  prefix = [],
  settings = {},
  parent = inMemory,
}: ServerOptions = {}): Promise<TestServer> {
  // Postgres refuses to run as root, and other users cannot enter the folder for temporary files.
  const isRoot = process.getuid?.() === 0;
  const owner = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const folder = mkdtempSync(join(parent, 'signalbox-pg-'));
  const [data, log, secret] = [join(folder, 'data'), join(folder, 'log'), join(folder, 'secret')];
  writeFileSync(secret, password);
  if (isRoot) for (const path of [folder, secret]) chownSync(path, NOBODY, NOBODY);
  const made = ['-D', data, '-U', 'tester', '--locale=C', '-E', 'UTF8', '-N'];
  const auth = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${secret}`];
  const env = { PATH: process.env['PATH'] ?? '', TZ: 'UTC' };
  execFileSync(programOf('initdb'), [...made, ...auth], { ...owner, env, stdio: 'ignore', cwd: '/' });
  const port = await freePort();
  let child: ChildProcess | undefined;
  let count = 0;
  const ask = async (sql: string, database = 'postgres') => {
    const client = new Client({ host: folder, port, user: 'tester', database });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async () => {
    const options = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: folder,
      ...forgetful,
      ...settings,
    };
    const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const output = openSync(log, 'a');
    const [command = '', ...args] = [...prefix, programOf('postgres'), '-D', data, '-p', `${port}`, ...flags];
    const user = prefix.length === 0 ? owner : {};
    child = spawn(command, args, { ...user, env, cwd: '/', stdio: ['ignore', output, output] });
    for (let tries = 0; tries < 400; tries++) {
      try {
        return void (await ask('SELECT 1'));
      } catch {
        await sleep(50);
      }
    }
    throw new Error(`Postgres does not start: ${readFileSync(log, 'utf8').slice(-2_000)}`);
  };
  const stop = async (how: 'immediate' | 'fast' = 'immediate') => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    running.kill(how === 'immediate' ? 'SIGQUIT' : 'SIGINT');
    await once(running, 'exit');
  };
  await start();
  const urlOf = (name: string) =>
    `postgres:///${name}?host=${encodeURIComponent(folder)}&port=${port}&user=tester`;
  const known = new Set<string>();
  const create = async (name: string, clock: Clock) => {
    await ask(`CREATE DATABASE ${name}`);
    if (clock === 'caller') await ask(`ALTER DATABASE ${name} SET signalbox.clock = 'caller'`);
  };
  return {
    ...{ port, folder, ask, start, stop, socketUrl: urlOf },
    // Creating a database takes half a second.
    emptyUrl: async (name) => {
      if (known.has(name)) await ask(removeAll, name);
      else await create(name, 'caller');
      known.add(name);
      return urlOf(name);
    },
    newUrl: async (by = 'socket', clock = 'server') => {
      count += 1;
      const name = `t${count}`;
      await create(name, clock);
      return by === 'socket'
        ? urlOf(name)
        : `postgres://tester:${encodeURIComponent(password)}@127.0.0.1:${port}/${name}`;
    },
    remove: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const NOBODY = 65_534;

const removeAll = [
  'runs',
  'call_identities',
  'pins',
  'claims',
  'holders',
  'gateway_keys',
  'gateway_usage',
  'gateway_rates',
  'gateway_leases',
  'gateway_replicas',
]
  .map((table) => `DELETE FROM signalbox.${table}`)
  .join('; ');

const forgetful = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
  max_connections: 60,
  autovacuum: 'off',
  log_min_messages: 'fatal',
};

export function addressOf(url: string): Address {
  return readAddress('DATABASE_URL', { DATABASE_URL: url });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
