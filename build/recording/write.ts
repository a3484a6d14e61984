import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordTerminal } from './record.ts';

// Writes the recording at the top of README.md. It needs `npm run build` and Python 3.

writeFileSync(join(import.meta.dirname, '../../docs/pictures/first-run.svg'), recordTerminal());
