import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../../../cli/command-line.ts';

// promptfoo itself is the oracle. PROMPTFOO_FOLDER names a folder whose node_modules contains it: `npm install --prefix
// FOLDER promptfoo@0.123.1`. ORACLE_CONFIGS is the number of configs, ORACLE_SEED the seed.
const installed = process.env['PROMPTFOO_FOLDER'] ?? '';
const count = Number(process.env['ORACLE_CONFIGS'] ?? 300);
const seed = Number(process.env['ORACLE_SEED'] ?? 1);

const texts = fc.constantFrom(
  'Bonjour',
  'the cat sat on the mat',
  'The Cat sat.',
  'a, b',
  '{"a": 1, "b": "x"}',
  'one {"a": "no"} and {"a": 2}',
  '[1, 2]',
  'Straße 7 → ok',
  '0.3',
  'say "hi", now',
);

const number = fc.constantFrom(0, 0.25, 0.5, 0.75, 1);
const schema = fc.constantFrom(
  { type: 'object', required: ['a'], properties: { a: { type: 'number' } } },
  { type: 'object' },
  { type: 'array' },
);

const checks = fc.oneof(
  fc.record({ type: fc.constantFrom('equals', 'contains', 'icontains', 'starts-with'), value: texts }),
  fc.record({
    type: fc.constantFrom('contains-any', 'contains-all', 'icontains-any', 'icontains-all'),
    value: fc.oneof(fc.array(texts, { minLength: 1, maxLength: 3 }), texts),
  }),
  fc.record({
    type: fc.constant('regex'),
    value: fc.constantFrom('^B', 'cat.*mat', '\\d', '[A-Z]\\w+\\.$', '\\{.*\\}'),
  }),
  fc.record({ type: fc.constantFrom('is-json', 'contains-json'), value: schema }, { requiredKeys: ['type'] }),
  fc.record(
    { type: fc.constantFrom('rouge-n', 'bleu'), value: texts, threshold: number },
    { requiredKeys: ['type', 'value'] },
  ),
  fc.record(
    { type: fc.constant('levenshtein'), value: texts, threshold: fc.constantFrom(0, 2, 5, 12) },
    { requiredKeys: ['type', 'value'] },
  ),
  fc.record(
    {
      type: fc.constant('javascript'),
      value: fc.constantFrom(
        'output.length > 8',
        'output.length / 40',
        '({pass: true, score: 0.3, reason: "r"})',
        '({pass: false, score: 0.9, reason: "r"})',
        'output.includes("a") ? 0 : 1',
        'nothing.there',
      ),
      threshold: number,
    },
    { requiredKeys: ['type', 'value'] },
  ),
);

const assertion = fc
  .tuple(checks, fc.boolean(), fc.option(fc.constantFrom(0, 1, 2, 3), { nil: undefined, freq: 3 }))
  .map(([check, isInverse, weight]) => ({
    ...check,
    type: isInverse ? `not-${check.type}` : check.type,
    ...(weight !== undefined && { weight }),
  }));

const set = fc.record(
  {
    type: fc.constant('assert-set'),
    assert: fc.array(assertion, { minLength: 1, maxLength: 3 }),
    threshold: number,
  },
  { requiredKeys: ['type', 'assert'] },
);

const inline = fc.record(
  {
    vars: fc.record({ out: texts }),
    assert: fc.array(fc.oneof({ weight: 6, arbitrary: assertion }, { weight: 1, arbitrary: set }), {
      minLength: 1,
      maxLength: 3,
    }),
    threshold: number,
  },
  { requiredKeys: ['vars', 'assert'] },
);

const cell = fc.oneof(
  texts,
  fc
    .tuple(
      fc.constantFrom(
        'equals',
        'contains',
        'icontains',
        'starts-with',
        'regex',
        'contains-any',
        'not-contains',
        'levenshtein(3)',
        'bleu',
        'rouge-n(0.5)',
      ),
      fc.constantFrom(':', ': ', ':  '),
      fc.oneof(texts, fc.constantFrom('^B', 'a,"b, c",d')),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    'is-json',
    'contains-json',
    'javascript: output.length > 5',
    'fn:output.length / 40',
    'not-is-json',
  ),
);

