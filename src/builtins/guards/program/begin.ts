import { keepCompiledCode } from '../../../base/files/compile-cache.ts';
import type { Invocation } from './program.ts';

/** The main function of a program, with all that it needs of its process. */
export type Main = (invocation: Invocation) => Promise<0 | 1 | 2>;

/** Runs a program in this process. `load` gives its main function; what is large is loaded there. */
export async function begin(
  host: NodeJS.Process,
  name: string,
  load: () => Promise<{ readonly main: Main }>,
): Promise<void> {
  // Before anything large is loaded: a second start reads compiled code, which halves the time to begin.
  keepCompiledCode(host.env);
  const [{ main }, { openOutputSink }, { stopOnSignals }] = await Promise.all([
    load(),
    import('../../../base/files/output-sink.ts'),
    import('./stop.ts'),
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
  host.exitCode = await main({
    argv: host.argv.slice(2),
    get stdin() {
      return host.stdin;
    },
    stdout: host.stdout,
    printError: (line) => openOutputSink(2).write(`${line}\n`),
    env: host.env,
  });
}
