import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '../../../src/base/yaml/problem.ts';
import type { HookConfig } from '../../../src/config/config.ts';
import { loadSuite } from '../../../src/suites/load.ts';
import type { SuiteRuntime } from '../../../src/suites/suite-runtime.ts';
import { header, writeFiles } from '../support.ts';

function hook(name: string, more: Partial<HookConfig> = {}): SuiteRuntime['hooks'][number] {
  return { name, hook: 'provider', phases: ['before_call'], mode: 'filter', ...more };
}

function stranger(event: string): SuiteRuntime['foreign'][number] {
  const settings = { event, isAsync: false, stopCap: 8, projectDir: '/desk' };
  return { name: `${event}-1`, dialect: 'claude', settings };
}

const usual = [hook('pii'), hook('audit', { mode: 'observe' }), hook('pii_next', { mode: 'shadow' })];

type Declared = Partial<Pick<SuiteRuntime, 'hooks' | 'foreign' | 'imports'>>;

/** The problems of a suite with one eval, which is in line 6. */
function problemsOf(members: string, declared: Declared = {}, gates = ''): string[] {
  const text = `${header}spec:\n  cases: [{text: a}]\n  evals:\n    - {id: g, ${members}}\n${gates}`;
  const root = writeFiles({ 'x.suite.yaml': text });
  const none = { evals: [], tools: [], providers: [], foreign: [], imports: [], privateHosts: [] };
  const config = { ...none, hooks: usual, ...declared };
  const { problems } = loadSuite(join(root, 'x.suite.yaml'), config);
  return problems.map((problem) => formatProblem(problem).replaceAll(`${root}/`, ''));
}

