import type { DeclaredHook } from '../../../process/process-config.ts';

export interface HandlerFolders {
  readonly projectDir: string;
  readonly pluginRoot?: string;
  readonly pluginData?: string;
}

export interface ClaudeSettings extends HandlerFolders {
  readonly event: string;
  readonly matcher?: string;
  readonly condition?: string;
  /** Runs in the background: only context counts, later. */
  readonly isAsync: boolean;
  /** The shell for the line `exec.command`. Absent in the exec form and for an http handler. */
  readonly shell?: 'sh' | 'bash' | 'powershell';
  readonly http?: ClaudeHttp;
  /** Forced continuations in a row after which a Stop hook is overridden. */
  readonly stopCap: number;
}

export interface ClaudeHttp {
  readonly url: string;
  /** As written in the file. `$VAR` and `${VAR}` stand for those of `allowedEnvVars`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
  /** Names to take from the host, or `NAME=value` literals: the only source of header variables. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
}

/** Source: the hooks reference. */
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

/** Events at which a handler with `if` may run. At any other it never does. */
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

/** Forced continuations after which Claude Code overrides a Stop hook. Source: 2.1.143. */
export const claudeStopCap = 8;

const SESSION_END_MS = 1_500;

/** Timeouts in milliseconds that differ from the usual ten minutes. Source: hooks reference, "timeout". */
const timeouts: Readonly<Record<string, number>> = {
  UserPromptSubmit: 30_000,
  PreModelSwitch: 30_000,
  PostModelSwitch: 30_000,
  MessageDisplay: 10_000,
  SessionEnd: SESSION_END_MS,
};

export function timeoutMs({ settings }: DeclaredHook<ClaudeSettings>): number {
  return timeouts[settings.event] ?? 600_000;
}

/**
 * The milliseconds that all SessionEnd handlers share: the longest timeout of one outside plugins, at least 1.5 and at
 * most 60 seconds.
 */
function sessionEndBudget(hooks: readonly DeclaredHook<ClaudeSettings>[]): number {
  const named = hooks.flatMap(({ exec, settings }) => {
    if (settings.event !== 'SessionEnd' || settings.pluginRoot !== undefined) return [];
    return exec?.timeoutMs ?? settings.http?.timeoutMs ?? [];
  });
  return Math.min(60_000, Math.max(SESSION_END_MS, ...named));
}

export function capTimeout(
  { settings }: DeclaredHook<ClaudeSettings>,
  timeout: number,
  all: readonly DeclaredHook<ClaudeSettings>[],
): number {
  return settings.event === 'SessionEnd' ? Math.min(timeout, sessionEndBudget(all)) : timeout;
}
