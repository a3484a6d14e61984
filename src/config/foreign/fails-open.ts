import { foreignDialects } from '../../dialects/registry.ts';
import type { Position, Problem } from '../../yaml/problem.ts';
import type { ForeignHookConfig, ImportConfig } from '../config.ts';

/** One note for each hook that lets something pass when it fails, because its own system would. */
export function findFailsOpen(
  hooks: readonly ForeignHookConfig[],
  imports: readonly ImportConfig[],
): Problem[] {
  const ofHooks = hooks.flatMap((hook): Problem[] => {
    const causes = hook.onFailure === 'deny' ? undefined : foreignDialects[hook.dialect].failsOpen(hook);
    return causes === undefined ? [] : [note(hook.source, `hooks[${hook.name}]`, causes)];
  });
  const ofImports = imports.flatMap(({ dialect, onFailure, position, pluginsDir }): Problem[] => {
    const causes = foreignDialects[dialect].plugins?.failsOpen;
    if (onFailure !== undefined || causes === undefined) return [];
    return [note(position, `the plugins in ${pluginsDir}`, causes)];
  });
  return [...ofHooks, ...ofImports];
}

function note({ file, line, column }: Position, who: string, causes: string): Problem {
  const message = `${who}: lets the event pass when it fails: ${causes}`;
  return { severity: 'note', file, line, column, message, hint: '`on_failure: deny` closes it.' };
}