const wrong: readonly {
  title: string;
  members: string;
  declared?: Declared;
  said: readonly string[];
}[] = [
  { title: 'nothing', members: 'guard: {hook: provider}, expected: true', said: [] },
  {
    title: 'a guard without a label',
    members: 'guard: {hook: provider}',
    said: [
      'x.suite.yaml:6:7 evals[0].expected: is required: whether the guard should flag the event\n    hint: Write an expression that is true if the guard should flag the event, such as ${case.label == "bad"}.',
    ],
  },
  {
    title: 'a label that is a word',
    members: 'guard: {hook: provider}, expected: yes please',
    said: [
      'x.suite.yaml:6:50 evals[0].expected: must not be text, except an expression `${…}` (got: yes please)',
    ],
  },
  {
    title: 'a label of no guard',
    members: 'type: contains, params: {patterns: [a]}, content: b, expected: true',
    said: [
      'x.suite.yaml:6:78 evals[0].expected: applies only to guards, and this eval is not a guard\n    hint: Write the value that a check compares with into its params.',
    ],
  },
  {
    title: 'members of a check',
    members: 'guard: {hook: provider}, expected: true, params: {a: 1}, content: b',
    said: [
      'x.suite.yaml:6:64 evals[0].params: cannot be set for a guard, which has an event instead',
      'x.suite.yaml:6:81 evals[0].content: cannot be set for a guard, which has an event instead',
    ],
  },
  {
    title: 'a phase of another hook',
    members: 'guard: {hook: tool, phase: after_call}, expected: true',
    said: [
      'x.suite.yaml:6:42 evals[0].guard.phase: a tool hook has no phase after_call\n    hint: A tool hook has before_execution and after_execution.',
    ],
  },
  {
    title: 'a hook that has no verdicts',
    members: 'guard: {hook: session}, expected: true',
    said: ['x.suite.yaml:6:29 evals[0].guard.hook: must be one of: provider, tool (got: session)'],
  },
  {
    title: 'a response too early',
    members: 'guard: {hook: provider, response: {}}, expected: true',
    said: [
      'x.suite.yaml:6:49 evals[0].guard.response: before_call has no response yet\n    hint: Set `phase`, or remove the response.',
    ],
  },
  {
    title: 'no response where one is asked about',
    members: 'guard: {hook: provider, phase: after_call}, expected: true',
    declared: { hooks: [hook('pii', { phases: ['after_call'] })] },
    said: ['x.suite.yaml:6:22 evals[0].guard.response: is required: after_call has a response'],
  },
  {
    title: 'nobody to be asked',
    members: 'guard: {hook: tool}, expected: true',
    said: [
      'x.suite.yaml:6:29 evals[0].guard.hook: no filter runs at tool before_execution\n    hint: Declare one under `hooks` of the runtime.',
    ],
  },
  {
    title: 'only shadows to be asked',
    members: 'guard: {hook: provider}, expected: true',
    declared: { hooks: [hook('pii_next', { mode: 'shadow' })] },
    said: [
      'x.suite.yaml:6:29 evals[0].guard.hook: no filter runs at provider before_call\n    hint: To run a shadow, name it: only: pii_next.',
    ],
  },
  {
    title: 'a hook of Claude Code at the same moment',
    members: 'guard: {hook: tool}, expected: true',
    declared: { foreign: [stranger('PreToolUse')] },
    said: [],
  },
  {
    title: 'a hook of Claude Code that hears of failures',
    members: 'guard: {hook: tool, phase: after_execution, response: {}}, expected: true',
    declared: { foreign: [stranger('PostToolUseFailure')] },
    said: [],
  },
  {
    title: 'a hook of Claude Code at another moment',
    members: 'guard: {hook: tool}, expected: true',
    declared: { foreign: [stranger('PostToolUse')] },
    said: [
      'x.suite.yaml:6:29 evals[0].guard.hook: no filter runs at tool before_execution\n    hint: Declare one under `hooks` of the runtime.',
    ],
  },
  {
    title: 'plugins that say themselves what they hear',
    members: 'guard: {hook: tool}, expected: true',
    declared: { imports: [{}] },
    said: [],
  },
  {
    title: 'a hook of Claude Code by name',
    members: 'guard: {hook: tool, only: PreToolUse-1}, expected: true',
    declared: { foreign: [stranger('PreToolUse')] },
    said: [
      'x.suite.yaml:6:41 evals[0].guard.only: hook PreToolUse-1 is a hook of claude, which run only as a group',
    ],
  },
  {
    title: 'an observer by name',
    members: 'guard: {hook: provider, only: audit}, expected: true',
    said: [
      'x.suite.yaml:6:45 evals[0].guard.only: hook audit is an observer, so it has no verdict\n    hint: known hooks: pii, pii_next',
    ],
  },
  {
    title: 'a misspelt name',
    members: 'guard: {hook: provider, only: pii_nxt}, expected: true',
    said: [
      'x.suite.yaml:6:45 evals[0].guard.only: no hook named pii_nxt is declared\n    hint: did you mean `pii_next`?',
    ],
  },
  {
    title: 'a hook of another phase',
    members: 'guard: {hook: provider, phase: after_call, response: {}, only: pii}, expected: true',
    said: ['x.suite.yaml:6:78 evals[0].guard.only: hook pii does not run at provider after_call'],
  },
  {
    title: 'an expression over what is not there',
    members: 'guard: {hook: provider}, expected: "${row.bad}"',
    said: [
      'x.suite.yaml:6:50 evals[0].expected: `${row.bad}` is not a valid expression: Unknown variable: row\n    hint: Expressions see the row as `case`.',
    ],
  },
];

test.each(wrong)('validation reports $title', ({ members, declared, said }) => {
  expect(problemsOf(members, declared)).toEqual(said);
});

test('a gate on guard metrics needs a guard', () => {
  const gates = '  gates: [{eval: g, metric: recall, min: 1}]\n';
  expect(problemsOf('type: contains, params: {patterns: [a]}, content: b', {}, gates)).toEqual([
    'x.suite.yaml:7:29 gates[0].metric: recall applies only to guards, and this eval is not a guard',
  ]);
  expect(problemsOf('guard: {hook: provider}, expected: true', {}, gates)).toEqual([]);
});
