import { expect, test } from 'vitest';
import { claudeEvents } from '../../../src/dialects/claude/config/settings.ts';
import { env_file, fireAll, type Row, source } from './points.ts';

const task = { task_id: '1', task_subject: 'build' };
const models = { from_model: 'sonnet', to_model: 'opus' };

const rows: readonly Row[] = [
  {
    title: 'plain stdout at SessionStart is context',
    cites: 'CC-5-03 CC-6-05 CC-3-07',
    point: 'SessionStart',
    means: { context: ['Branch: main'], metadata: { env_file } },
  },
  {
    title: 'its other fields are put on record',
    cites: 'CC-5-06',
    point: 'SessionStart',
    payload: { source: 'resume' },
    means: { context: ['again'], metadata: { sessionTitle: 'Refunds', env_file } },
  },
  {
    title: 'Setup gives context',
    cites: 'CC-5-01',
    point: 'Setup',
    means: { context: ['ready'], metadata: { env_file } },
  },
  {
    title: 'a prompt with a secret is refused',
    cites: 'CC-5-01',
    point: 'UserPromptSubmit',
    payload: { prompt: 'use password: x' },
    means: {
      verdict: 'deny',
      hook: 'UserPromptSubmit-1',
      reason: 'Security policy violation: Prompt contains potential secrets.',
    },
  },
  {
    title: 'any other gets the time beside it',
    cites: 'CC-6-05',
    point: 'UserPromptSubmit',
    payload: { prompt: 'hello' },
    means: { context: ['Current time: noon'] },
  },
  {
    title: 'a slash command is refused',
    cites: 'CC-5-01',
    point: 'UserPromptExpansion',
    payload: { command_name: 'deploy' },
    means: { verdict: 'deny', hook: 'UserPromptExpansion-1', reason: 'not on Fridays' },
  },
  {
    title: 'a notification is told',
    cites: 'CC-5-07',
    point: 'Notification',
    payload: { message: 'look', notification_type: 'permission_prompt' },
    means: {},
  },
  {
    title: 'a text is shown otherwise',
    cites: 'CC-5-08',
    point: 'MessageDisplay',
    payload: { delta: 'hello' },
    means: { verdict: 'modify', hook: 'MessageDisplay-1', replace: { displayContent: 'HELLO' } },
  },
  {
    title: 'a subagent gets context',
    cites: 'CC-5-01',
    point: 'SubagentStart',
    payload: { agent_type: 'Explore' },
    means: { context: ['stay in src'] },
  },
  {
    title: 'a subagent keeps running',
    cites: 'CC-8-01',
    point: 'SubagentStop',
    payload: { agent_type: 'Explore' },
    means: { verdict: 'modify', hook: 'SubagentStop-1', replace: { follow_up: 'look at test/ too' } },
  },
  {
    title: 'a task is cancelled',
    cites: 'CC-5-01',
    point: 'TaskCreated',
    payload: task,
    means: { verdict: 'deny', hook: 'TaskCreated-1', reason: 'name a file' },
  },
  {
    title: 'a teammate is ended',
    cites: 'CC-7-01',
    point: 'TaskCompleted',
    payload: task,
    means: { verdict: 'abort', abort: 'turn', hook: 'TaskCompleted-1', reason: 'all done' },
  },
  {
    title: 'the turn goes on with both reasons',
    cites: 'CC-8-03',
    point: 'Stop',
    means: { verdict: 'modify', hook: 'Stop-2', replace: { follow_up: 'run the tests\n\nwrite the notes' } },
  },
  {
    title: 'a failed turn is told',
    cites: 'CC-5-07',
    point: 'StopFailure',
    payload: { error: 'rate_limit' },
    means: {},
  },
  {
    title: 'a teammate keeps working',
    cites: 'CC-8-01',
    point: 'TeammateIdle',
    payload: { teammate_name: 'ann' },
    means: { verdict: 'modify', hook: 'TeammateIdle-1', replace: { follow_up: 'take the next task' } },
  },
  {
    title: 'loaded instructions are told',
    cites: 'CC-5-07',
    point: 'InstructionsLoaded',
    payload: { file_path: '/a/CLAUDE.md', load_reason: 'include' },
    means: {},
  },
  {
    title: 'a change of settings is refused',
    cites: 'CC-5-01',
    point: 'ConfigChange',
    payload: { source: 'user_settings' },
    means: { verdict: 'deny', hook: 'ConfigChange-1', reason: 'settings are frozen' },
  },
  {
    title: 'one of policy settings is not',
    cites: 'CC-5-09',
    point: 'ConfigChange',
    payload: { source: 'policy_settings' },
    means: {},
  },
  {
    title: 'another folder has other files to watch',
    cites: 'CC-5-08 CC-3-07',
    point: 'CwdChanged',
    payload: { old_cwd: '/a', new_cwd: '/b' },
    means: {
      verdict: 'modify',
      hook: 'CwdChanged-1',
      replace: { watchPaths: ['.envrc'] },
      metadata: { env_file },
    },
  },
  {
    title: 'an added folder is told',
    cites: 'CC-5-07',
    point: 'DirectoryAdded',
    payload: { directory: '/a', source: 'slash_command' },
    means: {},
  },
  {
    title: 'a changed file is matched by its name, and has an env file',
    cites: 'CC-3-05@oneshot CC-3-07 CC-2-03',
    point: 'FileChanged',
    payload: { file_path: '/a/.envrc' },
    means: { metadata: { env_file } },
  },
  {
    title: 'a worktree is the last line',
    cites: 'CC-7-15',
    point: 'WorktreeCreate',
    payload: { name: 'feature' },
    means: { verdict: 'respond', hook: 'WorktreeCreate-1', result: { path: '/tmp/trees/feature' } },
  },
  {
    title: 'a removed worktree is told',
    cites: 'CC-5-07',
    point: 'WorktreeRemove',
    payload: { worktree_path: '/w' },
    means: {},
  },
  {
    title: 'a compaction is refused',
    cites: 'CC-5-01',
    point: 'PreCompact',
    payload: { trigger: 'manual' },
    means: { verdict: 'deny', hook: 'PreCompact-1', reason: 'not now' },
  },
  {
    title: 'unless it is another one',
    cites: 'CC-2-02',
    point: 'PreCompact',
    payload: { trigger: 'auto' },
    means: {},
  },
  {
    title: 'a compaction that was made is told',
    cites: 'CC-5-07',
    point: 'PostCompact',
    payload: { trigger: 'auto' },
    means: {},
  },
  {
    title: 'a command of a skill is stopped, as no person can be asked about it',
    cites: 'CC-7-05',
    point: 'PreSkillShellCommand',
    payload: { tool_name: 'Bash', tool_input: { command: 'git log' }, command_name: 'release' },
    means: { verdict: 'deny', hook: 'PreSkillShellCommand-1', reason: 'who is this' },
  },
  {
    title: 'a switch of models is asked about',
    cites: 'CC-7-05',
    point: 'PreModelSwitch',
    payload: models,
    means: { verdict: 'ask', hook: 'PreModelSwitch-1', reason: 'dear', metadata: { source } },
  },
  {
    title: 'after it there is context',
    cites: 'CC-6-05',
    point: 'PostModelSwitch',
    payload: models,
    means: { context: ['now haiku'] },
  },
  {
    title: 'a form is filled in',
    cites: 'CC-7-16',
    point: 'Elicitation',
    payload: { mcp_server_name: 'jira', message: 'who?' },
    means: {
      verdict: 'respond',
      hook: 'Elicitation-1',
      result: { action: 'accept', content: { name: 'ann' } },
    },
  },
  {
    title: 'a filled one becomes a refusal',
    cites: 'CC-7-16',
    point: 'ElicitationResult',
    payload: { mcp_server_name: 'jira', action: 'accept' },
    means: {
      verdict: 'respond',
      hook: 'ElicitationResult-1',
      reason: 'never mind',
      result: { action: 'decline' },
    },
  },
  { title: 'a session’s end is told', cites: 'CC-5-07', point: 'SessionEnd', means: {} },
];

test('all other events, fired by a host, mean what the reference says', async () => {
  const { fired, expected } = await fireAll(rows);
  expect(fired).toEqual(expected);
});

test('every event is fired by one of the two tables', () => {
  const tools = [
    'PreToolUse',
    'PermissionRequest',
    'PermissionDenied',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
  ];
  expect(new Set([...rows.map(({ point }) => point), ...tools])).toEqual(new Set(claudeEvents));
});
