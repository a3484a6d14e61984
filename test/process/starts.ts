import { type LauncherName, openLauncher } from '../../src/process/launch/native.ts';
import { startProcess } from '../../src/process/process.ts';
import { bind } from './harness.ts';

// A program that starts processes forever, eight at once. None of them ends by itself.
const launcher: LauncherName = process.argv[2] === 'portable' ? 'portable' : 'native';
const context = { launch: await openLauncher(launcher), emit: () => {} };
const start = () => startProcess(bind('hang-ignoring-term.sh'), context, new Uint8Array());

for (let round = 0; round < 12; round++) {
  const starting = Array.from({ length: 8 }, start);
  if (round === 1) process.stdout.write('starting\n');
  await Promise.all(starting);
}
setInterval(() => {}, 60_000);
