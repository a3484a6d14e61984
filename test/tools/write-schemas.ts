import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemas } from '../../src/config/schema.ts';
import { toOpenApi } from '../../src/console/api/openapi.ts';
import { pipelineSchema } from '../../src/pipelines/file/schema.ts';
import { suiteSchema } from '../../src/suites/file/schema.ts';
import { renderApiReference } from './api-reference.ts';
import { renderCheckReference } from './check-reference.ts';
import { renderReference } from './reference.ts';

/** Generates schema/*.json, and docs/reference/config.md, checks.md and http-api.md. Tests fail if they differ. */
const folder = join(import.meta.dirname, '../../schema');
mkdirSync(folder, { recursive: true });
const published = {
  ...schemas,
  'suite.schema.json': suiteSchema,
  'pipeline.schema.json': pipelineSchema,
  'openapi.json': toOpenApi(),
};
for (const [name, schema] of Object.entries(published)) {
  writeFileSync(join(folder, name), `${JSON.stringify(schema, null, 2)}\n`);
}
writeFileSync(join(folder, '../docs/reference/config.md'), renderReference());
writeFileSync(join(folder, '../docs/reference/checks.md'), renderCheckReference());
writeFileSync(join(folder, '../docs/reference/http-api.md'), renderApiReference());
