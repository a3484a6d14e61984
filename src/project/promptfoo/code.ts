import type { SourceFiles } from '../suite-import/source-files.ts';

/** Code of the user’s: a text, or a function of a file in the folder of the config. */
export type Code = { readonly code: string } | { readonly file: string; readonly member: string };

/** The code that a value names, or why it cannot be run. */
export function readCode(
  value: string,
  files: SourceFiles,
  endings: readonly string[],
): Code | { readonly fault: string } {
  const script = /^(?:file:\/\/)?([^\n]+?)(?::([\w.]+))?$/.exec(value);
  const name = script?.[1] ?? '';
  const isScript = endings.some((ending) => name.endsWith(`.${ending}`));
  const isFile = value.startsWith('file://');
  if (!isScript)
    return isFile ? { fault: `${value} is in a language that is not run here` } : { code: value };
  const found = files.find(name);
  if (!('fault' in found)) return { file: found.fromFolder, member: script?.[2] ?? '' };
  return isFile ? found : { code: value };
}

/** The endings of files in JavaScript. */
export const javascriptEndings: readonly string[] = ['js', 'cjs', 'mjs'];
