#!/usr/bin/env node
import { refusePlatform } from './process/refuse-platform.ts';

// Everything else is loaded behind the check: an older Node could not even read it.
if (!refusePlatform()) {
  const { enableCompileCache } = await import('node:module');
  // Before anything large is loaded: a second start reads compiled code, which halves the time to begin.
  enableCompileCache();
  const { runProcess } = await import('./process/run.ts');
  await runProcess();
}
