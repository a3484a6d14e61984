import { expect, test } from 'vitest';
import { base64, guarded, image, openDesk, spec, text } from './content-desk.ts';

test('10,000 blocks pass, and each is judged', async () => {
  const many = (last: string) => ({
    content: [...Array.from({ length: 9_999 }, (_, at) => text(`block ${at}`)), text(last)],
  });
  const fast = await openDesk(spec());
  expect(await fast.answer(many('SECRET'))).toEqual({ status: 'ok', result: many('SECRET') });
  const desk = await openDesk(guarded);
  expect(await desk.answer(many('SECRET'))).toEqual({ status: 'ok', result: many('[hidden]') });
  expect(desk.seen()).toHaveLength(10_000);
  expect(await desk.answer(many('FORBIDDEN'))).toMatchObject({ status: 'denied', hook: 'guard' });
});

test('60 MB of text and an image of 3 MB pass a hook', async () => {
  const desk = await openDesk(guarded);
  const [long, bytes] = ['x'.repeat(60_000_000), base64(new Uint8Array(3_000_000))];
  const document = await desk.answer({ content: [text(`${long}SECRET`), image(bytes)] });
  const changed = { content: [text(`${long}[hidden]`), image(bytes)] };
  expect(JSON.stringify(document) === JSON.stringify({ status: 'ok', result: changed })).toBe(true);
});
