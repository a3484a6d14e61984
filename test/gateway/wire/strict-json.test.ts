import { describe, expect, it } from 'vitest';
import { decodeUtf8, openStrictly } from '../../../src/gateway/wire/place.ts';

const fail = (problem: string) => new Error(problem);

describe('a body that is parsed strictly', () => {
  it.each([
    ['{"a":1,"a":2}', 'has a duplicate key'],
    ['{"x":[{"a":1,"b":{},"a":2}]}', 'has a duplicate key'],
    ['{"a":1,"\\u0061":2}', 'has a duplicate key'],
    ['{"a":1', 'is not JSON'],
    ['', 'is not JSON'],
    ['{"a":1}x', 'is not JSON'],
    ['\uFEFF{}', 'is not JSON'],
    ['[NaN]', 'is not JSON'],
    ['['.repeat(1001) + ']'.repeat(1001), 'is nested too deeply'],
    [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'is nested too deeply'],
  ])('is refused: %.40s', (text, problem) => {
    expect(() => openStrictly(text, fail)).toThrow(problem);
  });

  it('may repeat a key in different objects, and nest as deeply as allowed', () => {
    expect(openStrictly('{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}', fail).kind).toBe('object');
    expect(openStrictly('[[1]]', fail, 2).kind).toBe('array');
    expect(() => openStrictly('[[1]]', fail, 1)).toThrow('nested');
  });

  it('is UTF-8', () => {
    expect(decodeUtf8(new TextEncoder().encode('é😀'))).toBe('é😀');
    expect(decodeUtf8(Uint8Array.from([0x22, 0xff, 0x22]))).toBeUndefined();
    expect(decodeUtf8(Uint8Array.from([0xed, 0xa0, 0x80]))).toBeUndefined();
  });
});
