import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Stores the output of the built program's --help, so that --help does not load the program.
const cli = join(import.meta.dirname, '../dist/cli');
const kept = join(cli, 'process/help.txt');
mkdirSync(join(cli, 'process'), { recursive: true });
rmSync(kept, { force: true });
const help = execFileSync(process.execPath, [join(cli, 'main.js'), '--help'], { encoding: 'utf8' });
writeFileSync(`${kept}.${process.pid}`, help);
renameSync(`${kept}.${process.pid}`, kept);
