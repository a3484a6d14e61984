import { openLauncher } from '../../src/process/launch/native.ts';
import { startProcess } from '../../src/process/process.ts';
import { bind } from './harness.ts';

// A program that exits during a call. The processes that it started must not survive.
const child = await startProcess(
  bind('hang.sh'),
  { launch: await openLauncher('auto'), emit: () => {} },
  new Uint8Array(),
);
process.stdout.write(`${JSON.stringify({ pid: child.pid })}\n`, () => process.exit(0));
