import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { hasPostgres, startServer, type TestServer } from './server.ts';

/** Whether this machine allows a network namespace with Postgres in it. */
export const mayCut =
  hasPostgres &&
  process.platform === 'linux' &&
  spawnSync('unshare', ['--net', 'sh', '-c', 'ip link set lo up && nsenter --version && setpriv --version'])
    .status === 0;

/** A network whose loss sends neither FIN nor RST. */
export interface CutNetwork {
  /** The command prefix that starts a program inside. */
  readonly inside: readonly string[];
  /** A server inside, reachable from outside over its socket. */
  startServer(): Promise<TestServer>;
  cut(): void;
  remove(): Promise<void>;
}

export function openNetwork(): CutNetwork {
  const holder = spawn('unshare', ['--net', 'sleep', '600'], { stdio: 'ignore' });
  const inside = ['nsenter', '-t', `${holder.pid}`, '-n'];
  const set = (state: 'up' | 'down') =>
    spawnSync(inside[0] ?? '', [...inside.slice(1), 'ip', 'link', 'set', 'lo', state]);
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  return {
    inside,
    startServer: async () => {
      set('up');
      return await startServer({ prefix: [...inside, ...nobody] });
    },
    cut: () => void set('down'),
    remove: async () => {
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    },
  };
}
