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

/** Events at which a rule that fails lets something pass that it could have stopped. */
export const agentaoGuardEvents: ReadonlySet<string> = new Set([
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
]);

/** Events whose rules are the guards that must not be dropped where `on_failure: deny` is asked for. */
export const agentaoEntryEvents: ReadonlySet<string> = new Set(['UserPromptSubmit', 'PreToolUse']);
