import { openLauncher } from '../../src/process/launch/native.ts';
import { openOneshot } from '../../src/process/oneshot.ts';
import { bind } from './harness.ts';

// Run it with --expose-gc. Prints how many bytes of each call the collections of young objects kept.
const calls = 600;
const transport = openOneshot(bind('/bin/echo', { args: ['{}'] }), {
  launch: await openLauncher('native'),
  emit: () => {},
});
const call = async (count: number) => {
  for (let made = 0; made < count; made++) await transport.exchange({ method: 'execute', body: '{}' });
};
const collect = () => globalThis.gc?.({ type: 'minor', execution: 'sync' });
const heapBytes = async () => {
  // What survives two collections of young objects is old.
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
};

await call(20);
const before = await heapBytes();
for (let round = 0; round < 6; round++) {
  await Promise.all(Array.from({ length: 8 }, () => call(calls / 48 + 1)));
  collect();
}
console.log(Math.round(((await heapBytes()) - before) / calls));
await transport.close();
process.exit();
