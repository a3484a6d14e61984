import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/base/yaml/document.ts';

test('a hundred thousand keys with anchors are read, and looked up', () => {
  const document = parseDocument(
    'x.yaml',
    Array.from({ length: 100_000 }, (_, line) => `k${line}: &n${line} ${line}`).join('\n'),
  );
  const keys = document.keysOf([]);
  expect({
    problems: document.problems,
    keys: keys.length,
    last: keys.every((key) => document.positionOf([key]).column > 1),
  }).toEqual({
    problems: [],
    keys: 100_000,
    last: true,
  });
});
