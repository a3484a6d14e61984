import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../store/postgres/server.ts';

/** A Restate server of the tests' own. */
export interface RestateServer {
  readonly url: string;
  readonly adminUrl: string;
  stop(): Promise<void>;
}

const binary = findBinary();

/** Whether this machine can have a Restate server; the end of a title that says so. */
export const hasRestate = binary !== undefined;
export const unlessRestate = hasRestate
  ? ''
  : ' (skipped: @restatedev/restate-server has no binary for this machine)';

function findBinary(): string | undefined {
  const { platform, arch } = process;
  try {
    const installed = createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json');
    const file = join(dirname(installed), `../restate-server-${platform}-${arch}/bin/restate-server`);
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

export async function startRestate(): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(binary ?? '', [], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      RESTATE_BASE_DIR: join(folder, 'data'),
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256MB',
    },
  });
  const adminUrl = `http://127.0.0.1:${admin}`;
  await untilHealthy(adminUrl, child);
  return {
    url: `http://127.0.0.1:${ingress}`,
    adminUrl,
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilHealthy(adminUrl: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries += 1) {
    const isUp = await fetch(`${adminUrl}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(100);
  }
  throw new Error(`the Restate server does not start (${child.exitCode})`);
}
