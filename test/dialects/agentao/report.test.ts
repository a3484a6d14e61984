import { expect, test } from 'vitest';
import { answers } from '../../../src/contract/hook.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { conclude, questionAt, said } from './asking.ts';

const context = { additionalContext: 'a' };
const deny = { hookSpecificOutput: { permissionDecision: 'deny', reason: 'no' } };
const askFirst = { hookSpecificOutput: { permissionDecision: 'ask', reason: 'one' } };
const allow = { hookSpecificOutput: { permissionDecision: 'allow' } };
const input = { hookSpecificOutput: { updatedInput: { a: 1 } } };

const fired = [
  {
    cites: 'AO-9-03 AO-9-04',
    point: 'UserPromptSubmit',
    given: [context],
    data: {
      outcome: 'allow',
      blocking_error: null,
      stop_reason: null,
      added_context_count: 1,
      rule_count: 4,
      effect: 'modify',
    },
  },
  {
    cites: 'AO-9-03',
    point: 'UserPromptSubmit',
    given: [{ blockingError: 'no' }],
    data: {
      outcome: 'block',
      blocking_error: 'no',
      stop_reason: null,
      added_context_count: 0,
      rule_count: 4,
      effect: 'deny',
    },
  },
  {
    cites: 'AO-9-03',
    point: 'UserPromptSubmit',
    given: [{ preventContinuation: 1, stopReason: 'x' }],
    data: {
      outcome: 'block',
      blocking_error: null,
      stop_reason: 'x',
      added_context_count: 0,
      rule_count: 4,
      effect: 'stop',
    },
  },
  {
    cites: 'AO-9-04',
    point: 'PreToolUse',
    given: [allow],
    data: { outcome: 'allow', tool: 'run_shell_command', added_context_count: 0, effect: 'none' },
  },
  {
    cites: 'AO-9-03',
    point: 'PreToolUse',
    given: [askFirst],
    data: { outcome: 'block', tool: 'run_shell_command', added_context_count: 0, effect: 'ask' },
  },
  {
    cites: 'AO-9-03',
    point: 'PreToolUse',
    given: [deny],
    data: { outcome: 'block', tool: 'run_shell_command', added_context_count: 0, effect: 'deny' },
  },
  {
    cites: 'AO-9-03',
    point: 'PreToolUse',
    given: [input],
    data: { outcome: 'allow', tool: 'run_shell_command', added_context_count: 0, effect: 'modify' },
  },
  {
    cites: 'AO-9-04',
    point: 'Stop',
    given: [{ force_continue: true }],
    data: {
      outcome: 'continue',
      turn_end_reason: 'final_response',
      at_max_iter: false,
      added_context_count: 0,
      suppress_output: false,
      effect: 'continue',
    },
  },
  {
    cites: 'AO-9-03',
    point: 'Stop',
    given: [{ blockingError: 'no' }],
    data: {
      outcome: 'block',
      turn_end_reason: 'final_response',
      at_max_iter: false,
      added_context_count: 0,
      suppress_output: false,
      effect: 'deny',
    },
  },
  {
    cites: 'AO-9-04',
    point: 'PreCompact',
    given: [{}],
    data: { outcome: 'allow', compaction_type: 'full', trigger: 'manual', effect: 'none' },
  },
  { cites: 'AO-9-05', point: 'SessionStart', given: [{}], data: { outcome: 'allow', effect: 'none' } },
  { cites: 'AO-9-05', point: 'SessionEnd', given: [{}], data: { outcome: 'allow', effect: 'none' } },
  {
    cites: 'AO-9-05',
    point: 'PostToolUse',
    given: [{ blockingError: 'no' }],
    data: { outcome: 'block', effect: 'deny' },
  },
  {
    cites: 'AO-9-05',
    point: 'PostToolUseFailure',
    given: [{ continue: false }],
    data: { outcome: 'block', effect: 'stop' },
  },
];

test.each(
  fired.map((row) => ({ ...row, title: `${row.point} ${JSON.stringify(row.given)} [${row.cites} AO-9-02]` })),
)('reports $title', ({ point, given, data }) => {
  const question = questionAt(point);
  const { answer } = conclude(question, said(point, ...given), 4);
  expect(agentao.report?.(question, { selected: 4, answer })).toEqual({ matched_rule_count: 4, ...data });
});

test('a forced turn at the limit has its own status [AO-9-03]', () => {
  const question = questionAt('Stop', { payload: { turn_end_reason: 'max_iterations' } });
  const { answer } = conclude(question, said('Stop', { force_continue: true }));
  expect(agentao.report?.(question, { selected: 1, answer })).toMatchObject({
    outcome: 'continue_at_max_iter',
  });
});

test('nothing is reported when no rule was selected [AO-9-01]', () => {
  expect(agentao.report?.(questionAt('Stop'), { selected: 0, answer: answers.allow() })).toBeUndefined();
});
