import { parseArgs } from 'node:util';
import { storm } from './storm.ts';

// npm run pendings [-- --pendings 10000 --processes 8 --every 1000]: processes take and decide pending calls while they
// are killed.
const { values } = parseArgs({
  options: {
    pendings: { type: 'string', default: '10000' },
    processes: { type: 'string', default: '8' },
    every: { type: 'string', default: '1000' },
  },
});

const { seconds, kills, counts, faults } = await storm({
  pendings: Number(values.pendings),
  processes: Number(values.processes),
  killEveryMs: Number(values.every),
  minKills: 1,
  onProgress: (text) => void process.stderr.write(`\r${text}`),
});
process.stderr.write('\n');
process.stdout.write(`${JSON.stringify({ seconds: Math.round(seconds), kills, ...counts }, null, 2)}\n`);
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
