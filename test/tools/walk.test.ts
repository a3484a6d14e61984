import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('a call of a one-shot tool passes fewer than 28 files, without the vocabulary that every stage uses', () => {
  const walk = new URL('./walk.ts', import.meta.url).pathname;
  const [stages = ''] = execFileSync(process.execPath, [walk]).toString().split('\n\n');
  const files = stages.split('\n');
  // Not too few either: what starts the process and what reads its answer are passed in any case.
  expect(files).toContain('transport/oneshot.ts');
  expect(files).toContain('capability/invoke.ts');
  expect(files.length).toBeLessThan(28);
});
