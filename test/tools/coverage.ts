import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eachMapping, TraceMap } from '@jridgewell/trace-mapping';

// npm run coverage [-- ARGUMENT…] prints the tested lines of each folder of src, including those that programs from
// dist/ run. The arguments go to vitest.

const root = join(import.meta.dirname, '../..');
const raw = mkdtempSync(join(tmpdir(), 'coverage-'));
const report = join(root, 'coverage');
const env = { ...process.env, COVERAGE: raw };

// Builds the programs with source maps, and without bundler steps that move lines.
execFileSync('npm', ['run', '--silent', 'generate'], { cwd: root, stdio: 'inherit', env });
const options = [
  '--coverage.enabled',
  '--coverage.provider=v8',
  '--coverage.include=src/**/*.ts',
  '--coverage.reporter=json',
];
const tests = [
  'vitest',
  'run',
  '--project=unit',
  '--project=process',
  '--coverage.reportOnFailure',
  ...options,
];
const { status } = spawnSync('npx', [...tests, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env,
});

const ran = linesOfPrograms();
rmSync(raw, { recursive: true });
// Restores dist/ for the next test run.
execFileSync('npm', ['run', '--silent', 'generate'], { cwd: root, stdio: 'inherit' });

const folders = new Map<string, { lines: number; run: number }>();
for (const [path, file] of Object.entries(readFinal())) {
  const name = relative(root, path);
  const lines = linesOf(file);
  const count = [...lines].filter(([line, hits]) => hits > 0 || ran.has(`${name}:${line}`)).length;
  for (const folder of [name.split('/').slice(0, 2).join('/'), 'src']) {
    const sum = folders.get(folder) ?? { lines: 0, run: 0 };
    folders.set(folder, { lines: sum.lines + lines.size, run: sum.run + count });
  }
}
for (const [folder, { lines, run }] of [...folders].sort())
  process.stdout.write(`${folder}: ${run} of ${lines} lines (${((100 * run) / lines).toFixed(2)} %)\n`);
process.exitCode = status ?? 1;

interface FileCoverage {
  readonly statementMap: Readonly<Record<string, { readonly start: { readonly line: number } }>>;
  readonly s: Readonly<Record<string, number>>;
}

function readFinal(): Readonly<Record<string, FileCoverage>> {
  return JSON.parse(readFileSync(join(report, 'coverage-final.json'), 'utf8'));
}

function linesOf({ statementMap, s }: FileCoverage): Map<number, number> {
  const lines = new Map<number, number>();
  for (const [id, { start }] of Object.entries(statementMap))
    lines.set(start.line, (lines.get(start.line) ?? 0) + (s[id] ?? 0));
  return lines;
}

function linesOfPrograms(): Set<string> {
  const scripts = new Map<string, Uint8Array>();
  for (const file of readdirSync(raw)) {
    const { result } = readCounts(join(raw, file));
    for (const { url, functions } of result) {
      if (!url.startsWith('file://') || !url.endsWith('.js')) continue;
      const path = fileURLToPath(url);
      if (!path.startsWith(join(root, 'dist/')) || !existsSync(`${path}.map`)) continue;
      const sum = scripts.get(path) ?? new Uint8Array(readFileSync(path, 'utf8').length);
      scripts.set(path, sum);
      const here = new Uint8Array(sum.length);
      // V8 lists an outer range before those inside it.
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          here.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) | (here[at] ?? 0);
    }
  }
  const lines = new Set<string>();
  for (const [path, hits] of scripts) {
    const starts = lineStarts(readFileSync(path, 'utf8'));
    eachMapping(new TraceMap(readFileSync(`${path}.map`, 'utf8')), (mapping) => {
      const offset = (starts[mapping.generatedLine - 1] ?? 0) + mapping.generatedColumn;
      if (mapping.source === null || hits[offset] !== 1) return;
      lines.add(`${relative(root, join(path, '..', mapping.source))}:${mapping.originalLine}`);
    });
  }
  return lines;
}

interface Counts {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}

function readCounts(file: string): Counts {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { result: [] };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
