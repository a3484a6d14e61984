import type { Position, Problem } from '../../yaml/problem.ts';
import { agentaoGuardEvents } from '../agentao-events.ts';
import { claudeGuardEvents } from '../claude-events.ts';
import type { ForeignHookConfig, ImportConfig } from '../config.ts';

/** One note for each hook that lets something pass when it fails, because its own system would. */
export function findFailsOpen(
  hooks: readonly ForeignHookConfig[],
  imports: readonly ImportConfig[],
): Problem[] {
  const ofHooks = hooks.flatMap((hook): Problem[] => {
    const causes = hook.onFailure === 'deny' ? undefined : causesOf(hook);
    return causes === undefined ? [] : [note(hook.source, `hooks[${hook.name}]`, causes)];
  });
  const ofImports = imports
    .filter(({ onFailure }) => onFailure === undefined)
    .map(({ position, pluginsDir }) => note(position, `the plugins in ${pluginsDir}`, chibiCauses));
  return [...ofHooks, ...ofImports];
}

function note({ file, line, column }: Position, who: string, causes: string): Problem {
  const message = `${who}: lets the event pass when it fails: ${causes}`;
  return { severity: 'note', file, line, column, message, hint: '`on_failure: deny` closes it.' };
}

const chibiCauses = 'an exit code other than 0, an empty answer, one that is no JSON object, a wrong type';

/** The failures with which the hook passes what it could have denied; undefined where it can deny nothing. */
function causesOf(hook: ForeignHookConfig): string | undefined {
  switch (hook.dialect) {
    case 'chibi':
      return chibiCauses;
    case 'picoclaw':
      return hook.settings.intercept.some((method) => method !== 'approve_tool')
        ? 'a timeout, an error, its death, an answer without a known action'
        : undefined;
    case 'agentao':
      return hook.exec !== undefined && agentaoGuardEvents.has(hook.settings.event)
        ? 'an exit code other than 0, an answer that was cut off, a timeout, a failed start'
        : undefined;
    case 'claude':
      return hook.settings.isAsync || !claudeGuardEvents.has(hook.settings.event)
        ? undefined
        : causesOfHandler(hook.settings.http !== undefined);
  }
}

function causesOfHandler(isHttp: boolean): string {
  return isHttp
    ? 'a status other than 2xx, an answer that is not valid, a timeout, no connection'
    : 'an exit code other than 0 and 2, an answer that is not valid, a timeout, a failed start';
}
