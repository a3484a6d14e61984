import { readFileSync } from 'node:fs';

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
