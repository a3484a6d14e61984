import type { DecisionTime } from '../../../inbound/inbound.ts';
import { toShellLine } from '../../../inbound/shell-line.ts';
import { toTimeLimit } from '../../../inbound/time-limit.ts';

/** The `hooks.json` of a plugin that runs a command at the moments of these phases. */
export function settingsFor(
  words: readonly string[],
  phases: ReadonlySet<string>,
  time: DecisionTime,
): string {
  const { seconds, option } = toTimeLimit(time);
  const rule = { type: 'command', command: toShellLine([...words, ...option]), timeout: seconds };
  const hooks = Object.entries(moments).flatMap(([event, phase]) =>
    phases.has(phase) ? [[event, [rule]] as const] : [],
  );
  return JSON.stringify({ hooks: Object.fromEntries(hooks) }, null, 2);
}

const moments: Readonly<Record<string, string>> = {
  SessionStart: 'session session_start',
  UserPromptSubmit: 'provider before_call',
  PreToolUse: 'tool before_execution',
  PostToolUse: 'tool after_execution',
  PostToolUseFailure: 'tool after_execution',
  Stop: 'provider after_call',
  SessionEnd: 'session session_end',
};
