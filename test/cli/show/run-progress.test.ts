import { expect, test } from 'vitest';
import { openRunProgress } from '../../../src/cli/show/run-progress.ts';

function record() {
  let written = '';
  const story = openRunProgress({
    printStderr: (text) => {
      written += `${text}\n`;
    },
    writeStderr: (text) => {
      written += text;
    },
  });
  return { story, written: () => written };
}

test('an answer stays on its line until something else is told', () => {
  const { story, written } = record();
  story.writeText('answer', 'Hello, ');
  story.writeText('answer', 'Ada.');
  story.writeLine('answer: ok');
  story.end();
  expect(written()).toBe('answer: Hello, Ada.\nanswer: ok\n');
});

test('answers that come at once are told apart', () => {
  const { story, written } = record();
  story.writeText('one', 'Hel');
  story.writeText('two', 'Good ');
  story.writeText('one', 'lo');
  story.end();
  expect(written()).toBe('one: Hel\ntwo: Good \none: lo\n');
});

test('while somebody is asked, nothing is told; then all of it, in order', () => {
  const { story, written } = record();
  story.writeText('answer', 'Hel');
  story.pause();
  story.writeLine('first: ok');
  story.writeText('answer', 'lo');
  story.end();
  const meanwhile = written();
  story.resume();
  story.resume();
  expect([meanwhile, written()]).toEqual(['answer: Hel\n', 'answer: Hel\nfirst: ok\nanswer: lo\n']);
});
