import { openOutputSink } from '../../../src/base/files/output-sink.ts';

// Writes more to stderr than any pipe holds, then reports on stdout.
const lines = Number(process.argv[2]);
const sink = openOutputSink(2);
for (let line = 0; line < lines; line++) sink.write(`${String(line).padStart(1023, '0')}\n`);
process.stdout.write('done\n');
