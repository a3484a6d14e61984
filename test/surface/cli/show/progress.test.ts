import { expect, test } from 'vitest';
import { openStory } from '../../../../src/surface/cli/show/progress.ts';

function record() {
  let written = '';
  const story = openStory({
    tell: (text) => {
      written += `${text}\n`;
    },
    whisper: (text) => {
      written += text;
    },
  });
  return { story, written: () => written };
}

test('an answer stays on its line until something else is told', () => {
  const { story, written } = record();
  story.say('answer', 'Hello, ');
  story.say('answer', 'Ada.');
  story.tell('answer: ok');
  story.end();
  expect(written()).toBe('answer: Hello, Ada.\nanswer: ok\n');
});

test('answers that come at once are told apart', () => {
  const { story, written } = record();
  story.say('one', 'Hel');
  story.say('two', 'Good ');
  story.say('one', 'lo');
  story.end();
  expect(written()).toBe('one: Hel\ntwo: Good \none: lo\n');
});

test('while somebody is asked, nothing is told; then all of it, in order', () => {
  const { story, written } = record();
  story.say('answer', 'Hel');
  story.hold();
  story.tell('first: ok');
  story.say('answer', 'lo');
  story.end();
  const meanwhile = written();
  story.release();
  story.release();
  expect([meanwhile, written()]).toEqual(['answer: Hel\n', 'answer: Hel\nfirst: ok\nanswer: lo\n']);
});
