import type { ForeignHookConfig, RuntimeConfig } from '../config/config.ts';

/** The limit of a hook that names none, in milliseconds. Sources: the four systems’ own documents. */
export function foreignTimeoutMs(hook: ForeignHookConfig): number {
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
 * What all SessionEnd handlers of Claude Code have together: 1.5 seconds, raised to the longest limit that one outside
 * plugins names, and 60 seconds at most.
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

/** The handler’s limit within what all of its event may take. */
export function capTimeout(hook: ForeignHookConfig, timeoutMs: number, config: RuntimeConfig): number {
  const isLast = hook.dialect === 'claude' && hook.settings.event === 'SessionEnd';
  return isLast ? Math.min(timeoutMs, sessionEndBudget(config)) : timeoutMs;
}
