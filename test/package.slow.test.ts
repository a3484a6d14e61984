import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';

const call = promisify(execFile);
const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const checkout = mkdtempSync(join(tmpdir(), 'checkout-'));
const project = mkdtempSync(join(tmpdir(), 'project-'));
const installed = join(project, 'node_modules/signalbox');
let packed: readonly string[] = [];

beforeAll(async () => {
  // Leaves out the tests, which contain the secret that this test searches for.
  const left = ['node_modules', '.git', 'dist', '.signalbox', 'test'];
  const isWanted = (path: string) =>
    !left.some((name) => path === join(root, name) || path.endsWith(`/${name}`));
  cpSync(root, checkout, { recursive: true, filter: isWanted });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await call('npm', ['run', '--silent', 'build'], { cwd: checkout });
  const { stdout } = await call('npm', ['pack', '--json', '--ignore-scripts'], { cwd: checkout });
  const [{ filename, files }] = JSON.parse(stdout);
  packed = files.map(({ path }: { path: string }) => path);
  mkdirSync(installed, { recursive: true });
  await call('tar', ['-xzf', join(checkout, filename), '-C', installed, '--strip-components=1']);
  // Only the dependencies that an installation would add.
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    mkdirSync(join(installed, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(installed, 'node_modules', name));
  }
  mkdirSync(join(project, 'node_modules/.bin'));
  for (const [name, file] of Object.entries<string>(manifest.bin)) {
    chmodSync(join(installed, file), 0o755);
    symlinkSync(join(installed, file), join(project, 'node_modules/.bin', name));
  }
});

test('the package contains only what runs', async () => {
  const folders = packed.filter((path) => path.includes('/')).map((path) => path.split('/', 1)[0]);
  expect([...new Set(folders)].toSorted()).toEqual(['authors', 'dist', 'docs', 'examples', 'schema']);
  expect(packed.filter((path) => !path.includes('/')).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'package.json',
    'runtime.yaml.example',
  ]);
  const odd = packed.filter((path) => path.startsWith('dist/') && !/\.(js|d\.ts)$/.test(path));
  expect(odd.toSorted()).toEqual([
    'dist/THIRD-PARTY-LICENSES.txt',
    'dist/cli/process/help.txt',
    'dist/fork-helper.py',
  ]);
  // The files that `init` writes and that the README and the pages run.
  const { stdout } = await call('git', ['ls-files', 'examples'], { cwd: root });
  const examples = packed.filter((path) => path.startsWith('examples/'));
  expect(examples.toSorted()).toEqual(stdout.trim().split('\n').toSorted());
  expect(
    packed.filter((path) => /__pycache__|\.signalbox|\.test\.|(^|\/)(test|bench|src)\//.test(path)),
  ).toEqual(['examples/vitest/help-desk.test.js']);
});

test('every bin is there, starts with #! and runs', async () => {
  const bins: string[] = Object.values(manifest.bin);
  expect(bins).toEqual([
    'dist/cli/main.js',
    'dist/cli/guards/injection/main.js',
    'dist/cli/guards/links/main.js',
    'dist/cli/pii/main.js',
    'dist/cli/guards/prompt/main.js',
    'dist/cli/guards/secrets/main.js',
    'dist/cli/guards/topics/main.js',
  ]);
  for (const bin of bins) {
    expect(packed).toContain(bin);
    expect(readFileSync(join(installed, bin), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    const { stdout } = await call(process.execPath, [join(installed, bin), '--help']);
    expect(stdout).toContain('signalbox');
  }
});

test('the command prints the package’s version', async () => {
  const { stdout } = await call(process.execPath, [join(installed, manifest.bin.signalbox), '--version']);
  expect(stdout).toBe(`${manifest.version}\n`);
});

test('every export is in the package', () => {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target ?? {}),
  );
  expect(targets.length).toBeGreaterThan(3);
  expect(
    targets.map((target) => String(target).replace('./', '')).filter((path) => !packed.includes(path)),
  ).toEqual([]);
});

test('the library has exactly the exports of the source', async () => {
  const built = await import(join(installed, 'dist/index.js'));
  const source = await import('../src/index.ts');
  expect(Object.keys(built).toSorted()).toEqual(Object.keys(source).toSorted());
});

test('the licences of bundled code are included', () => {
  const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['ajv', 'commander', 'execa', 'p-queue', 'pino', 'yaml', '@marcbachmann/cel-js']) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
  }
  expect(notices.match(/Permission is hereby granted/g)?.length).toBeGreaterThan(20);
});

