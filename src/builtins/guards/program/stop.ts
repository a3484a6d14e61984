/**
 * On SIGINT, SIGTERM or SIGHUP reads no more, and exits with 130 once what was answered has been read; after ten seconds `onTimeout` is
 * called before. A second signal exits at once.
 */
export function stopOnSignals(host: Host, onTimeout: () => void): void {
  let isStopping = false;
  const quit = () => host.exit(130);
  const stop = () => {
    if (isStopping) quit();
    isStopping = true;
    host.stdin.pause();
    // Every request that was read has been answered: what is left is to be written.
    host.stdout.write('', quit);
    setTimeout(() => {
      onTimeout();
      quit();
    }, STOP_MS);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(name, stop);
}

/** What of the process is needed to end it. */
type Host = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'on' | 'exit'>;

const STOP_MS = 10_000;
