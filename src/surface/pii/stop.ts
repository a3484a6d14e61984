/**
 * On SIGINT, SIGTERM or SIGHUP reads no more, and exits with 130 once what was answered has been read; after ten seconds `onTimeout` is
 * called before. A second signal exits at once.
 */
export function stopOnSignals(onTimeout: () => void): void {
  let isStopping = false;
  const quit = () => process.exit(130);
  const stop = () => {
    if (isStopping) quit();
    isStopping = true;
    process.stdin.pause();
    // Every request that was read has been answered: what is left is to be written.
    process.stdout.write('', quit);
    setTimeout(() => {
      onTimeout();
      quit();
    }, STOP_MS);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
}

const STOP_MS = 10_000;
