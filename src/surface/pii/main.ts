#!/usr/bin/env node
import { requirePlatform } from '../../runtime/platform.ts';

try {
  requirePlatform();
} catch (error) {
  process.stderr.write(`signalbox-pii: ${error instanceof Error ? error.message : error}\n`);
  process.exit(2);
}
// Everything else is loaded behind the check: an older Node could not even read it.
const { keepCompiledCode } = await import('../../files/compile-cache.ts');
// Before anything large is loaded: a second start reads compiled code, which halves the time to begin.
keepCompiledCode(process.env);
const [{ main }, { openOutputSink }, { stopOnSignals }] = await Promise.all([
  import('./program.ts'),
  import('../../files/output-sink.ts'),
  import('./stop.ts'),
]);
// Nothing of the error itself is shown: it may quote what was to be hidden.
process.on('uncaughtException', (error) => {
  openOutputSink(2).write(
    `signalbox-pii: [INTERNAL] it failed (${error instanceof Error ? error.name : typeof error})\n`,
  );
  process.exit(1);
});
stopOnSignals(process, () =>
  openOutputSink(2).write('signalbox-pii: [STOP_TIMEOUT] nobody read the answers\n'),
);
// Nobody reads the answers any more.
process.stdout.on('error', () => process.exit(1));
process.exitCode = await main({
  argv: process.argv.slice(2),
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  printError: (line) => openOutputSink(2).write(`${line}\n`),
  env: process.env,
});
