import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShortLivedMap } from '../../src/base/short-lived.ts';

test('a map of short-lived entries answers as a Map does', () => {
  const step = fc.record({ key: fc.nat(20), value: fc.nat(), isDeleted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 500, size: 'max' }), (steps) => {
      const expected = new Map<number, number>();
      const map = new ShortLivedMap<number, number>();
      for (const { key, value, isDeleted } of steps) {
        if (isDeleted) expect(map.delete(key)).toBe(expected.delete(key));
        else {
          map.set(key, value);
          expected.set(key, value);
        }
      }
      expect([...map.keys()].map((key) => [key, map.get(key), map.has(key)])).toEqual(
        [...expected].map(([key, value]) => [key, value, true]),
      );
      expect(map.size).toBe(expected.size);
    }),
  );
});
