import { mkdirSync } from 'node:fs';
import { toRuntimeError } from '../base/errors.ts';
import type { ForeignHookConfig } from '../config/config.ts';
import type { Emit } from '../contract/event.ts';
import { foreignDialects } from '../dialects/registry.ts';

/** Creates the folder of the hook's own, if it has one; it is never removed. Emits a note on failure; never throws. */
export function providePluginData({ name, dialect, settings }: ForeignHookConfig, emit: Emit): void {
  const folder = foreignDialects[dialect].ownFolderOf?.(settings);
  if (folder === undefined) return;
  try {
    mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    const message = `its ${folder.variable} could not be made: ${toRuntimeError(thrown).message}`;
    emit({ type: 'note', name, level: 'warn', message });
  }
}
