import { openSink } from '../../src/files/sink.ts';

// Writes more to stderr than any pipe holds, then says on stdout that it is done.
const lines = Number(process.argv[2]);
const sink = openSink(2);
for (let line = 0; line < lines; line++) sink.write(`${String(line).padStart(1023, '0')}\n`);
process.stdout.write('done\n');
