import { spawnSync } from 'node:child_process';

/** Runs what follows where no file can be watched any more. */
export function withoutWatches(): readonly string[] {
  const script = 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"';
  return ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
}

/** Whether a process may be denied watches here, which needs no rights on the machine. */
export const mayLimitWatches = process.platform === 'linux' && isGiven();

function isGiven(): boolean {
  const [command = '', ...args] = [...withoutWatches(), 'true'];
  return spawnSync(command, args).status === 0;
}
