import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyEdits, applyToParts, type Edit } from '../../../src/builtins/pii/edit.ts';
import { asking, filter } from './support.ts';

const spans = fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5 })), { maxLength: 5 });

test('edits in parts equal the edits of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 4 }), { maxLength: 5 }), spans, (parts, given) => {
      const whole = parts.join('');
      const edits: Edit[] = [];
      let from = 0;
      for (const [gap, length] of given) {
        const start = from + gap;
        from = start + length;
        if (from <= whole.length) edits.push({ start, end: from, text: '#' });
      }
      expect(applyToParts(parts, '', edits).join('')).toBe(applyEdits(whole, edits));
    }),
  );
});

test('a message of a hundred thousand parts is rewritten in linear time', () => {
  const parts = Array.from({ length: 100_000 }, (_, part) => ({
    type: 'text',
    text: `a${part}@example.com`,
  }));
  const answer = filter('redact').answer(asking([{ role: 'user', content: '', parts }]), 0);
  expect(JSON.stringify(answer).match(/\[EMAIL_ADDRESS\]/g)?.length).toBe(100_000);
}, 120_000);
