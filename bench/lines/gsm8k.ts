import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../run/line.ts';
import { bareServer } from '../ways/bare-server.ts';
import { suiteRun } from '../ways/suite-run.ts';
import { findPython } from './programs.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const rows = at('../../../shared/data/gsm8k/example_model_solutions.jsonl');
const grader = at('../../examples/gsm8k/final_number.py');

const mapping = { id: 'case-${case.question}', content: '${case["175b_verification"].solution}' };
const judge = { type: 'grader', params: { truth: '${case.ground_truth}' } };

/** Real model answers, graded by one Python script. */
export const gsm8k: Bench = {
  name: 'gsm8k',
  about: '1,319 real answers, graded by one Python script that is started, forked or stays alive',
  lines: async () => {
    if (!existsSync(rows)) return 'skipped: ../shared/data/gsm8k is not here';
    const all = readFileSync(rows, 'utf8').trimEnd().split('\n');
    const { ground_truth: truth, '175b_verification': answer } = JSON.parse(all[0] ?? '');
    const params = { type: 'grader', params: { truth }, content: answer.solution, context: {} };
    const suite = (name: string, more: object, cases: number, concurrency: number) => {
      const evals = { grader: { command: findPython(), args: [grader], ...more } };
      return suiteRun(name, { spec: { concurrency, evals }, cases, judge, dataset: { rows, case: mapping } });
    };
    const served = { args: [grader, '--server'], runtime: 'server' };
    const command = [findPython(), grader, '--server'];
    return [
      {
        id: 'gsm8k/all',
        title: `${all.length} answers, the whole suite`,
        unit: 's',
        count: all.length,
        ways: [
          bareServer('bare pipelined loop to a Python server', { command, params, atOnce: 16 }),
          suite('signalbox, Python server', served, all.length, 16),
          suite('signalbox, fork', { runtime: 'fork' }, all.length, 4),
        ],
      },
      {
        id: 'gsm8k/cold',
        title: '100 answers, one process each',
        unit: '/s',
        count: 100,
        ways: [
          suite('signalbox, one-shot', {}, 100, 2),
          suite('signalbox, fork', { runtime: 'fork' }, 100, 4),
        ],
      },
    ];
  },
};
