import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Place, runMeasured } from './usage.ts';
import { makeFolder } from './workspace.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const data = at('../../shared/data/gsm8k/example_model_solutions.jsonl');
const grader = at('../examples/gsm8k/final_number.py');
const program = at('../src/cli/main.ts');
const bare = at('./bare-grader.ts');

const models = ['6b_finetuning', '6b_verification', '175b_finetuning', '175b_verification'] as const;
/** How often the large run repeats the rows of the small one. `SUITE_ROUNDS=100` makes half a million rows. */
const repeats = Number(process.env['SUITE_ROUNDS'] ?? 2);
/** Cases per request of the eval with batches. */
const batch = 50;
/** Requests in flight to the server, more than there are cores. */
const many = 16;

const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
metadata: {name: bench}
spec:
  evals:
    oneshot: {command: ${grader}}
    server: {command: ${grader}, args: [--server], runtime: server}
    batched: {command: ${grader}, batch: ${batch}}
`;

const suite = (type: string) => `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: ${type}}
spec:
  runtime: ./runtime.yaml
  dataset: {path: rows.jsonl}
  case:
    content: \${case.solution}
    context: {messages: [{role: user, content: "\${case.question}"}]}
  evals:
    - {id: exact, type: ${type}, params: {truth: "\${case.ground_truth}"}}
  gates:
    - {eval: exact, metric: unscored, max: 0}
