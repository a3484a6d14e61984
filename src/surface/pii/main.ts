#!/usr/bin/env node
import { requirePlatform } from '../../runtime/platform.ts';

try {
  requirePlatform();
} catch (error) {
  process.stderr.write(`signalbox-pii: ${error instanceof Error ? error.message : error}\n`);
  process.exit(2);
}
// Everything else is loaded behind the check: an older Node could not even read it.
const { enableCompileCache } = await import('node:module');
// Before anything large is loaded: a second start reads compiled code, which halves the time to begin.
enableCompileCache();
const { runProgram } = await import('./program.ts');
await runProgram();
