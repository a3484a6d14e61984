import { expect, test } from 'vitest';
import { parseModule } from './source.ts';

const importing = [
  { title: 'a plain import', text: "import { a } from './a.ts';" },
  { title: 'an import for its effect', text: "import './a.ts';" },
  { title: 'an import of a type', text: "import type { A } from './a.ts';" },
  { title: 'a re-export', text: "export { a } from './a.ts';" },
  { title: 'a re-export of everything', text: "export * from './a.ts';" },
  { title: 'a re-export of a type', text: "export type { A } from './a.ts';" },
  { title: 'a dynamic import', text: "const a = await import('./a.ts');" },
  { title: 'a type that names its module', text: "type A = import('./a.ts').A;" },
  { title: 'a require', text: "const a = require('./a.ts');" },
];

test.each(importing)('sees $title', ({ text }) => {
  expect(parseModule('x.ts', text).imports).toEqual(['./a.ts']);
});

const touching = [
  { title: 'process.env', text: 'const home = process.env.HOME;', globals: ['process.env'] },
  {
    title: 'process.env through globalThis',
    text: 'const e = globalThis.process.env;',
    globals: ['process.env'],
  },
  { title: 'process["env"]', text: 'const e = process["env"];', globals: ['process.env'] },
  { title: 'env taken out of process', text: 'const { env } = process;', globals: ['process.env'] },
  { title: 'env imported', text: "import { env } from 'node:process';", globals: ['process.env'] },
  {
    title: 'env imported under another name',
    text: "import { env as e } from 'process';",
    globals: ['process.env'],
  },
  { title: 'console', text: 'console.log(1);', globals: ['console'] },
  { title: 'console through an import', text: "import c from 'node:console';", globals: ['console'] },
  { title: 'nothing in comments and strings', text: "// process.env\nconst s = 'console.log';", globals: [] },
  { title: 'nothing in other members of process', text: 'const id = process.pid;', globals: [] },
];

test.each(touching)('sees $title', ({ text, globals }) => {
  expect([...parseModule('x.ts', text).globals]).toEqual(globals);
});

test.each([
  ['const id = process.pid;', true],
  ['const { pid } = process;', true],
  ["import { pid } from 'node:process';", true],
  ['const { process } = session; // process.pid', false],
])('sees whether process is used in %s', (text, expected) => {
  expect(parseModule('x.ts', text).usesProcess).toBe(expected);
});

test('keeps the text of strings and templates, and no comments', () => {
  const text = `/* four */ test('one', () => { f(\`two\${x}three\`, { 'key': 'value' }); }); // five`;
  expect(parseModule('x.ts', text).strings).toEqual(['one', 'two', 'three', 'key', 'value']);
});
