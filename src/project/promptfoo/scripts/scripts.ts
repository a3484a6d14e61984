import { javascriptScript } from './javascript-script.ts';
import { pythonScript } from './python-script.ts';

/** The programs that an import writes beside its suites: they run the user's own code unchanged. */
export const scriptFiles = { javascript: 'promptfoo-run.mjs', python: 'promptfoo-run.py' } as const;

/** The programs that a written config names. */
export function scriptsNamedIn(text: string): readonly { readonly name: string; readonly text: string }[] {
  return [
    { name: scriptFiles.javascript, text: javascriptScript },
    { name: scriptFiles.python, text: pythonScript },
  ].filter(({ name }) => text.includes(name));
}
