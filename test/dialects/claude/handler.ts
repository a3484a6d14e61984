import { RuntimeError, toFault } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { type Answer, deny } from '../../../src/contract/hook.ts';
import { createHookContext, type HookContext } from '../../../src/contract/turn.ts';
import type { ClaudeSettings } from '../../../src/dialects/claude/config/settings.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import { type Composed, compose, type HookAnswer } from '../../../src/dialects/compose.ts';
import type { Decoded } from '../../../src/dialects/dialect.ts';
import type { HookEntry, Question } from '../../../src/dialects/foreign-dialect.ts';
import type { ProcessReply, Reply } from '../../../src/process/transport.ts';

export const scene: HookContext = { ...createHookContext('s1'), turn_id: 'p1', transcript: '/t/s1.jsonl' };

export interface SeatChoice extends Partial<ClaudeSettings> {
  readonly name?: string;
  readonly onFailure?: 'own' | 'deny';
  readonly source?: string;
}

export function seatAt(
  event: string,
  { name = 'guard', onFailure = 'own', source, ...settings }: SeatChoice = {},
): HookEntry<ClaudeSettings> {
  return {
    name,
    onFailure,
    cwd: '/project',
    ...(source !== undefined && { source }),
    settings: { event, isAsync: false, stopCap: 8, projectDir: '/project', ...settings },
  };
}

/** The required payload of each event, in the order of the reference. */
export const given: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SessionStart: {},
  Setup: {},
  UserPromptSubmit: { prompt: 'hello' },
  UserPromptExpansion: { command_name: 'deploy' },
  PreToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  PreSkillShellCommand: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  PermissionDenied: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  PostToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { stdout: 'a' } },
  PostToolUseFailure: { tool_name: 'Bash', tool_input: { command: 'ls' }, error: 'broken' },
  PostToolBatch: { tool_calls: [] },
  Notification: { message: 'look', notification_type: 'idle_prompt' },
  MessageDisplay: { delta: 'hel' },
  SubagentStart: { agent_type: 'Explore' },
  SubagentStop: { agent_type: 'Explore' },
  TaskCreated: { task_id: '1', task_subject: 'build' },
  TaskCompleted: { task_id: '1', task_subject: 'build' },
  Stop: {},
  StopFailure: { error: 'rate_limit' },
  TeammateIdle: { teammate_name: 'ann' },
  InstructionsLoaded: { file_path: '/a/CLAUDE.md', load_reason: 'include' },
  ConfigChange: { source: 'user_settings' },
  CwdChanged: { old_cwd: '/a', new_cwd: '/b' },
  DirectoryAdded: { directory: '/a', source: 'slash_command' },
  FileChanged: { file_path: '/a/.envrc' },
  WorktreeCreate: { name: 'w' },
  WorktreeRemove: { worktree_path: '/w' },
  PreCompact: { trigger: 'manual' },
  PostCompact: { trigger: 'manual' },
  PreModelSwitch: { from_model: 'a', to_model: 'b' },
  PostModelSwitch: { from_model: 'a', to_model: 'b' },
  Elicitation: { mcp_server_name: 'srv', message: 'who?' },
  ElicitationResult: { mcp_server_name: 'srv', action: 'accept' },
  SessionEnd: {},
};

export function questionAt(
  point: string,
  more: Readonly<Record<string, unknown>> = {},
  at: HookContext = scene,
): Question {
  return { point, payload: claude.complete(point, { ...given[point], ...more }, at), hookContext: at };
}

export function left(
  stdout: string | Uint8Array = '',
  { exitCode = 0, stderr = '', ...more }: Partial<Omit<ProcessReply, 'via' | 'stdout'>> = {},
): ProcessReply {
  return { via: 'process', exitCode, signal: null, stdout: Buffer.from(stdout), stderr, ...more };
}

export function posted(httpStatus: number, body = ''): ProcessReply {
  return left(body, { exitCode: null, httpStatus });
}

export function readAt(
  point: string,
  reply: Reply | RuntimeError,
  seat: SeatChoice = {},
  question: Question = questionAt(point),
): Decoded<Answer> {
  try {
    return claude.decode(seatAt(point, seat), question, reply);
  } catch (thrown) {
    // Any other error is a defect and fails the test.
    if (!(thrown instanceof RuntimeError)) throw thrown;
    return { output: { ...deny('', false, new Json('{}')), error: toFault(thrown) }, notes: [] };
  }
}

export function say(answer: Answer): string {
  const { verdict, reason, metadata, context = [] } = answer;
  const parts = [
    'error' in answer && answer.error !== undefined && reason === '' ? answer.error.code : '',
    reason === '' ? '' : JSON.stringify(reason),
    'replace' in answer && answer.replace !== undefined ? answer.replace.text : '',
    'result' in answer ? answer.result.text : '',
    context.length === 0 ? '' : `+${JSON.stringify(context)}`,
    metadata.text === '{}' ? '' : `#${metadata.text}`,
  ];
  return [verdict, ...parts.filter((part) => part !== '')].join(' ');
}

export function sayAt(point: string, reply: Reply | RuntimeError, seat: SeatChoice = {}): string {
  return say(readAt(point, reply, seat).output);
}

export function together(point: string, replies: readonly (Reply | RuntimeError)[]): Composed {
  const spoken: HookAnswer[] = replies.map((reply, index) => ({
    hook: `h${index + 1}`,
    answer: readAt(point, reply, { name: `h${index + 1}` }).output,
  }));
  const { composition } = claude.points[point] ?? { composition: { verdict: 'first' } as const };
  const composed = compose(spoken, composition);
  return claude.conclude?.(questionAt(point), spoken, composed) ?? composed;
}

/** A JSON answer whose `hookSpecificOutput` has these members. */
export function specific(
  point: string,
  members: Readonly<Record<string, unknown>>,
  top: object = {},
): string {
  return JSON.stringify({ ...top, hookSpecificOutput: { hookEventName: point, ...members } });
}
