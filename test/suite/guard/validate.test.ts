import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HookConfig } from '../../../src/config/config.ts';
import { formatProblem } from '../../../src/config/problem.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import type { SuiteRuntime } from '../../../src/suite/validate/runtime.ts';
import { header, writeFiles } from '../support.ts';

function hook(name: string, more: Partial<HookConfig> = {}): SuiteRuntime['hooks'][number] {
  return { name, hook: 'provider', phases: ['before_call'], mode: 'filter', ...more };
}

const usual = [hook('pii'), hook('audit', { mode: 'observe' }), hook('pii_next', { mode: 'shadow' })];

/** The problems of a suite with one eval, which stands in line 6. */
function problemsOf(members: string, hooks: SuiteRuntime['hooks'] | undefined = usual, gates = ''): string[] {
  const text = `${header}spec:\n  cases: [{text: a}]\n  evals:\n    - {id: g, ${members}}\n${gates}`;
  const root = writeFiles({ 'x.suite.yaml': text });
  const config = { evals: [], tools: [], providers: [], hooks };
  const { problems } = loadSuite(join(root, 'x.suite.yaml'), config);
  return problems.map((problem) => formatProblem(problem).replaceAll(`${root}/`, ''));
}

const wrong: readonly { title: string; members: string; hooks?: SuiteRuntime['hooks']; said: readonly string[] }[] = [
  { title: 'nothing', members: 'guard: {hook: provider}, expected: true', said: [] },
  {
    title: 'a guard without a label',
    members: 'guard: {hook: provider}',
    said: [''],
  },
  { title: 'a label that is a word', members: 'guard: {hook: provider}, expected: yes please', said: [''] },
  { title: 'a label of no guard', members: 'type: contains, params: {patterns: [a]}, content: b, expected: true', said: [''] },
  {
    title: 'members of a check',
    members: 'guard: {hook: provider}, expected: true, params: {a: 1}, content: b',
    said: [''],
  },
  { title: 'a phase of another hook', members: 'guard: {hook: tool, phase: after_call}, expected: true', said: [''] },
  { title: 'a hook that has no verdicts', members: 'guard: {hook: session}, expected: true', said: [''] },
  { title: 'a response too early', members: 'guard: {hook: provider, response: {}}, expected: true', said: [''] },
  {
    title: 'no response where one is asked about',
    members: 'guard: {hook: provider, phase: after_call}, expected: true',
    hooks: [hook('pii', { phases: ['after_call'] })],
    said: [''],
  },
  { title: 'nobody to be asked', members: 'guard: {hook: tool}, expected: true', said: [''] },
  {
    title: 'only shadows to be asked',
    members: 'guard: {hook: provider}, expected: true',
    hooks: [hook('pii_next', { mode: 'shadow' })],
    said: [''],
  },
  { title: 'an observer by name', members: 'guard: {hook: provider, only: audit}, expected: true', said: [''] },
  { title: 'a misspelt name', members: 'guard: {hook: provider, only: pii_nxt}, expected: true', said: [''] },
  { title: 'a hook of another phase', members: 'guard: {hook: provider, phase: after_call, response: {}, only: pii}, expected: true', said: [''] },
  { title: 'an expression over what is not there', members: 'guard: {hook: provider}, expected: "${row.bad}"', said: [''] },
];

test.each(wrong)('what is wrong with $title', ({ members, hooks, said }) => {
  expect(problemsOf(members, hooks)).toEqual(said);
});

test('a gate on what only guards have wants a guard', () => {
  const gates = '  gates: [{eval: g, metric: recall, min: 1}]\n';
  expect(problemsOf('type: contains, params: {patterns: [a]}, content: b', usual, gates)).toEqual(['']);
  expect(problemsOf('guard: {hook: provider}, expected: true', usual, gates)).toEqual([]);
});
