import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort, NOBODY } from './server.ts';

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));

/** Whether this machine has Debian's PgBouncer, and the title of the test group. */
export const hasPgbouncer = program !== undefined;
export const unlessNoPgbouncer = hasPgbouncer ? '' : ' (skipped: there is no pgbouncer)';

/** Starts a pooler before a server's databases and stops it after the test. Returns its port. */
export async function startPgbouncer(
  { folder, port: behind }: { readonly folder: string; readonly port: number },
  mode: 'session' | 'transaction' | 'statement',
): Promise<number> {
  const own = mkdtempSync('/tmp/signalbox-pgbouncer-');
  const port = await freePort();
  const [settings, log] = [join(own, 'pgbouncer.ini'), join(own, 'log')];
  writeFileSync(
    settings,
    `[databases]
* = host=${folder} port=${behind} user=tester
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
logfile = ${log}
`,
  );
  // PgBouncer refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [own, settings]) chownSync(path, NOBODY, NOBODY);
  const owner = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program ?? '', [settings], { ...owner, stdio: 'ignore', cwd: '/' });
  onTestFinished(async () => {
    await end(child);
    rmSync(own, { recursive: true, force: true });
  });
  for (let tries = 0; tries < 200; tries += 1) {
    if (await answers(port)) return port;
    await sleep(25);
  }
  throw new Error(`PgBouncer does not start: ${existsSync(log) ? readFileSync(log, 'utf8') : 'no log'}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGQUIT');
  await once(child, 'exit');
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
