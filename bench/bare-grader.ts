import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// The baseline without Signalbox: one process after another, over every `step`-th row from `first`.
const [grader = '', rows = '', first = '0', step = '1'] = process.argv.slice(2);
const lines = readFileSync(rows, 'utf8').trimEnd().split('\n');
let [cases, passed] = [0, 0];
const startedAt = performance.now();
for (let at = Number(first); at < lines.length; at += Number(step)) {
  const { question, ground_truth: truth, solution } = JSON.parse(lines[at] ?? '');
  const request = {
    type: 'final_number',
    params: { truth },
    content: solution,
    context: { messages: [{ role: 'user', content: question }] },
  };
  const { stdout } = spawnSync(grader, { input: JSON.stringify(request), encoding: 'utf8' });
  passed += JSON.parse(stdout).score;
  cases += 1;
}
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(`${JSON.stringify({ cases, passed, seconds })}\n`);
