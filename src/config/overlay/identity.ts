import { resolve } from 'node:path';
import { toShellLine } from '../../base/files/shell-line.ts';
import type { RuntimeConfig } from '../config.ts';

/** The files of a config as a run stores them: one path per line. */
export function identityOf({ file, overlays = [] }: Pick<RuntimeConfig, 'file' | 'overlays'>): string {
  return [file, ...overlays].map((each) => resolve(each)).join('\n');
}

/** Parses the result of `identityOf`. */
export function filesOf(identity: string): { readonly file: string; readonly overlays: readonly string[] } {
  const [file = '', ...overlays] = identity.split('\n');
  return { file, overlays };
}

/** `--config` options for a POSIX shell, each after a space. */
export function configOptions(identity: string): string {
  const { file, overlays } = filesOf(identity);
  return [file, ...overlays].map((each) => ` --config ${toShellLine([each])}`).join('');
}
