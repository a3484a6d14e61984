import type { ForeignHookConfig, RuntimeConfig } from '../config/config.ts';

/** The default timeout of a foreign hook in milliseconds. Sources: the documents of the four systems. */
export function defaultTimeoutMs(hook: ForeignHookConfig): number {
  switch (hook.dialect) {
    case 'claude':
      return claudeTimeouts[hook.settings.event] ?? 600_000;
    case 'agentao':
      return 60_000;
    case 'chibi':
      return 30_000;
    case 'picoclaw':
      return hook.settings.interceptorTimeoutMs;
  }
}

const sessionEndMs = 1_500;
const claudeTimeouts: Readonly<Record<string, number>> = {
  UserPromptSubmit: 30_000,
  PreModelSwitch: 30_000,
  PostModelSwitch: 30_000,
  MessageDisplay: 10_000,
  SessionEnd: sessionEndMs,
};

/**
 * The time in milliseconds that all SessionEnd handlers of Claude Code share: the longest timeout of one
 * outside plugins, at least 1.5 and at most 60 seconds.
 */
export function sessionEndBudget({ foreign }: Pick<RuntimeConfig, 'foreign'>): number {
  const named = foreign.flatMap((hook) => {
    if (hook.dialect !== 'claude' || hook.settings.event !== 'SessionEnd') return [];
    const { exec, settings } = hook;
    if (settings.pluginRoot !== undefined) return [];
    return exec?.timeoutMs ?? settings.http?.timeoutMs ?? [];
  });
  return Math.min(60_000, Math.max(sessionEndMs, ...named));
}

/** The timeout of the handler, at most the SessionEnd budget where that applies. */
export function capTimeout(hook: ForeignHookConfig, timeoutMs: number, config: RuntimeConfig): number {
  const isSessionEnd = hook.dialect === 'claude' && hook.settings.event === 'SessionEnd';
  return isSessionEnd ? Math.min(timeoutMs, sessionEndBudget(config)) : timeoutMs;
}
