import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('calls pass few files, without the vocabulary that every stage uses', () => {
  const program = new URL('./walk.ts', import.meta.url).pathname;
  const blocks = execFileSync(process.execPath, [program]).toString().trim().split('\n\n');
  const walks: Record<string, string[]> = Object.fromEntries(
    blocks.map((block) => [block.split('\n', 1)[0] ?? '', block.split('\n').slice(1, -1)]),
  );
  // Every call starts a process and reads its answer, so fewer files mean that counting is broken.
  for (const files of Object.values(walks))
    expect(files).toEqual(expect.arrayContaining(['process/oneshot.ts', 'calls/capability/invoke.ts']));
  const counts = Object.entries(walks).map(([kind, { length }]) => [kind, length] as const);
  const most = new Map([
    ['tool', 20],
    ['guarded tool', 27],
    ['gateway', 50],
    ['streamed gateway', 57],
  ]);
  expect(Object.keys(walks)).toEqual([...most.keys()]);
  expect(counts.filter(([kind, length]) => length > (most.get(kind) ?? 0))).toEqual([]);
});
