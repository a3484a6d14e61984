import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordTerminal } from '../build/recording/record.ts';

test('the recording of README.md is what the program prints: `npm run recording` writes it', () => {
  const recorded = readFileSync(join(import.meta.dirname, '../docs/pictures/first-run.svg'), 'utf8');
  expect(recorded).toBe(recordTerminal());
  expect(recorded).not.toMatch(/<script|\/tmp\//);
  expect(recorded.length).toBeLessThan(60_000);
}, 60_000);
