/** Every event of Agentao. Source: its developer guide, chapter 5.7. */
export const agentaoEvents = [
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  'PreCompact',
] as const;

/** Events at which a failed rule lets something pass that it could have denied. */
export const agentaoGuardEvents: ReadonlySet<string> = new Set([
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
]);

/** Events at which dropping a rule on import is an error under `on_failure: deny`. */
export const agentaoMandatoryEvents: ReadonlySet<string> = new Set(['UserPromptSubmit', 'PreToolUse']);
