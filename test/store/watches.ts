import { spawnSync } from 'node:child_process';

/** A command prefix under which no file can be watched. */
export function withoutWatches(): readonly string[] {
  const script = 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"';
  return ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
}

/** Whether this machine can deny watches to a process without extra rights. */
export const mayLimitWatches = process.platform === 'linux' && isGiven();

function isGiven(): boolean {
  const [command = '', ...args] = [...withoutWatches(), 'true'];
  return spawnSync(command, args).status === 0;
}
