import type { YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { readDefaults } from '../build/exec.ts';
import { readStateStore } from '../build/state-store.ts';
import type { ForeignHookConfig, ImportConfig } from '../config.ts';
import type { DialectChecks } from '../foreign-checks.ts';
import { readImports } from '../import/imports.ts';
import { readForeignEntries } from './entries.ts';
import { findFailsOpen } from './fails-open.ts';

/** The foreign hooks of the file and of its imports, and the problems of the imports. */
export interface ForeignHooks {
  readonly foreign: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

export function readForeignHooks(
  document: YamlDocument,
  { folder, searchPath }: { readonly folder: string; readonly searchPath: string },
  checks: DialectChecks,
): ForeignHooks {
  const context = { folder, store: readStateStore(document, folder), defaults: readDefaults(document) };
  const { hooks, imports, problems } = readImports(document, { ...context, searchPath, checks });
  const foreign = [...readForeignEntries(document, context), ...hooks];
  return { foreign, imports, problems: [...problems, ...findFailsOpen(foreign, imports)] };
}
