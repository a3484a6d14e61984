import { expect, test } from 'vitest';
import { configText, native, told as toldOf } from './told.ts';

const told = (spec: string, env: Readonly<Record<string, string>> = {}) =>
  toldOf(configText(native, spec), { env });

test('100,000 values and one of 60 MB are filled in [DS-ENV-01]', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `    k${index}: "\${env:X}"`).join('\n');
  const { config, problems } = told(`\nlogging:\n  commonFields:\n${many.slice(0, 12_000_000)}`, {
    X: 'y'.repeat(600),
  });
  expect({ count: Object.keys(config?.logging.fields ?? {}).length, problems }).toEqual({
    count: 100_000,
    problems: [],
  });
});