const table = fc.array(fc.tuple(texts, cell, fc.option(cell, { nil: '' }), fc.constantFrom('', '0.5', '1')), {
  minLength: 1,
  maxLength: 4,
});

interface Generated {
  readonly config: object;
  readonly csv?: string;
}

const config: fc.Arbitrary<Generated> = fc.oneof(
  fc
    .record({
      tests: fc.array(inline, { minLength: 1, maxLength: 3 }),
      defaultTest: fc.option(fc.record({ assert: fc.array(assertion, { maxLength: 1 }) }), {
        nil: undefined,
      }),
    })
    .map(({ tests, defaultTest }) => ({ config: { tests, ...(defaultTest && { defaultTest }) } })),
  table.map((rows) => ({
    config: { tests: 'file://tests.csv' },
    csv: [['out', '__expected', '__expected2', '__threshold'], ...rows]
      .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(','))
      .join('\n'),
  })),
);

test.skipIf(!existsSync(join(installed, 'node_modules/promptfoo')))(
  'the imported suite passes and fails like promptfoo’s own program, or the import says why not [DS-PROMPTFOO-01]',
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'oracle-'));
    const folders = fc.sample(config, { numRuns: count, seed }).map(({ config: made, csv }, index) => {
      const folder = join(root, String(index));
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'promptfooconfig.yaml'),
        stringify({ prompts: ['{{out}}'], providers: ['echo'], ...made }, { aliasDuplicateObjects: false }),
      );
      if (csv !== undefined) writeFileSync(join(folder, 'tests.csv'), csv);
      return folder;
    });
    const oracle = fileURLToPath(new URL('../../../tools/promptfoo-oracle.ts', import.meta.url));
    const env = {
      ...process.env,
      PROMPTFOO_DISABLE_TELEMETRY: '1',
      PROMPTFOO_DISABLE_UPDATE: '1',
      PROMPTFOO_CONFIG_DIR: join(root, 'state'),
    };
    execFileSync(process.execPath, [oracle, installed, ...folders], { env, stdio: 'ignore' });
    const tally = { same: 0, reported: 0, refused: 0, differs: 0 };
    const differing: unknown[] = [];
    for (const cwd of folders) {
      const { passes, error } = JSON.parse(readFileSync(join(cwd, 'promptfoo.json'), 'utf8'));
      const made = await run(['eval', 'import', 'promptfooconfig.yaml'], { cwd });
      if (error !== undefined) {
        tally.refused += 1;
        continue;
      }
      await run(
        [
          'eval',
          'run',
          'signalbox/promptfoo.suite.yaml',
          '--no-store',
          '--quiet',
          '--reporter',
          'jsonl=a.jsonl',
        ],
        { cwd },
      );
      if (existsSync(join(cwd, 'signalbox/promptfoo-2.suite.yaml')))
        await run(
          [
            'eval',
            'run',
            'signalbox/promptfoo-2.suite.yaml',
            '--no-store',
            '--quiet',
            '--reporter',
            'jsonl=b.jsonl',
          ],
          { cwd },
        );
      const lines = ['a.jsonl', 'b.jsonl'].flatMap((name) =>
        existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8').trim().split('\n') : [],
      );
      const own = new Map(
        lines
          .map((line) => JSON.parse(line))
          .flatMap((each) => (each.type === 'case' ? [[each.id, each.passed] as const] : [])),
      );
      const here = passes.map((_: boolean, index: number) => own.get(String(index + 1)) === true);
      const isSame = JSON.stringify(here) === JSON.stringify(passes);
      // A warning says that the verdict may differ. Exit code 1 says that something was left out.
      const isReported = made.code !== 0 || made.stderr !== '';
      tally[isSame ? 'same' : isReported ? 'reported' : 'differs'] += 1;
      if (!isSame && !isReported) {
        const csv = join(cwd, 'tests.csv');
        differing.push({
          config: readFileSync(join(cwd, 'promptfooconfig.yaml'), 'utf8'),
          ...(existsSync(csv) && { csv: readFileSync(csv, 'utf8') }),
          promptfoo: passes,
          here,
        });
      }
    }
    console.log(`promptfoo oracle, ${count} configs: ${JSON.stringify(tally)}`);
    rmSync(root, { recursive: true, force: true });
    expect(differing).toEqual([]);
  },
  1_800_000,
);
