import { basename, dirname, resolve } from 'node:path';
import { envLiteralOf } from './literal.ts';

/** chibi’s home of a plugin that is declared by path: what `env` sets, the parent of `plugins/`, or the config’s folder. */
export function chibiHomeOf(
  { command, env }: { readonly command: string; readonly env: readonly string[] },
  folder: string,
): string {
  const literal = envLiteralOf(env, 'CHIBI_HOME');
  if (literal !== undefined) return resolve(folder, literal);
  const plugins = dirname(resolve(folder, command));
  return command.includes('/') && basename(plugins) === 'plugins' ? dirname(plugins) : folder;
}
