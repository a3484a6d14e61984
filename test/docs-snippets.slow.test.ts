import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');

/** Declarations that snippets may use without an import. */
const atHand = `
import type { Runtime } from 'signalbox';
declare global {
  const runtime: Runtime;
}
`;

async function compile(pages: Readonly<Record<string, string>>): Promise<string[]> {
  // Inside the repository, so that packages resolve.
  const folder = join(root, 'node_modules/.cache/docs-snippets', String(process.pid));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(join(folder, 'at-hand.d.ts'), atHand);
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(join(folder, 'tsconfig.json'), tsconfig());
    for (const [page, text] of Object.entries(pages)) {
      for (const { line, code } of snippetsOf(text)) {
        // Keeps the line numbers of the page.
        const content = `${'\n'.repeat(line - 1)}${code}\nexport {};\n`;
        writeFileSync(join(folder, `${basename(page, '.md')}.${line}.ts`), content);
      }
    }
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(
      (failed: { stdout: string }) => failed,
    );
    return stdout.split('\n').flatMap((text) => {
      const [, page, line, message] = /([^/]+)\.\d+\.ts\((\d+),\d+\): error \w+: (.*)$/.exec(text) ?? [];
      return page === undefined ? [] : [`${page}:${line} ${message}`];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tsconfig(): string {
  const compilerOptions = {
    noEmit: true,
    declaration: false,
    allowImportingTsExtensions: true,
    rootDir: root,
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths: { signalbox: [join(root, 'src/index.ts')] },
  };
  return JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['.'] });
}

function snippetsOf(text: string): { line: number; code: string }[] {
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(({ index, 1: code = '' }) => ({
    line: text.slice(0, index).split('\n').length + 1,
    code,
  }));
}

test('every snippet of TypeScript in the README and the docs compiles', async () => {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const files = [
    'README.md',
    ...docs.filter((name) => name.endsWith('.md')).map((name) => join('docs', name)),
  ];
  const pages = Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const count = Object.values(pages).flatMap(snippetsOf).length;
  expect({ errors: await compile(pages), areThere: count >= 9 }).toEqual({ errors: [], areThere: true });
});

test('a snippet that does not is reported with its page and line', async () => {
  const page = '# Page\n\n```ts\nconst a = 1;\nruntime.tools.cal(a);\n```\n\n```js\nnope(;\n```\n';
  expect(await compile({ 'page.md': page })).toEqual([
    expect.stringMatching(/^page:5 Property 'cal' does not exist on type/),
  ]);
});
