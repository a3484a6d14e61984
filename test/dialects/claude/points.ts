import { expect } from 'vitest';
import type { DecisionDocument } from '../../../src/index.ts';
import { titled } from '../../cite.ts';
import {
  approveDocs,
  blockRm,
  checkPrompt,
  on,
  openClaude,
  rewriteInput,
  specific,
  validateCommand,
} from './scripts.ts';

const block = (reason: string) => `echo '${JSON.stringify({ decision: 'block', reason })}'`;
const no = (text: string) => `echo ${text} > /dev/stderr; exit 2`;

const hooks = {
  SessionStart: [
    on('startup', 'echo "Branch: main"'),
    on('resume|clear', specific('SessionStart', { additionalContext: 'again', sessionTitle: 'Refunds' })),
  ],
  Setup: [on('init', specific('Setup', { additionalContext: 'ready' }))],
  UserPromptSubmit: [on(undefined, 'python3 .claude/hooks/check_prompt.py')],
  UserPromptExpansion: [on('deploy', no('not on Fridays'))],
  PreToolUse: [
    on('Bash', '"$CLAUDE_PROJECT_DIR"/.claude/hooks/block-rm.sh'),
    on('Bash', 'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/validate.py'),
    on('Read', '.claude/hooks/approve_docs.py'),
    on('Shell', '.claude/hooks/rewrite.js'),
    on('Fetch', specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'outside' })),
    on('Later', specific('PreToolUse', { permissionDecision: 'defer' })),
    on('Old', '.claude/hooks/old.sh'),
  ],
  PreSkillShellCommand: [
    on(
      'Bash',
      specific('PreSkillShellCommand', {
        permissionDecision: 'ask',
        permissionDecisionReason: 'who is this',
      }),
    ),
  ],
  PermissionRequest: [
    on(
      'Bash',
      specific('PermissionRequest', { decision: { behavior: 'allow', updatedInput: { command: 'ls' } } }),
    ),
    on('Write', specific('PermissionRequest', { decision: { behavior: 'deny', message: 'read only' } })),
    on('Edit', 'true'),
  ],
  PermissionDenied: [on('Bash', specific('PermissionDenied', { retry: true }))],
  PostToolUse: [
    on('Write|Edit', block('lint: 1 error')),
    on('mcp__.*', specific('PostToolUse', { updatedMCPToolOutput: { user: '[hidden]' } })),
    on('Bash', no('tests fail now')),
  ],
  PostToolUseFailure: [on('Bash', specific('PostToolUseFailure', { additionalContext: 'try npm ci' }))],
  PostToolBatch: [on(undefined, block('enough'))],
  Notification: [on('permission_prompt', 'true')],
  MessageDisplay: [on(undefined, specific('MessageDisplay', { displayContent: 'HELLO' }))],
  SubagentStart: [on('Explore', specific('SubagentStart', { additionalContext: 'stay in src' }))],
  SubagentStop: [on('Explore', no('look at test/ too'))],
  TaskCreated: [on(undefined, no('name a file'))],
  TaskCompleted: [on(undefined, `echo '{"continue": false, "stopReason": "all done"}'`)],
  Stop: [on(undefined, block('run the tests')), on(undefined, block('write the notes'))],
  StopFailure: [on('rate_limit', 'true')],
  TeammateIdle: [on(undefined, no('take the next task'))],
  InstructionsLoaded: [on(undefined, 'true')],
  ConfigChange: [on(undefined, block('settings are frozen'))],
  CwdChanged: [on(undefined, specific('CwdChanged', { watchPaths: ['.envrc'] }))],
  DirectoryAdded: [on(undefined, 'true')],
  FileChanged: [on('.envrc|.env', 'echo "$(basename "$CLAUDE_ENV_FILE")" > seen.txt')],
  WorktreeCreate: [on(undefined, 'echo Preparing worktree; echo /tmp/trees/feature')],
  WorktreeRemove: [on(undefined, 'true')],
  PreCompact: [on('manual', no('not now'))],
  PostCompact: [on(undefined, 'true')],
  PreModelSwitch: [
    on('opus', specific('PreModelSwitch', { permissionDecision: 'ask', permissionDecisionReason: 'dear' })),
  ],
  PostModelSwitch: [on(undefined, 'echo now haiku')],
  Elicitation: [on('jira', specific('Elicitation', { action: 'accept', content: { name: 'ann' } }))],
  ElicitationResult: [on('jira', no('never mind'))],
  SessionEnd: [on(undefined, 'true')],
};

const files = {
  '.claude/hooks/block-rm.sh': blockRm,
  '.claude/hooks/validate.py': validateCommand,
  '.claude/hooks/approve_docs.py': approveDocs,
  '.claude/hooks/check_prompt.py': checkPrompt,
  '.claude/hooks/rewrite.js': rewriteInput,
  '.claude/hooks/old.sh': `#!/bin/sh\necho '{"decision": "block", "reason": "deprecated"}'\n`,
};

export interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point: string;
  readonly payload?: object;
  /** The differences from an allow without hooks. */
  readonly means: Partial<DecisionDocument>;
}

const nobody = {
  verdict: 'allow',
  hook: null,
  dialect: 'claude',
  reason: '',
  enforced: false,
  replace: null,
  result: null,
  context: [],
  abort: null,
  metadata: {},
};
export const env_file = expect.stringMatching(/^\/.*\/env$/);
export const source = expect.stringMatching(/^\/.*\/\.claude\/settings\.json$/);

export async function fireAll(rows: readonly Row[]) {
  const { runtime } = await openClaude(hooks, { files });
  const fired = await Promise.all(
    titled(rows).map(async ({ title, point, payload = {} }) => [
      title,
      await runtime.hooks.fire({ dialect: 'claude', point, payload }),
    ]),
  );
  const expected = titled(rows).map(({ title, means }) => [title, { ...nobody, ...means }]);
  return { fired: Object.fromEntries(fired), expected: Object.fromEntries(expected) };
}
