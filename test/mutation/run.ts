import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { globSync } from 'tinyglobby';
import { areas } from './areas.ts';
import { isSurvivor, linesOfSurvivors, type MutationReport, withFound } from './report.ts';

// npm run mutate -- AREA [--again] activates the mutants of a part of the safety core and shows how many survive.
// --again only tries lines with survivors.
const [name, again] = process.argv.slice(2);
const area = areas.find((each) => each.name === name);
if (area === undefined) throw new Error(`one of ${areas.map((each) => each.name).join(', ')}`);

process.env['MUTATION_TESTS'] = globSync([...area.tests], { ignore: ['**/*.{slow,process}.test.ts'] })
  .sort()
  .join(',');
// Models detect their mutants earlier than in CI.
process.env['MODEL_RUNS'] ??= '150';
process.env['MUTATION_OUT'] ??= join(tmpdir(), 'mutation');
const folder = process.env['MUTATION_OUT'];
mkdirSync(folder, { recursive: true });
const file = join(folder, `${area.name}.json`);
const before = again === '--again' ? read() : undefined;

await new Stryker({
  testRunner: 'warm',
  plugins: [join(import.meta.dirname, 'runner.ts')],
  coverageAnalysis: 'perTest',
  mutate: before === undefined ? [...area.sources] : linesOfSurvivors(before),
  concurrency: Number(process.env['MUTATION_WORKERS'] ?? 2),
  reporters: ['json', 'clear-text', 'progress-append-only'],
  jsonReporter: { fileName: file },
  clearTextReporter: {
    allowColor: false,
    logTests: false,
    reportTests: false,
    reportMutants: false,
    reportScoreTable: true,
  },
  tempDirName: join(folder, 'trees'),
  ignorePatterns: ['.vitest', 'bench', 'docs', 'test-report*'],
  ignorers: ['messages'],
  ignoreStatic: true,
  // TypeScript 7 has no API for rewriting a configuration, and none is needed.
  tsconfigFile: 'none.json',
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 10,
  allowEmpty: true,
}).runMutationTest();

if (before !== undefined) writeFileSync(file, JSON.stringify(withFound(before, read())));
const mutants = Object.values(read().files).flatMap((each) => each.mutants);
process.stdout.write(
  `${mutants.filter(isSurvivor).length} of ${mutants.length} mutants of ${area.name} live\n`,
);

function read(): MutationReport {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { files: {} };
}
