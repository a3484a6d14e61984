#!/usr/bin/env node
import { requirePlatform } from '../../../base/platform.ts';

try {
  requirePlatform();
} catch (error) {
  process.stderr.write(`signalbox-links: ${error instanceof Error ? error.message : error}\n`);
  process.exit(2);
}
// Everything else is loaded behind the check: an older Node could not even read it.
const { begin } = await import('../../../builtins/guards/program/begin.ts');
await begin(process, 'signalbox-links', () => import('./program.ts'));
