import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Lets `npx signalbox` find the command in a checkout, where npm links the bins of dependencies only. */
const root = join(import.meta.dirname, '../..');
const bins = join(root, 'node_modules/.bin');
const command = join(root, 'dist/surface/cli/main.js');
mkdirSync(bins, { recursive: true });
chmodSync(command, 0o755);
rmSync(join(bins, 'signalbox'), { force: true });
symlinkSync(relative(bins, command), join(bins, 'signalbox'));
