import { dirname, join } from 'node:path';
import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { readDefaults } from '../build/exec.ts';
import { readStateStore } from '../build/state-store.ts';
import type { ForeignHookConfig, ImportConfig } from '../config.ts';
import { readImports } from '../import/imports.ts';
import { readForeignEntries } from './entries.ts';
import { findFailsOpen } from './fails-open.ts';

/** The foreign hooks of the file and of its imports, and the problems of the imports. */
export interface ForeignHooks {
  readonly foreign: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

/** Reads the foreign hooks of a RuntimeConfig document and of the files that it imports. */
export function readForeignHooks(
  document: YamlDocument,
  { folder, searchPath }: { readonly folder: string; readonly searchPath: string },
): ForeignHooks {
  const store = readStateStore(document, folder);
  const stateFolder = store.type === 'sqlite' ? dirname(store.file) : join(folder, '.signalbox');
  const context = { folder, searchPath, stateFolder, defaults: readDefaults(document) };
  const { hooks, imports, problems } = readImports(document, context);
  const foreign = [...readForeignEntries(document, context), ...hooks];
  return { foreign, imports, problems: [...problems, ...findFailsOpen(foreign, imports)] };
}
