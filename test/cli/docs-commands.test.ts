import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import { folderOf, run } from './command-line.ts';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['README.md', 'docs/**/*.md', 'examples/**/*.md'], {
  cwd: root,
  ignore: ['**/node_modules/**'],
});

interface Shown {
  readonly page: string;
  readonly line: string;
  readonly words: readonly string[];
  readonly options: readonly string[];
}

/** The commands in a page's code spans and blocks: their words and options. */
function commandsIn(page: string): Shown[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/(?<=^|[`$&|(]|npx|\s)\s*signalbox ([a-z][^`\n]*)/gm)].flatMap(([, all = '']) => {
    const [line = ''] = all.split(/ {2,}|\s#|\s\||&&|;|\s>/, 1);
    const words = /^[a-z][a-z-]*(?: [a-z][a-z-]*)?/.exec(line)?.[0].split(' ') ?? [];
    const options = [...line.matchAll(/(?<=[\s[])--[a-z][a-z-]*/g)].map(([option]) => option);
    return [{ page, line, words, options }];
  });
}

const empty = folderOf({});
const helps = new Map<string, string | undefined>();

/** The --help of a command; undefined if the command does not exist. */
async function helpOf(words: readonly string[]): Promise<string | undefined> {
  const key = words.join(' ');
  if (!helps.has(key)) {
    const { code, stdout } = await run([...words, '--help'], { cwd: empty });
    const names = /^Usage: signalbox ([^\n]*)/.exec(stdout)?.[1]?.split(' ') ?? [];
    const isOwn = words.every((word, index) => names[index]?.split('|').includes(word));
    helps.set(key, code === 0 && isOwn ? stdout : undefined);
  }
  return helps.get(key);
}

test('the commands and options on the documentation pages exist', async () => {
  const shown = pages.flatMap(commandsIn);
  expect(shown.length).toBeGreaterThan(150);
  const wrong: string[] = [];
  for (const { page, line, words, options } of shown) {
    const help = (await helpOf(words)) ?? (await helpOf(words.slice(0, 1)));
    if (help === undefined) wrong.push(`${page}: no command: signalbox ${line}`);
    else
      for (const option of options)
        if (!help.includes(option)) wrong.push(`${page}: no ${option}: signalbox ${line}`);
  }
  expect(wrong).toEqual([]);
});
