import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';

// The package is CommonJS without declarations.
interface Readability {
  fleschKincaidGrade(text: string): number;
  averageSentenceLength(text: string): number;
}
const { default: readability }: { readonly default: Readability } = createRequire(import.meta.url)(
  'text-readability',
);

const root = join(import.meta.dirname, '..');
const pages = globSync(['*.md', 'docs/{start,guides,operate}/*.md'], { cwd: root });

function proseOf(markdown: string): string {
  return markdown
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/^(?:#|\|).*$/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/[*_]/g, '')
    .split(/\n(?:- |\n)/)
    .map((part) => part.replaceAll(/\s+/g, ' ').trim())
    .filter((part) => part !== '')
    .map((part) => (/[.!?]$/.test(part) ? part : `${part.replace(/:$/, '')}.`))
    .join(' ');
}

test.each(pages)('%s reads easily: grade 9 at most, 18 words a sentence at most', (page) => {
  const text = proseOf(readFileSync(join(root, page), 'utf8'));
  expect({
    grade: readability.fleschKincaidGrade(text) <= 9,
    words: readability.averageSentenceLength(text) < 18,
  }).toEqual({ grade: true, words: true });
});

test('a page of long sentences does not', () => {
  const text = `${'Notwithstanding considerable organizational difficulties, interdepartmental communication '.repeat(3)}.`;
  expect(readability.fleschKincaidGrade(proseOf(text))).toBeGreaterThan(9);
});
