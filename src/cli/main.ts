#!/usr/bin/env node
import { refusePlatform } from './process/refuse-platform.ts';

// Everything else is loaded behind the check: an older Node could not even read it.
if (!refusePlatform()) {
  const { begin } = await import('./process/begin.ts');
  await begin();
}
