import { openLauncher } from '../../src/process/launch/native.ts';
import { startProcess } from '../../src/process/process.ts';
import { bind } from './harness.ts';

// A program that ends in the middle of a call: what it started must not stay behind.
const child = await startProcess(
  bind('hang.sh'),
  { launch: await openLauncher('auto'), emit: () => {} },
  new Uint8Array(),
);
process.stdout.write(`${JSON.stringify({ pid: child.pid })}\n`, () => process.exit(0));
