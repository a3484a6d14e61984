import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../../src/base/json/json.ts';
import { runtimeSchema, schemas } from '../../../src/config/schema.ts';
import { told, write } from '../told.ts';

const root = join(import.meta.dirname, '../../..');

describe('the published schemas', () => {
  test.each(Object.entries(schemas))(
    'schema/%s equals the code’s schema; `npx node test/tools/write-schemas.ts` writes it',
    (name, schema) => {
      expect(readFileSync(join(root, 'schema', name), 'utf8')).toBe(`${JSON.stringify(schema, null, 2)}\n`);
    },
  );

  test.each(Object.entries(schemas))('%s is a strict JSON Schema', (_name, schema) => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
    expect(ajv.compile(schema)).toBeTypeOf('function');
  });

  test('every key has a description', () => {
    const bare = propertiesOf(runtimeSchema).filter(
      ({ schema }) => isObject(schema) && typeof schema['description'] !== 'string',
    );
    expect(bare.map(({ path }) => path)).toEqual([]);
  });
});

describe('runtime.yaml.example', () => {
  const text = readFileSync(join(root, 'runtime.yaml.example'), 'utf8');
  const switchedOn = text.replaceAll(/^(\s*)#(?=[\w$])/gm, '$1');

  // The file that `env_file` names.
  write('.env', '');

  test('names every key of the schema', () => {
    const keys = [...new Set(propertiesOf(runtimeSchema).map(({ key }) => key))];
    const missing = keys.filter(
      (key) => !new RegExp(`(^|[\\s{#-])${key.replace('$', '\\$')}:`, 'm').test(text),
    );
    expect(missing).toEqual([]);
  });

  test.each([
    { title: 'as it stands', yaml: text },
    { title: 'with every key switched on', yaml: switchedOn },
  ])('loads without an error $title', ({ yaml }) => {
    const { config, problems } = told(yaml);
    expect({
      loads: config !== undefined,
      errors: problems.filter((problem) => problem.startsWith('error')),
    }).toEqual({ loads: true, errors: [] });
  });

  test('enables what it names', () => {
    const { config } = told(switchedOn);
    const { position: _position, ...exec } = config?.tools[0]?.exec ?? {};
    expect({
      exec,
      concurrency: config?.concurrency,
      defaults: config?.defaults,
      logging: config?.logging,
    }).toEqual({
      exec: {
        command: 'sh',
        args: ['-c', expect.stringContaining('result')],
        runtime: 'server',
        env: ['WEATHER_API_KEY', 'CACHE=off'],
        dialect: 'promptkit',
        timeoutMs: 5000,
        maxOutputBytes: 1_048_576,
        limits: { memoryMb: 512, cpuSeconds: 20, openFiles: 256, processes: 30, fileSizeMb: 100 },
        nice: 5,
        graceMs: 500,
        leftovers: 'keep',
        sandbox: 'none',
        cwd: 'tools',
        concurrency: 4,
        instances: 2,
        warm: true,
      },
      concurrency: 8,
      defaults: {
        timeoutMs: 30_000,
        maxOutputBytes: 10_485_760,
        graceMs: 2000,
        leftovers: 'kill',
        onFailure: 'deny',
      },
      logging: { level: 'info', format: 'json', fields: { service: 'support-desk' } },
    });
  });
});

interface Property {
  readonly key: string;
  readonly path: string;
  readonly schema: unknown;
}

function propertiesOf(schema: unknown, path = ''): Property[] {
  if (!isObject(schema)) return [];
  const own = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const inner = [schema['items'], schema['additionalProperties']].flatMap((part) =>
    propertiesOf(part, `${path}[]`),
  );
  const listed = own.flatMap(([key, part]) => [
    { key, path: `${path}.${key}`, schema: part },
    ...propertiesOf(part, `${path}.${key}`),
  ]);
  return [...listed, ...inner];
}
