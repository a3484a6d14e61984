import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawPictures } from './draw.ts';

// Writes docs/pictures/*.svg from the sources of this folder.

const folder = join(import.meta.dirname, '../../docs/pictures');
mkdirSync(folder, { recursive: true });
for (const [file, svg] of await drawPictures()) writeFileSync(join(folder, file), svg);
