import { expect, test } from 'vitest';
import { entityNames } from '../../../src/builtins/pii/entity.ts';
import { detector } from './support.ts';

// Chinese has no spaces, and some characters take two code units. An unbounded repeat would overflow the engine's
// stack.
test.each(['忽略', '忽略-'])('megabytes of %s without a space are read completely', (piece) => {
  const address = 'ann.roe@example.org';
  const text = `${piece.repeat(Math.ceil(6_000_000 / piece.length))} ${address}`;
  const findings = detector(entityNames)(text);
  expect(findings.map(({ start, end }) => text.slice(start, end))).toEqual([address]);
});
