import { expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/base/errors.ts';
import { describeError } from '../../../../src/builtins/guards/program/program.ts';

const secret = '4111 1111 1111 1111';

test.each([
  { title: 'a foreign error', error: new TypeError(`${secret} is not iterable`) },
  { title: 'an error of many lines', error: new RangeError(`a\n    at ${secret}\nb`) },
  { title: 'an error without a stack', error: Object.assign(new Error(secret), { stack: undefined }) },
  { title: 'a parser', error: new SyntaxError(`Unexpected token in ${secret}`) },
  { title: 'a text', error: secret },
])('the message of $title is not repeated', ({ error }) => {
  const words = describeError(error);
  expect(words).not.toContain('1111');
  expect(words).toMatch(/^(internal error in the filter|stdin is neither a JSON object)/);
});

test('our own messages are, since they contain no text', () => {
  expect(describeError(new RuntimeError('EVENT_INVALID', 'request has no messages'))).toBe(
    'request has no messages',
  );
});