`;

/** The same rows, judged by a built-in check: the cost of a case without its grader. */
const checked = suite('contains')
  .replace('truth:', 'patterns:')
  .replace('"${case.ground_truth}"', '["${case.ground_truth}"]');

/**
 * Grades real model answers in a bare loop, with one-shot processes and with a server, and then with the server on many
 * more rows.
 */
export async function benchSuite(): Promise<string> {
  if (!existsSync(data)) return 'suite: skipped, ../shared/data/gsm8k is not here';
  const folder = makeFolder({
    'runtime.yaml': config,
    'oneshot.suite.yaml': suite('oneshot'),
    'server.suite.yaml': suite('server'),
    'batched.suite.yaml': suite('batched'),
    'check.suite.yaml': checked,
  });
  try {
    const rows = readFileSync(data, 'utf8').trimEnd().split('\n');
    writeFileSync(join(folder.path, 'rows.jsonl'), toRows(rows, models.slice(-1)));
    writeFileSync(join(folder.path, 'small.jsonl'), toRows(rows, models));
    const large = join(folder.path, 'large.jsonl');
    const small = readFileSync(join(folder.path, 'small.jsonl'));
    for (let round = 0; round < repeats; round++) appendFileSync(large, small);
    const place = { cwd: folder.path, env: withRealPython() };
    return [...(await compareWays(place)), '', ...(await compareSizes(place))].join('\n');
  } finally {
    folder.remove();
  }
}

/** One row per answer, so the suite's mapping only names the members. */
function toRows(lines: readonly string[], wanted: readonly string[]): string {
  return lines
    .flatMap((line) => {
      const { question, ground_truth, ...answers } = JSON.parse(line);
      return wanted.map((model) =>
        JSON.stringify({ question, ground_truth, solution: answers[model].solution }),
      );
    })
    .map((row) => `${row}\n`)
    .join('');
}

/** The result of grading rows in one way. */
interface Run {
  readonly cases: number;
  readonly passed: number;
  /** Duration of the grading alone, without the start of the program. */
  readonly seconds: number;
  /** CPU time of the whole program and its graders. */
  readonly cpuSeconds: number;
  /** Memory of the program that runs the graders, without the graders. With several loops, their sum. */
  readonly peakMb: number;
}

/** Alternates the order, so that changes in the load of the machine affect all alike. */
async function compareWays(place: Place): Promise<string[]> {
  const ways = [
    { name: 'bare loops of spawnSync, on 2 cores', run: () => runBare(place) },
    { name: 'eval run, one-shot', run: () => runSuite('oneshot', 'rows.jsonl', place) },
    { name: `eval run, one-shot, batch: ${batch}`, run: () => runSuite('batched', 'rows.jsonl', place) },
    { name: 'eval run, server', run: () => runSuite('server', 'rows.jsonl', place) },
    {
      name: `eval run, server, --concurrency ${many}`,
      run: () => runSuite('server', 'rows.jsonl', place, many),
    },
  ];
  const runs = new Map<string, Run[]>();
  for (const { name, run } of [...ways, ...ways.toReversed()]) {
    runs.set(name, [...(runs.get(name) ?? []), await run()]);
  }
  const measured = [...runs].map(([name, parts]) => ({ name, ...addUp(parts) }));
  const [baseline, oneshot] = measured;
  if (baseline === undefined || oneshot === undefined) throw new Error('nothing was measured');
  if (measured.some(({ passed }) => passed !== baseline.passed))
    throw new Error('the ways came to different scores');
  return [
    `suite: ${baseline.cases / 2} real answers, graded by one Python script, twice in each way`,
    ...measured.map((run) => renderWay(run, baseline)),
    ...measured
      .slice(2)
      .map((run) => `  ${run.name}: ${(rateOf(run) / rateOf(oneshot)).toFixed(0)} × one-shot`),
  ];
}

function addUp(runs: readonly Run[]): Run {
  const sum = (pick: (run: Run) => number) => runs.reduce((total, run) => total + pick(run), 0);
  return {
    cases: sum(({ cases }) => cases),
    passed: sum(({ passed }) => passed),
    seconds: sum(({ seconds }) => seconds),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    peakMb: Math.max(...runs.map(({ peakMb }) => peakMb)),
  };
}

function rateOf({ cases, seconds }: Run): number {
  return cases / seconds;
}

function renderWay(run: Run & { readonly name: string }, baseline: Run): string {
  const part = (value: number, base: number, digits: number, unit: string) =>
    `${value.toFixed(digits).padStart(7)} ${unit} ${(value / base).toFixed(2).padStart(6)} ×`;
  return [
    `  ${run.name.padEnd(36)}`,
    part(rateOf(run), rateOf(baseline), 0, '/s'),
    part(run.cpuSeconds, baseline.cpuSeconds, 1, 's CPU'),
    part(run.peakMb, baseline.peakMb, 0, 'MB'),
  ].join('  ');
}

/** The same rows, once and repeated, stored in the result store. */
async function compareSizes(place: Place): Promise<string[]> {
  const small = await runSuite('server', 'small.jsonl', place);
  const large = await runSuite('server', 'large.jsonl', place);
  const lines = [small, large].map(
    ({ cases, peakMb, ...run }) =>
      `  ${String(cases).padStart(7)} cases ${peakMb.toFixed(0).padStart(6)} MB ${rateOf({
        cases,
        peakMb,
        ...run,
      })
        .toFixed(0)
        .padStart(7)} /s`,
  );
  const ratio = (large.peakMb / small.peakMb).toFixed(2);
  const check = await runSuite('check', 'large.jsonl', place);
  return [
    'suite: peak memory of `eval run`, server',
    ...lines,
    `  ratio ${ratio} ×`,
    `suite: ${check.cases} cases with a built-in check: ${rateOf(check).toFixed(0)} /s, ${check.peakMb.toFixed(0)} MB`,
  ];
}

/** Two programs, each with every second row. */
async function runBare(place: Place): Promise<Run> {
  const loop = async (first: number): Promise<Run> => {
    const args = [grader, join(place.cwd, 'rows.jsonl'), String(first), '2'];
    const { stdout, ...usage } = await runMeasured([process.execPath, bare, ...args], place);
    const { cases, passed, seconds } = JSON.parse(stdout);
    return { ...usage, cases, passed, seconds };
  };
  const loops = await Promise.all([loop(0), loop(1)]);
  return {
    ...addUp(loops),
    seconds: Math.max(...loops.map(({ seconds }) => seconds)),
    peakMb: loops.reduce((sum, { peakMb }) => sum + peakMb, 0),
  };
}

async function runSuite(type: string, rows: string, place: Place, concurrency?: number): Promise<Run> {
  const more = concurrency === undefined ? [] : ['--concurrency', String(concurrency)];
  const args = ['eval', 'run', `${type}.suite.yaml`, '--dataset', rows, '--json', ...more];
  const { stdout, ...usage } = await runMeasured([process.execPath, program, ...args], place);
  const { evals, duration_ms } = JSON.parse(stdout);
  const { count: cases, passed } = evals.exact;
  return { ...usage, cases, passed, seconds: duration_ms / 1000 };
}

/** Puts the Python binary first in PATH, because a version manager's wrapper may take longer to start than Python. */
function withRealPython(): NodeJS.ProcessEnv {
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  const path = [dirname(python.trim()), process.env['PATH'] ?? ''].join(delimiter);
  return { ...process.env, PATH: path };
}
