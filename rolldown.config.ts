import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from 'lightningcss';
import { defineConfig, type Plugin } from 'rolldown';
import { ascii } from './build/ascii.ts';
import { builtins } from './build/builtins.ts';
import { chunksOf } from './build/chunks.ts';
import { lazyPackages } from './build/lazy-packages.ts';
import { licences } from './build/licences.ts';
import { ownUrl } from './build/own-url.ts';
import { prune } from './build/prune.ts';

const source = join(import.meta.dirname, 'src');
const { version, dependencies, optionalDependencies, peerDependencies } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'),
);

/** Whether lines that run are counted (test/tools/coverage.ts): source maps, and no step that moves lines. */
const isCounted = process.env.COVERAGE !== undefined;

const besideUs = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });

/** Whether users have the package beside ours. Of packages that only we have, what is used goes into the chunks. */
const isBesideUs = (specifier: string) =>
  besideUs.some((name) => specifier === name || specifier.startsWith(`${name}/`));

/** The library and the programs, by their names in dist/. */
const guards = ['injection', 'links', 'prompt', 'secrets', 'topics'];
const entries = [
  'index.ts',
  'cli/vitest/vitest.ts',
  'cli/process/run.ts',
  'cli/pii/main.ts',
  ...guards.map((name) => `cli/guards/${name}/main.ts`),
];

/** What is always loaded as a whole. */
const roots = {
  start: ['cli/guards/start.ts', 'base/files/compile-cache.ts'],
  cli: ['cli/program.ts', 'cli/process/crash.ts', 'cli/process/interrupt.ts'],
  runtime: ['runtime/runtime.ts'],
  guards: ['cli/guards/run.ts', 'base/files/output-sink.ts'],
  // Needed by models too, which shall not load all of the guards for it.
  cache: ['../node_modules/lru-cache/dist/esm/node/index.min.js'],
  // Needed by telemetry too.
  keys: ['builtins/pii/finders/api-key.ts'],
  ...Object.fromEntries(['pii', ...guards].map((name) => [name, [`builtins/guards/${name}/guard.ts`]])),
};

export default defineConfig([
  {
    input: Object.fromEntries(entries.map((file) => [file.replace(/\.ts$/, ''), join(source, file)])),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    external: (id) => id.startsWith('#') || isBesideUs(id),
    // The build of `yaml` for Node.js asks for an environment variable at each token, a third of the time of a parse.
    resolve: { alias: { yaml: join(import.meta.dirname, 'node_modules/yaml/browser/dist/index.js') } },
    output: {
      dir: 'dist',
      format: 'esm',
      sourcemap: isCounted,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name].js',
      comments: { legal: false, jsdoc: false },
      codeSplitting: {
        groups: [
          {
            name: chunksOf(
              mapValues(roots, (files) => files.map((file) => join(source, file))),
              new Set(['guards', 'pii', ...guards]),
            ),
            includeDependenciesRecursively: false,
            debugName: 'roots',
          },
        ],
      },
    },
    plugins: [
      !isCounted && builtins(),
      lazyPackages(source, isBesideUs),
      ownUrl(source),
      licences(),
      !isCounted && ascii(),
      formerPath(),
      prune(),
    ],
  },
  // What asks a resident, as one file: Node takes 2 ms to load a second one.
  {
    input: { 'cli/main': join(source, 'cli/main.ts') },
    platform: 'node',
    external: (id) => id.endsWith('process/run.js'),
    output: {
      dir: 'dist',
      format: 'esm',
      sourcemap: isCounted,
      codeSplitting: false,
      comments: { legal: false, jsdoc: false },
    },
    plugins: [!isCounted && builtins(), besideMain(), ownVersion(), ownUrl(source), !isCounted && ascii()],
  },
  // The pages, each as one file: its scripts in one, its style sheets in one, both as texts.
  {
    input: 'src/suites/report/html/page/main.ts',
    output: { file: 'dist/report-page.js', minify: true },
    plugins: [asTexts('src/suites/report/html/style/style.css')],
  },
  {
    input: 'src/console/page/main.ts',
    output: { file: 'dist/console-page.js', minify: true },
    plugins: [asTexts('src/console/page/style/style.css')],
  },
]);

/** Leaves the program itself in its own file, which loads on demand. */
function besideMain(): Plugin {
  const id = './process/run.js';
  return {
    name: 'beside-main',
    resolveId: (specifier) => (specifier === './run.ts' ? { id, external: true } : null),
  };
}

/** Saves the client from reading package.json. */
function ownVersion(): Plugin {
  const code = `export const versionOf = () => ${JSON.stringify(version)};`;
  return {
    name: 'own-version',
    load: (id) => (id === join(source, 'base/version.ts') ? { code, map: null } : null),
  };
}

/** Keeps the file by which scripts start the program without its name in `bin`. */
function formerPath(): Plugin {
  return {
    name: 'former-path',
    generateBundle() {
      const source = "#!/usr/bin/env node\nimport '../../cli/main.js';\n";
      this.emitFile({ type: 'asset', fileName: 'surface/cli/main.js', source });
    },
  };
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function asTexts(filename: string): Plugin {
  return {
    name: 'as-texts',
    generateBundle(_options, files) {
      const style = bundle({ filename, minify: true }).code.toString();
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue;
        const script = `/*! diff\n${readFileSync('node_modules/diff/LICENSE', 'utf8')}*/\n${file.code}`;
        if (/<\/script|<!--/i.test(script)) this.error('the script would end where it says so in a text');
        file.code = `export const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(style)};\n`;
      }
    },
  };
}
