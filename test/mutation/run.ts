import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { globSync } from 'tinyglobby';
import { areas } from './areas.ts';

// npm run mutate -- AREA [FILE…]: switches on one mutant after another in a part of the safety core, and shows which
// of them no test sees.
const [name, ...files] = process.argv.slice(2);
const area = areas.find((each) => each.name === name);
if (area === undefined) throw new Error(`one of ${areas.map((each) => each.name).join(', ')}`);

const found = globSync([...area.tests], { ignore: ['**/*.{slow,process}.test.ts'] }).sort();
process.env.MUTATION_TESTS = found.join(',');
const folder = join(process.env.MUTATION_OUT ?? join(tmpdir(), 'mutation'));
mkdirSync(folder, { recursive: true });

await new Stryker({
  testRunner: 'warm',
  plugins: [join(import.meta.dirname, 'runner.ts')],
  coverageAnalysis: 'perTest',
  mutate: files.length > 0 ? files : [...area.sources],
  concurrency: Number(process.env.MUTATION_WORKERS ?? 3),
  reporters: ['json', 'clear-text', 'progress-append-only'],
  jsonReporter: { fileName: join(folder, `${area.name}.json`) },
  incremental: true,
  incrementalFile: join(folder, `${area.name}-kept.json`),
  clearTextReporter: {
    allowColor: false,
    logTests: false,
    reportTests: false,
    reportMutants: false,
    reportScoreTable: true,
  },
  tempDirName: join(folder, 'trees'),
  ignorePatterns: ['.vitest', 'bench', 'docs', 'test-report*'],
  ignoreStatic: process.env.MUTATION_STATIC === undefined,
  // TypeScript 7 has no API for rewriting a configuration, and none has to be.
  tsconfigFile: 'none.json',
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 10,
  allowEmpty: true,
}).runMutationTest();
