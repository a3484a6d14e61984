import type { DeclaredHook } from '../../process-config.ts';
import type { ClaudeSettings } from './settings.ts';

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

/** The timeout in milliseconds of a handler that names none. */
export function timeoutMs({ settings }: DeclaredHook<ClaudeSettings>): number {
  return timeouts[settings.event] ?? 600_000;
}

/**
 * The time in milliseconds that all SessionEnd handlers share: the longest timeout of one outside plugins, at least 1.5
 * and at most 60 seconds.
 */
function sessionEndBudget(hooks: readonly DeclaredHook<ClaudeSettings>[]): number {
  const named = hooks.flatMap(({ exec, settings }) => {
    if (settings.event !== 'SessionEnd' || settings.pluginRoot !== undefined) return [];
    return exec?.timeoutMs ?? settings.http?.timeoutMs ?? [];
  });
  return Math.min(60_000, Math.max(SESSION_END_MS, ...named));
}

/** The timeout of the handler, at most the SessionEnd budget where that applies. */
export function capTimeout(
  { settings }: DeclaredHook<ClaudeSettings>,
  timeout: number,
  all: readonly DeclaredHook<ClaudeSettings>[],
): number {
  return settings.event === 'SessionEnd' ? Math.min(timeout, sessionEndBudget(all)) : timeout;
}
