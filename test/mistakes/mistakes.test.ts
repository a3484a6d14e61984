import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Mistake } from './mistake.ts';
import { inCommands } from './table/commands.ts';
import { inConfig } from './table/config.ts';
import { inPrograms } from './table/programs.ts';
import { inSuites } from './table/suites.ts';
import { type Tried, tryMistake } from './try-mistake.ts';

const mistakes: readonly Mistake[] = [...inConfig, ...inPrograms, ...inSuites, ...inCommands];

// `npm run mistakes` writes every message to the catalogue.
const file = new URL('catalogue.yaml', import.meta.url);
const isWriting = process.env.MISTAKES === 'write';
const catalogue: Readonly<Record<string, unknown>> = isWriting ? {} : parse(readFileSync(file, 'utf8'));
const seen = new Map<string, unknown>();

test.each(mistakes)('$title: the message is complete, and its next step works', async (mistake) => {
  const tried = await tryMistake(mistake);
  const { title, run, exit = 2 } = mistake;
  seen.set(title, { command: `signalbox ${run}`, exit, printed: `${tried.printed}\n` });
  expect(weaknessesOf(mistake, tried), tried.printed).toEqual([]);
  expect(isWriting ? seen.get(title) : catalogue[title]).toEqual(seen.get(title));
});

test('the catalogue has the messages of these mistakes and no others', () => {
  const titles = mistakes.map(({ title }) => title);
  expect(isWriting ? titles : Object.keys(catalogue)).toEqual(titles);
  expect(new Set(titles).size).toBe(titles.length);
});

afterAll(() => {
  if (!isWriting) return;
  const text = stringify(Object.fromEntries(seen), { lineWidth: 0, blockQuote: 'literal' });
  writeFileSync(
    file,
    `# What is printed about each mistake of test/mistakes. \`npm run mistakes\` writes it.\n${text}`,
  );
});

/** A hint, or a message that says what to write. */
const nextStep = /hint: |Give each|must be |accepts only one of|did you mean|write /;

/** Three lines of a terminal. */
const longestLine = 240;

function weaknessesOf({ exit = 2, ends = 0 }: Mistake, { printed, code, places, unsaid, after }: Tried) {
  const lines = printed.split('\n').map((line) => line.trim());
  // A hint may follow each of its rows.
  const said = lines.filter((line) => line !== '' && !line.startsWith('hint:'));
  const names = (place: string) => new RegExp(`(?<!\\w)${RegExp.escape(place)}(?!\\d)`).test(printed);
  const rules: readonly (readonly [weakness: string, isMet: boolean])[] = [
    [`exits with ${code}`, code === exit],
    ['has no code', exit === 0 || /\[[A-Z_]{5,}\]/.test(printed)],
    [`names none of ${places.join(', ')}`, places.length === 0 || places.some(names)],
    ['has no next step', nextStep.test(printed)],
    [`does not say ${unsaid.join(', ')}`, unsaid.length === 0],
    ['has a long line', lines.every((line) => line.length <= longestLine)],
    ['has a stack', !/^\s+at .*:\d+/m.test(printed)],
    ['says something twice', new Set(said).size === said.length],
    [`does not help: ${after.printed}`, after.code === ends],
  ];
  return rules.filter(([, isMet]) => !isMet).map(([weakness]) => weakness);
}
