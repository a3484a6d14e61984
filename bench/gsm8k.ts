import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const data = at('../../shared/data/gsm8k/example_model_solutions.jsonl');
const grader = at('../examples/gsm8k/final_number.py');
const main = at('../src/surface/cli/main.ts');

/** Grades real model answers: one suite run over a server, one over one-shot processes, and a bare loop. */
export async function benchGsm8k(): Promise<string> {
  if (!existsSync(data)) return 'gsm8k: skipped, ../shared/data/gsm8k is not here';
  const server = await runSuite(at('../examples/gsm8k/gsm8k.suite.yaml'));
  const oneshot = await runSuite(at('../examples/gsm8k/gsm8k-oneshot.suite.yaml'));
  const bare = runBare();
  return [
    'gsm8k: real answers, graded by one Python script',
    row('bare loop of spawnSync', bare, bare.rate),
    row('signalbox, one-shot', oneshot, bare.rate),
    row('signalbox, server', server, bare.rate),
  ].join('\n');
}

interface Run {
  readonly answers: number;
  readonly seconds: number;
  readonly rate: number;
  /** Peak resident memory of the runner itself, in MB; its graders' is not in it. */
  readonly peakMb?: number;
}

function row(name: string, { answers, seconds, rate, peakMb }: Run, baseline: number): string {
  const memory = peakMb === undefined ? '' : `  peak ${peakMb.toFixed(0)} MB`;
  const ratio = (rate / baseline).toFixed(2).padStart(7);
  return `  ${name.padEnd(24)} ${String(answers).padStart(6)} answers ${seconds.toFixed(1).padStart(7)} s ${rate.toFixed(0).padStart(6)} /s ${ratio} ×${memory}`;
}

/** The whole command in a process of its own, which leaves its peak memory behind in its usage report. */
function runSuite(suite: string): Promise<Run> {
  const report = `import { resourceUsage } from 'node:process'; process.on('exit', () => process.stderr.write('\\npeak ' + resourceUsage().maxRSS + '\\n'));`;
  const loader = `data:text/javascript,${encodeURIComponent(report)}`;
  const args = ['--import', loader, main, 'eval', 'run', suite, '--json', '--dataset', data];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('close', () => {
      const { evals, duration_ms } = JSON.parse(stdout);
      const counts = Object.values<{ count: number; unscored: number }>(evals);
      if (counts.some(({ unscored }) => unscored > 0)) reject(new Error('some answers could not be graded'));
      const answers = counts.reduce((sum, { count }) => sum + count, 0);
      const seconds = duration_ms / 1000;
      const peakMb = Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024;
      resolve({ answers, seconds, rate: answers / seconds, peakMb });
    });
  });
}

/** What a program would do by hand, one process after the other, over a part of the answers. */
function runBare(): Run {
  const answers = 200;
  const rows = readFileSync(data, 'utf8').trim().split('\n').slice(0, answers);
  const startedAt = performance.now();
  for (const line of rows) {
    const { ground_truth: truth, '6b_finetuning': model } = JSON.parse(line);
    const request = {
      type: 'final_number',
      params: { truth, answer: model.solution },
      content: model.solution,
      context: {},
    };
    const { stdout } = spawnSync(grader, { input: JSON.stringify(request), encoding: 'utf8' });
    JSON.parse(stdout);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { answers, seconds, rate: answers / seconds };
}
