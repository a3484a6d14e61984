import { keepCompiledCode } from '../../base/files/compile-cache.ts';
import { type GuardName, guards } from '../../builtins/guards/guards.ts';

export async function begin(host: NodeJS.Process, name: GuardName): Promise<void> {
  // Must run before large imports: cached compiled code halves the start-up time.
  keepCompiledCode(host.env);
  const [{ runGuard }, { openOutputSink }] = await Promise.all([
    import('./run.ts'),
    import('../../base/files/output-sink.ts'),
    guards[name](),
  ]);
  // The error itself may quote the data to hide.
  host.on('uncaughtException', (error) => {
    const kind = error instanceof Error ? error.name : typeof error;
    openOutputSink(2).write(`${name}: [INTERNAL] the guard failed (${kind})\n`);
    host.exit(1);
  });
  stopOnSignals(host, () =>
    openOutputSink(2).write(`${name}: [STOP_TIMEOUT] the answers were not read in time\n`),
  );
  host.stdout.on('error', () => host.exit(1));
  host.exitCode = await runGuard(name, {
    argv: host.argv.slice(2),
    get stdin() {
      return host.stdin;
    },
    stdout: host.stdout,
    printError: (line) => openOutputSink(2).write(`${line}\n`),
    env: host.env,
  });
}

/**
 * SIGINT, SIGTERM or SIGHUP stops reading, and exits with 130 once the answers are flushed. Calls `onTimeout` and exits
 * after ten seconds. A second signal exits at once.
 */
function stopOnSignals(host: NodeJS.Process, onTimeout: () => void): void {
  let isStopping = false;
  const quit = () => host.exit(130);
  const stop = () => {
    if (isStopping) quit();
    isStopping = true;
    host.stdin.pause();
    host.stdout.write('', quit);
    setTimeout(() => {
      onTimeout();
      quit();
    }, 10_000);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(name, stop);
}
