import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemas } from '../../src/config/schema.ts';

/** Writes schema/*.json from the code; test/config/schema.test.ts fails when they differ. */
const folder = join(import.meta.dirname, '../../schema');
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(join(folder, name), `${JSON.stringify(schema, null, 2)}\n`);
}
