import { config, suite } from './command-line.ts';

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => `{"text": "no ${index}"}\n`).join('');

export const failing = (count: number, spec = '') => ({
  'runtime.yaml': config('state_store: {type: memory}\n'),
  'rows.jsonl': rows(count),
  'demo.suite.yaml': suite(`
runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
case: {content: "\${case.text}"}
evals: [{id: says_yes, type: contains, params: {patterns: ["yes"]}}]
${spec}`),
});

export const evalRun = (...args: string[]) => ['eval', 'run', 'demo.suite.yaml', ...args];
