import { expect, test } from 'vitest';
import { claudeEvents } from '../../../src/dialects/claude/config/settings.ts';
import { rowsOf } from '../../table.ts';
import { env_file, fireAll, type Row, source } from './points.ts';

const task = { task_id: '1', task_subject: 'build' };
const models = { from_model: 'sonnet', to_model: 'opus' };

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | payload | means
  plain stdout at SessionStart is context | CC-5-03 CC-6-05 CC-3-07 | SessionStart |  | ${{ context: ['Branch: main'], metadata: { env_file } }}
  its other fields are put on record | CC-5-06 | SessionStart | ${{ source: 'resume' }} | ${{ context: ['again'], metadata: { sessionTitle: 'Refunds', env_file } }}
  Setup gives context | CC-5-01 | Setup |  | ${{ context: ['ready'], metadata: { env_file } }}
  any other gets the time beside it | CC-6-05 | UserPromptSubmit | ${{ prompt: 'hello' }} | ${{ context: ['Current time: noon'] }}
  a slash command is refused | CC-5-01 | UserPromptExpansion | ${{ command_name: 'deploy' }} | ${{ verdict: 'deny', hook: 'UserPromptExpansion-1', reason: 'not on Fridays' }}
  a notification is told | CC-5-07 | Notification | ${{ message: 'look', notification_type: 'permission_prompt' }} | ${{}}
  a text is shown otherwise | CC-5-08 | MessageDisplay | ${{ delta: 'hello' }} | ${{ verdict: 'modify', hook: 'MessageDisplay-1', replace: { displayContent: 'HELLO' } }}
  a subagent gets context | CC-5-01 | SubagentStart | ${{ agent_type: 'Explore' }} | ${{ context: ['stay in src'] }}
  a task is cancelled | CC-5-01 | TaskCreated | ${task} | ${{ verdict: 'deny', hook: 'TaskCreated-1', reason: 'name a file' }}
  a teammate is ended | CC-7-01 | TaskCompleted | ${task} | ${{ verdict: 'abort', abort: 'turn', hook: 'TaskCompleted-1', reason: 'all done' }}
  the turn goes on with both reasons | CC-8-03 | Stop |  | ${{ verdict: 'modify', hook: 'Stop-2', replace: { follow_up: 'run the tests\n\nwrite the notes' } }}
  a failed turn is told | CC-5-07 | StopFailure | ${{ error: 'rate_limit' }} | ${{}}
  loaded instructions are told | CC-5-07 | InstructionsLoaded | ${{ file_path: '/a/CLAUDE.md', load_reason: 'include' }} | ${{}}
  a change of settings is refused | CC-5-01 | ConfigChange | ${{ source: 'user_settings' }} | ${{ verdict: 'deny', hook: 'ConfigChange-1', reason: 'settings are frozen' }}
  one of policy settings is not | CC-5-09 | ConfigChange | ${{ source: 'policy_settings' }} | ${{}}
  an added folder is told | CC-5-07 | DirectoryAdded | ${{ directory: '/a', source: 'slash_command' }} | ${{}}
  a changed file is matched by its name, and has an env file | CC-3-05@oneshot CC-3-07 CC-2-03 | FileChanged | ${{ file_path: '/a/.envrc' }} | ${{ metadata: { env_file } }}
  a worktree is the last line | CC-7-15 | WorktreeCreate | ${{ name: 'feature' }} | ${{ verdict: 'respond', hook: 'WorktreeCreate-1', result: { path: '/tmp/trees/feature' } }}
  a removed worktree is told | CC-5-07 | WorktreeRemove | ${{ worktree_path: '/w' }} | ${{}}
  a compaction is refused | CC-5-01 | PreCompact | ${{ trigger: 'manual' }} | ${{ verdict: 'deny', hook: 'PreCompact-1', reason: 'not now' }}
  unless it is another one | CC-2-02 | PreCompact | ${{ trigger: 'auto' }} | ${{}}
  a compaction that was made is told | CC-5-07 | PostCompact | ${{ trigger: 'auto' }} | ${{}}
  a switch of models is asked about | CC-7-05 | PreModelSwitch | ${models} | ${{ verdict: 'ask', hook: 'PreModelSwitch-1', reason: 'dear', metadata: { source } }}
  after it there is context | CC-6-05 | PostModelSwitch | ${models} | ${{ context: ['now haiku'] }}
  a session’s end is told | CC-5-07 | SessionEnd |  | ${{}}
`,
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
    title: 'a subagent keeps running',
    cites: 'CC-8-01',
    point: 'SubagentStop',
    payload: { agent_type: 'Explore' },
    means: { verdict: 'modify', hook: 'SubagentStop-1', replace: { follow_up: 'look at test/ too' } },
  },
  {
    title: 'a teammate keeps working',
    cites: 'CC-8-01',
    point: 'TeammateIdle',
    payload: { teammate_name: 'ann' },
    means: { verdict: 'modify', hook: 'TeammateIdle-1', replace: { follow_up: 'take the next task' } },
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
    title: 'a command of a skill is stopped, as no person can be asked about it',
    cites: 'CC-7-05',
    point: 'PreSkillShellCommand',
    payload: { tool_name: 'Bash', tool_input: { command: 'git log' }, command_name: 'release' },
    means: { verdict: 'deny', hook: 'PreSkillShellCommand-1', reason: 'who is this' },
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
