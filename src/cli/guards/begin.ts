import { keepCompiledCode } from '../../base/files/compile-cache.ts';
import { type GuardName, guards } from '../../builtins/guards/guards.ts';

/** Runs a guard with all that it needs of its process. */
export async function begin(host: NodeJS.Process, name: GuardName): Promise<void> {
  // Before anything large is loaded: a second start reads compiled code, which halves the time to begin.
  keepCompiledCode(host.env);
  const [{ runGuard }, { openOutputSink }] = await Promise.all([
    import('./run.ts'),
    import('../../base/files/output-sink.ts'),
    guards[name](),
  ]);
  // Nothing of the error itself is shown: it may quote what was to be hidden.
  host.on('uncaughtException', (error) => {
    const kind = error instanceof Error ? error.name : typeof error;
    openOutputSink(2).write(`${name}: [INTERNAL] it failed (${kind})\n`);
    host.exit(1);
  });
  stopOnSignals(host, () => openOutputSink(2).write(`${name}: [STOP_TIMEOUT] nobody read the answers\n`));
  // Nobody reads the answers any more.
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
 * On SIGINT, SIGTERM or SIGHUP reads no more, and exits with 130 once what was answered has been read; after ten seconds `onTimeout` is
 * called before. A second signal exits at once.
 */
function stopOnSignals(host: NodeJS.Process, onTimeout: () => void): void {
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
    }, 10_000);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(name, stop);
}
