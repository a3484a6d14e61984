import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { javascriptScript, pythonScript } from './scripts.ts';
import type { SourceFiles } from './source-files.ts';

/** How a program that the import writes is run: in the folder of the config, as promptfoo runs the user’s code. */
export function programOf(
  language: keyof typeof scriptFiles,
  args: readonly string[],
  { folderFromOutput, outputFromFolder }: SourceFiles,
): Readonly<Record<string, unknown>> {
  return {
    command: language === 'python' ? 'python3' : 'node',
    args: [posix.join(outputFromFolder, scriptFiles[language]), ...args],
    ...(folderFromOutput !== '' && { cwd: folderFromOutput }),
  };
}

/** The programs that an import writes beside its suites: they run the user's own code unchanged. */
const scriptFiles = { javascript: 'promptfoo-run.mjs', python: 'promptfoo-run.py' } as const;

/** The programs that a written config names. */
export function scriptsNamedIn(text: string): readonly { readonly name: string; readonly text: string }[] {
  return [
    { name: scriptFiles.javascript, text: javascriptScript },
    { name: scriptFiles.python, text: pythonScript },
  ].filter(({ name }) => text.includes(name));
}

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

/** Variables that libraries read by themselves, by a word that stands in programs which use them. */
const implied: readonly (readonly [RegExp, string])[] = [
  [/openai/i, 'OPENAI_API_KEY'],
  [/anthropic/i, 'ANTHROPIC_API_KEY'],
  [/gemini|genai|google/i, 'GEMINI_API_KEY'],
  [/mistral/i, 'MISTRAL_API_KEY'],
  [/groq/i, 'GROQ_API_KEY'],
];

/** The variables that a program names, or whose library does: it sees no others. */
export function envNamesOf(text: string): readonly string[] {
  const named =
    /process\.env(?:\.(\w{1,100})|\[['"](\w{1,100})['"]\])|environ(?:\.get\(|\[)\s{0,9}['"](\w{1,100})['"]|getenv\(\s{0,9}['"](\w{1,100})['"]|\{\{\s{0,9}env\.(\w{1,100})/g;
  const found = [...text.matchAll(named)].flatMap(([, ...names]) =>
    names.filter((name) => name !== undefined),
  );
  return [
    ...new Set([...found, ...implied.flatMap(([word, name]) => (word.test(text) ? [name] : []))]),
  ].toSorted();
}

/** The same of a file that is known to be there. */
export function envNamesOfFile(file: string): readonly string[] {
  return envNamesOf(readFileSync(file, 'latin1'));
}
