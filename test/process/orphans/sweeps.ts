import { sweepOrphans } from '../../../src/process/orphans/sweep-orphans.ts';

const keepsRunning = setInterval(() => {}, 60_000);
process.stdout.write('begun\n');
await sweepOrphans();
clearInterval(keepsRunning);
process.stdout.write('done\n');
