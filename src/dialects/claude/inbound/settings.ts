import type { DecisionTime } from '../../../inbound/inbound.ts';
import { toShellLine } from '../../../inbound/shell-line.ts';
import { toTimeLimit } from '../../../inbound/time-limit.ts';

/** The `hooks` of settings that run a command at the moments of these phases. */
export function settingsFor(
  words: readonly string[],
  phases: ReadonlySet<string>,
  time: DecisionTime,
): string {
  const { seconds, option } = toTimeLimit(time);
  // What fails to start or is killed blocks, where the version knows the key; what takes too long is denied before that.
  const handler = {
    type: 'command',
    command: toShellLine([...words, ...option]),
    timeout: seconds,
    onFailure: 'block',
  };
  const hooks = Object.entries(moments)
    .filter(([, phase]) => phases.has(phase))
    .map(([event]) => [event, [{ ...(hasTools.has(event) && { matcher: '*' }), hooks: [handler] }]]);
  return JSON.stringify({ hooks: Object.fromEntries(hooks) }, null, 2);
}

const hasTools = new Set(['PreToolUse', 'PreSkillShellCommand', 'PostToolUse', 'PostToolUseFailure']);

const moments: Readonly<Record<string, string>> = {
  SessionStart: 'session session_start',
  UserPromptSubmit: 'provider before_call',
  PreToolUse: 'tool before_execution',
  PreSkillShellCommand: 'tool before_execution',
  PostToolUse: 'tool after_execution',
  PostToolUseFailure: 'tool after_execution',
  PostToolBatch: 'tool after_execution',
  Stop: 'provider after_call',
  SubagentStop: 'provider after_call',
  SessionEnd: 'session session_end',
};
