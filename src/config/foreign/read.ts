import { join } from 'node:path';
import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Problem, SourceLocation } from '../../base/yaml/problem.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { readDefaults } from '../build/exec.ts';
import { type ForeignContext, readForeignEntries } from '../build/foreign-entries.ts';
import { readStateStore, stateFolderOf } from '../build/state-store.ts';
import type { ForeignHookConfig, ImportConfig } from '../config.ts';
import { readImports } from '../import/imports.ts';

/** The foreign hooks of the file and of its imports, and the problems of the imports. */
export interface ForeignHooks {
  readonly foreign: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

/** Reads the foreign hooks of a RuntimeConfig document and of the files that it imports. */
export function readForeignHooks(
  document: YamlDocument,
  { folder, searchPath, overlays }: Pick<ForeignContext, 'folder' | 'searchPath' | 'overlays'>,
): ForeignHooks {
  const store = readStateStore(document, folder);
  const stateFolder = stateFolderOf(store) ?? join(folder, '.signalbox');
  const context = { folder, searchPath, overlays, stateFolder, defaults: readDefaults(document) };
  const { hooks, imports, problems } = readImports(document, context);
  const foreign = [...readForeignEntries(document, context), ...hooks];
  return { foreign, imports, problems: [...problems, ...findFailsOpen(foreign, imports)] };
}

/** One note for each hook that lets something pass when it fails, because its own system would. */
function findFailsOpen(hooks: readonly ForeignHookConfig[], imports: readonly ImportConfig[]): Problem[] {
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

function note({ file, line, column }: SourceLocation, who: string, causes: string): Problem {
  const message = `${who}: lets the event pass when it fails: ${causes}`;
  return { severity: 'note', file, line, column, message, hint: '`on_failure: deny` closes it.' };
}
