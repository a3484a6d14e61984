import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaOf } from '../src/builtins/checks/check-schema.ts';
import { checks } from '../src/builtins/checks/registry.ts';
import { mockEmbeddingsSchema } from '../src/config/mock-embeddings.ts';
import { mockSchema } from '../src/config/mock-responses.ts';
import { runtimeSchema } from '../src/config/schema.ts';
import { foreignDialects } from '../src/dialects/registry.ts';
import { eventSchemas } from '../src/calls/hooks/event-input.ts';
import { contentResultSchema } from '../src/calls/tool-call/result-texts.ts';
import { pipelineSchema } from '../src/pipelines/file/schema.ts';
import { suiteSchema } from '../src/suites/file/schema.ts';
import { metaSchemaName } from '../src/base/yaml/data-schema.ts';
import { fingerprint, nameOf } from '../src/base/yaml/validator.ts';
import { toMetaSchemaModule, toStandaloneModule } from './standalone.ts';

/** Every JSON Schema of src that values are checked against. */
const schemas: readonly object[] = [
  runtimeSchema,
  suiteSchema,
  pipelineSchema,
  ...Object.values(foreignDialects).flatMap(({ files }) => files?.schemas ?? []),
  mockSchema,
  mockEmbeddingsSchema,
  ...eventSchemas,
  contentResultSchema,
  ...checks.map(schemaOf),
];

// Writes a module for each to dist/validators/: under its name, by which the built package finds it, and under its digest, by
// which the source finds it only as long as it says the same. What runs from there meanwhile finds whole files at any time.
const folder = join(import.meta.dirname, '../dist/validators');
mkdirSync(folder, { recursive: true });
const files = new Map(
  schemas.flatMap((schema): [string, string][] => {
    const [name, digest] = [nameOf(schema), fingerprint(schema)];
    const whole: [string, string] = [`${name}.js`, toStandaloneModule(schema)];
    return name === digest ? [whole] : [whole, [`${digest}.js`, `export { validate } from './${name}.js';\n`]];
  }),
);
const names = new Map(schemas.map((schema) => [fingerprint(schema), JSON.stringify(schema)]));
if (schemas.some((schema) => names.get(fingerprint(schema)) !== JSON.stringify(schema)))
  throw new Error('two schemas have the same digest');
files.set(`${metaSchemaName}.js`, toMetaSchemaModule());
for (const [file, code] of files) {
  const draft = join(folder, `${file}.${process.pid}`);
  writeFileSync(draft, code);
  renameSync(draft, join(folder, file));
}
for (const file of readdirSync(folder)) {
  if (file.endsWith('.js') && !files.has(file)) rmSync(join(folder, file), { force: true });
}