test('everything that the built code imports is a dependency', () => {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const declared = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const imported = packed
    .filter((path) => path.endsWith('.js') || path.endsWith('.d.ts'))
    .flatMap((path) => {
      // Imports as the bundler and the compiler write them. Examples in comments do not match.
      const quote = path.endsWith('.js') ? '"' : "'";
      const statement = `(?<=^(?:import|export|\\}).* from ${quote}|import\\(${quote})[^'".][^'"]*(?=${quote})`;
      return readFileSync(join(installed, path), 'utf8').match(new RegExp(statement, 'gm')) ?? [];
    })
    .filter((specifier) => !/^(node:|#)/.test(specifier))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
  expect(declared).toEqual(expect.arrayContaining([...new Set(imported)]));
});

test('a project that has installed it can import it', async () => {
  const script = `
    import { openRuntime, RuntimeError } from 'signalbox';
    import schema from 'signalbox/schema/runtime.schema.json' with { type: 'json' };
    const error = await openRuntime('nowhere.yaml').catch((error) => error);
    console.log(error instanceof RuntimeError, error.code, typeof schema);
  `;
  const { stdout } = await call(process.execPath, ['--input-type=module', '-e', script], { cwd: project });
  expect(stdout).toBe('true FILE_UNREADABLE object\n');
});

test('its `init` writes a folder that works', async () => {
  const main = join(installed, 'dist/cli/main.js');
  const folder = join(project, 'guards');
  await call(process.execPath, [main, 'init', folder]);
  expect(statSync(join(folder, 'scripts/greet.py')).mode & 0o111).toBe(0o111);
  const greet = [main, 'tool', 'call', 'greet', '--args', '{"name": "Ada"}'];
  const { stdout } = await call(process.execPath, greet, { cwd: folder });
  expect(stdout).toBe('Hello, Ada!\n');
  const suite = [main, 'eval', 'run', 'quickstart.suite.yaml', '--reporter', 'html=page.html'];
  await call(process.execPath, suite, { cwd: folder });
  expect(readFileSync(join(folder, 'page.html'), 'utf8')).toContain('<script');
});

const npx = { env: { ...process.env, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }, cwd: project };

test('`init` names existing schemas, in the project and below', async () => {
  for (const folder of ['my-guards', 'tools/guards']) {
    await call('npx', ['--no', '--', 'signalbox', 'init', folder], npx);
    for (const file of ['runtime.yaml', 'quickstart.suite.yaml']) {
      const [, schema = ''] = /\$schema=(.*)\n/.exec(readFileSync(join(project, folder, file), 'utf8')) ?? [];
      expect(schema).toMatch(/^(\.\.\/)+node_modules\/signalbox\/schema\//);
      expect(existsSync(join(project, folder, schema))).toBe(true);
    }
  }
});

const commandsOfPages = [
  ['run', 'examples/four-dialects/agent.pipeline.yaml', '--input', '{"task": "Tidy up."}'],
  ['eval', 'run', 'examples/support-desk/support.suite.yaml'],
  ['eval', 'run', 'examples/pii-guard/pii.suite.yaml'],
  ['eval', 'run', 'examples/models/models.suite.yaml'],
  ['eval', 'run', 'examples/similarity/answers.suite.yaml'],
  ['eval', 'run', 'examples/gsm8k/gsm8k-extract.suite.yaml'],
  ['tool', 'list', '--config', 'examples/promptkit/runtime.yaml'],
  ['tool', 'call', 'redact_secrets', '--args', '{"text": "hi"}', '-c', 'examples/ready-guards/runtime.yaml'],
];

test.for(['a copy', 'node_modules/signalbox'])('the examples run from %s', async (from) => {
  const place = from === 'a copy' ? '' : `${from}/`;
  if (from === 'a copy') cpSync(join(installed, 'examples'), join(project, 'examples'), { recursive: true });
  const inPlace = (words: readonly string[]) => words.map((word) => word.replace(/^(?=examples\/)/, place));
  for (const words of commandsOfPages) await call('npx', ['--no', '--', 'signalbox', ...inPlace(words)], npx);
  const { stdout } = await call(process.execPath, inPlace(['examples/support-desk/main.mjs']), npx);
  expect(stdout).toContain('support-desk: passed');
  const desk = ['run', 'examples/refund-desk/refund.pipeline.yaml'];
  const ticket = ['--input', '@examples/refund-desk/tickets/lamp.json'.replace('@', `@${place}`)];
  await expect(
    call('npx', ['--no', '--', 'signalbox', ...inPlace(desk), ...ticket], npx),
  ).rejects.toMatchObject({ code: 3, stderr: expect.stringContaining('npx signalbox pending approve ') });
});

test.for([
  { signal: 'SIGTERM', to: 'npx' },
  { signal: 'SIGTERM', to: 'its group' },
  { signal: 'SIGINT', to: 'its group' },
] as const)('$signal to $to ends `npx signalbox serve`', async ({ signal, to }) => {
  writeFileSync(
    join(project, 'runtime.yaml'),
    'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  gateway: {listen: "127.0.0.1:0"}\n  providers: [{id: main, type: mock, model: demo, additional_config: {responses: [{text: hello}]}}]\n',
  );
  const child = spawn('npx', ['--no', '--', 'signalbox', 'serve', '--json'], { ...npx, detached: true });
  const [shown] = await once(child.stdout, 'data');
  const { url } = JSON.parse(String(shown));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  process.kill(to === 'npx' ? (child.pid ?? 0) : -(child.pid ?? 0), signal);
  await once(child, 'close');
  // The streams close once the last process that holds them has ended.
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
});

const consumer = `
import { openRuntime, type RuntimeEvent, type ToolDocument } from 'signalbox';

const onEvent = (event: RuntimeEvent): void => {
  if (event.type === 'stderr') event.line.trim();
};
await using runtime = await openRuntime('runtime.yaml', { onEvent, logLevel: undefined });
const document: ToolDocument = await runtime.tools.call('greet', { name: 'Ada' }, { signal: undefined });
const text: string = document.status === 'denied' ? document.reason : document.status;
const score = await runtime.evals.call('concise', { content: text, params: undefined }, { threshold: { min_score: 1 } });
export const passed: boolean = score.passed;
// @ts-expect-error The types are there: an unknown level is refused.
await openRuntime('runtime.yaml', { logLevel: 'loud' });
`;

test('a strict project with exactOptionalPropertyTypes compiles against it', async () => {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['esnext'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    noEmit: true,
  };
  writeFileSync(join(project, 'package.json'), '{"type": "module"}');
  writeFileSync(join(project, 'consumer.ts'), consumer);
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  const output = await call(process.execPath, [compiler, '-p', project]).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(output).toBe('');
  expect(existsSync(join(installed, 'dist/index.d.ts'))).toBe(true);
});
