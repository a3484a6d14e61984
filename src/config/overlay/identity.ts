import { resolve } from 'node:path';
import { toShellLine } from '../../base/files/shell-line.ts';
import type { RuntimeConfig } from '../config.ts';

/** The files of a config as a run keeps them: one path, or a line for each of several. */
export function identityOf({ file, overlays = [] }: Pick<RuntimeConfig, 'file' | 'overlays'>): string {
  return [file, ...overlays].map((each) => resolve(each)).join('\n');
}

/** The paths of the files that an identity names: the first, and what is laid over it. */
export function filesOf(identity: string): { readonly file: string; readonly overlays: readonly string[] } {
  const [file = '', ...overlays] = identity.split('\n');
  return { file, overlays };
}

/** The `--config` options of the files that an identity names, with a blank before each, for a POSIX shell. */
export function configOptions(identity: string): string {
  const { file, overlays } = filesOf(identity);
  return [file, ...overlays].map((each) => ` --config ${toShellLine([each])}`).join('');
}
