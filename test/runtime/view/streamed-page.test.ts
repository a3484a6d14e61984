import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { streamPage } from '../../../src/runtime/view/serve-view.ts';
import { codeOf } from '../../store/result-contract.ts';

function endless() {
  const ended = Promise.withResolvers<unknown>();
  const state = { parts: 0, ended: ended.promise };
  const body = streamPage(async ({ write }) => {
    try {
      for (; state.parts < 10_000; state.parts += 1) await write('x'.repeat(64 * 1024));
    } catch (thrown) {
      ended.resolve(thrown);
      throw thrown;
    }
  });
  return { body, state };
}

test('a page is written at the reader’s speed, and no further once the reader has gone [DS-VIEW-07]', async () => {
  const { body, state } = endless();
  const reader = (await body).getReader();
  for (let parts = 0; parts < 20; parts += 1) await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(state.parts).toBeGreaterThanOrEqual(19);
  expect(state.parts).toBeLessThan(25);
  await reader.cancel('gone');
  await state.ended;
  expect(state.parts).toBeLessThan(25);
});

test('a failure before the first part is a separate answer, and a later one cuts the page', async () => {
  const failed = new RuntimeError('STORE_FAILED', 'gone');
  expect(await codeOf(() => streamPage(async () => Promise.reject(failed)))).toBe('STORE_FAILED');
  const body = await streamPage(async ({ write }) => {
    await write('x'.repeat(64 * 1024));
    throw failed;
  });
  const reader = body.getReader();
  const read = async () => {
    while (!(await reader.read()).done);
  };
  expect(await codeOf(read)).toBe('STORE_FAILED');
});

test('a page of any length contains all written texts', async () => {
  const body = await streamPage(async ({ write }) => {
    for (let line = 0; line < 50_000; line += 1) await write(`${line} é\n`);
  });
  const text = await new Response(body).text();
  expect(text.split('\n')).toHaveLength(50_001);
  expect(await new Response(await streamPage(async () => {})).text()).toBe('');
});
