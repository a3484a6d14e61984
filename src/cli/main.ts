#!/usr/bin/env node
import { refusePlatform } from './process/refuse-platform.ts';

// Imports everything else after the check, because an older Node could not parse it.
if (!refusePlatform()) {
  const { begin } = await import('./process/begin.ts');
  await begin();
}
