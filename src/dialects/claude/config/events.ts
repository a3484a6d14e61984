/** Every event of Claude Code. Source: its hooks reference. */
export const claudeEvents = [
  'SessionStart',
  'Setup',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PreToolUse',
  'PreSkillShellCommand',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Notification',
  'MessageDisplay',
  'SubagentStart',
  'SubagentStop',
  'TaskCreated',
  'TaskCompleted',
  'Stop',
  'StopFailure',
  'TeammateIdle',
  'InstructionsLoaded',
  'ConfigChange',
  'CwdChanged',
  'DirectoryAdded',
  'FileChanged',
  'WorktreeCreate',
  'WorktreeRemove',
  'PreCompact',
  'PostCompact',
  'PreModelSwitch',
  'PostModelSwitch',
  'Elicitation',
  'ElicitationResult',
  'SessionEnd',
] as const;

/** Events at which a handler with `if` may run; at any other it never does. */
export const claudeConditionEvents: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
]);

/** Events at which `onFailure: block` has no effect. Source: the program of Claude Code 2.1.332. */
export const claudeEventsWithoutOnFailure: ReadonlySet<string> = new Set([
  'Stop',
  'SubagentStop',
  'TaskCompleted',
  'TeammateIdle',
]);

/** Events at which a failed handler lets something pass that it could have denied. */
export const claudeGuardEvents: ReadonlySet<string> = new Set([
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PreToolUse',
  'PreSkillShellCommand',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'SubagentStop',
  'TaskCreated',
  'TaskCompleted',
  'Stop',
  'TeammateIdle',
  'ConfigChange',
  'PreCompact',
  'PreModelSwitch',
  'Elicitation',
  'ElicitationResult',
]);
