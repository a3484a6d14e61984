import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, type Running, start, suite, until } from '../cli/command-line.ts';

/** A folder with a suite whose grader records the id of each case. */
export interface Grading {
  readonly folder: string;
  readonly config: string;
  readonly suite: string;
  /** A value in the grader's environment, by which its processes are found. */
  readonly mark: string;
  /** The ids of the graded cases, in order, repetitions included. */
  graded(): string[];
  reaches(count: number): Promise<void>;
  /** The output of `--reporter jsonl=NAME`, without the parts that differ each time. */
  told(name: string): unknown[];
}

export interface GradingOptions {
  readonly rows: number;
  readonly concurrency: number;
  readonly takes?: number;
}

let opened = 0;

export function openGrading({ rows, concurrency, takes = 0 }: GradingOptions): Grading {
  opened += 1;
  const mark = `grading-${process.pid}-${opened}`;
  const folder = folderOf({
    'grader.mjs': grader,
    'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  concurrency: ${concurrency}
  evals:
    exact: {command: "${process.execPath}", args: [grader.mjs, "${takes}"], runtime: server, env: ["MARK=${mark}"]}
`,
    'grade.suite.yaml': suite(spec),
    'rows.jsonl': Array.from({ length: rows }, (_, index) => `${JSON.stringify(rowAt(index))}\n`).join(''),
  });
  const notes = join(folder, 'graded');
  return {
    ...{ folder, mark },
    config: join(folder, 'runtime.yaml'),
    suite: join(folder, 'grade.suite.yaml'),
    graded: () => (existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').filter(Boolean) : []),
    // All notes have the same length.
    reaches: (count) => until(() => existsSync(notes) && statSync(notes).size >= count * NOTE_BYTES),
    told: (name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line): unknown => JSON.parse(line, withoutTimes)),
  };
}

export function startRun(grading: Grading, args: readonly string[]): Running {
  return start(['eval', 'run', 'grade.suite.yaml', ...args], { cwd: grading.folder });
}

function rowAt(index: number) {
  const truth = (index * 7) % 100;
  const found = index % 4 === 0 ? truth + 1 : truth;
  const steps = `Tina has ${index} apples and eats ${index % 5}, so <<${index}-${index % 5}=${index - (index % 5)}>>.`;
  return {
    id: `q${String(index).padStart(NOTE_BYTES - 2, '0')}`,
    model: `model-${index % 3}`,
    solution: `${steps}\n#### ${found}`,
    truth,
  };
}

/** An id of six characters and a newline. */
const NOTE_BYTES = 7;

const spec = `
dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: "\${case.solution}", tags: ["\${case.model}"]}
evals:
  - {id: exact, type: exact, params: {case: "\${case.id}", truth: "\${case.truth}"}}
gates: [{eval: exact, metric: pass_rate, min: 0.5}]
`;

/** A file in append mode takes each note as a whole, even with several writers. */
const grader = `import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const takes = Number(process.argv[2]);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params: { params, content } } = JSON.parse(line);
  const result = { score: content.endsWith('#### ' + params.truth) ? 1 : 0 };
  appendFileSync('graded', params.case + '\\n');
  const answer = () => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (takes === 0) answer();
  else setTimeout(answer, takes);
}).on('close', () => process.exit());
`;

function withoutTimes(key: string, value: unknown): unknown {
  return changing.has(key) ? undefined : value;
}

const changing = new Set(['run_id', 'started_at', 'duration_ms', 'latency_ms', 'queue_ms']);
