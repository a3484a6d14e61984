import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaOf } from '../src/checks/params.ts';
import { checks } from '../src/checks/registry.ts';
import { claudeHandlerSchema } from '../src/config/import/claude-handler-schema.ts';
import { mockSchema } from '../src/config/mock-responses.ts';
import { runtimeSchema } from '../src/config/schema.ts';
import { fingerprint } from '../src/config/validator.ts';
import { eventSchemas } from '../src/pipeline/event-schema.ts';
import { pipelineSchema } from '../src/pipeline/pipeline-schema.ts';
import { suiteSchema } from '../src/suite/schema/suite-schema.ts';
import { toStandaloneModule } from './standalone.ts';

/** Writes dist/validators/: a module for each JSON Schema of src that values are checked against. */
const schemas: readonly object[] = [
  runtimeSchema,
  suiteSchema,
  pipelineSchema,
  claudeHandlerSchema,
  mockSchema,
  ...eventSchemas,
  ...checks.map(schemaOf),
];

const folder = join(import.meta.dirname, '../dist/validators');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, schema] of new Map(schemas.map((each) => [fingerprint(each), each]))) {
  writeFileSync(join(folder, `${name}.js`), toStandaloneModule(schema));
}
