import { mkdirSync } from 'node:fs';
import type { ForeignHookConfig } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import { toRuntimeError } from '../errors.ts';

/**
 * Creates the plugin's folder that CLAUDE_PLUGIN_DATA names; it is never removed. Emits a note on failure;
 * never throws.
 */
export function providePluginData(hook: ForeignHookConfig, emit: Emit): void {
  const folder = hook.dialect === 'claude' ? hook.settings.pluginData : undefined;
  if (folder === undefined) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    const message = `its CLAUDE_PLUGIN_DATA could not be made: ${toRuntimeError(thrown).message}`;
    emit({ type: 'note', name: hook.name, level: 'warn', message });
  }
}
