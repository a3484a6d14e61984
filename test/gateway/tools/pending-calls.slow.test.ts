import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asking, openJudgeBench } from './judge-bench.ts';
import { askingLink, paying, pendingCallsContract } from './pending-calls-contract.ts';

pendingCallsContract();

test('the stored answer of waiting calls cannot be read without the request', async () => {
  const { links } = askingLink();
  const { call, folder, close } = await openJudgeBench({ links });
  await call(asking, paying);
  await close();
  const files = readdirSync(folder)
    .filter((name) => !name.endsWith('.locks'))
    .map((name) => readFileSync(join(folder, name)));
  for (const text of ['Words of the model', 'order 7'])
    for (const form of [text, Buffer.from(text, 'utf16le')])
      expect(files.some((bytes) => bytes.includes(form))).toBe(false);
});
