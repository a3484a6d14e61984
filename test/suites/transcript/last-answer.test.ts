import { expect, test } from 'vitest';
import { lastAnswer } from '../../../src/suites/case/prepared-case.ts';

const conversations = [
  { title: 'the last of several', roles: ['user', 'assistant', 'user', 'assistant'], answer: 'text 3' },
  { title: 'one that is not the last message', roles: ['assistant', 'tool', 'user'], answer: 'text 0' },
  { title: 'none', roles: ['system', 'user'], answer: undefined },
  { title: 'none without messages', roles: [], answer: undefined },
] as const;

test.each(conversations)('the last answer is $title', ({ roles, answer }) => {
  expect(lastAnswer(roles.map((role, index) => ({ role, content: `text ${index}` })))).toBe(answer);
});
