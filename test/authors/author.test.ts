import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type * as Author from '../../src/contract/author.ts';

const root = join(import.meta.dirname, '../..');
const file = join(root, 'authors/signalbox.mjs');
const author: typeof Author = await import(pathToFileURL(file).href);

test('signalbox/author exports what its types declare', () => {
  const declared = readFileSync(join(root, 'src/contract/author.ts'), 'utf8').matchAll(
    /^export declare (?:function|class) (\w+)/gm,
  );
  expect(Object.keys(author).toSorted()).toEqual([...declared].map(([, name]) => name).toSorted());
});

test('a filter in TypeScript reads the request of its phase [DS-AUTHOR-06]', async () => {
  const { ask, deny, filter, replace } = author;
  const guard = filter((event) => {
    switch (event.phase) {
      case 'before_call':
        return event.request.messages.every(({ content }) => content !== 'secret');
      case 'before_execution':
        return event.request.name === 'rm' ? ask('really?') : undefined;
      case 'after_call':
        return deny('no', { replacement: '[gone]' });
      case 'after_execution':
        return replace({ content: event.response.content.slice(0, 1) }, { reason: 'short' });
    }
  });
  const call = { name: 'rm', args: {}, call_id: 'c' };
  const event = { hook: 'tool', phase: 'before_execution', request: call };
  expect(await guard.handle(event)).toEqual({ allow: false, ask: true, reason: 'really?' });
  const messages = [{ role: 'user', content: 'secret' }];
  expect(await guard.handle({ phase: 'before_call', request: { messages } })).toEqual({ allow: false });
  expect(await guard.handle({ phase: 'after_call', request: {}, response: {} })).toEqual({
    ...{ allow: false, enforced: true, reason: 'no' },
    metadata: { replacement: '[gone]' },
  });
  const response = { content: 'long' };
  expect(await guard.handle({ phase: 'after_execution', request: call, response })).toEqual({
    ...{ allow: true, reason: 'short' },
    replace: { content: 'l' },
  });
});

test('a tool, an evaluator and an observer in TypeScript have the types of their requests [DS-AUTHOR-06]', async () => {
  const { evaluator, Fail, observer, pending, score, tool } = author;
  const pay = tool<{ readonly amount: number }>(async ({ args, approval }) => {
    if (args.amount < 0) throw new Fail('nothing to pay');
    return approval === undefined ? pending('Pay?', 'large') : { paid: args.amount, by: approval.by };
  });
  const approval = { id: 'p', decision: 'approved', by: 'mara', reason: '' };
  expect(await pay.handle({ args: { amount: 5 } })).toEqual({
    pending: { reason: 'large', message: 'Pay?' },
  });
  expect(await pay.handle({ args: { amount: 5 }, approval })).toEqual({ result: { paid: 5, by: 'mara' } });
  expect(await pay.handle({ args: { amount: -1 } })).toEqual({ error: 'nothing to pay' });
  const short = evaluator(({ content, params }) =>
    score(content.length <= Number(params['most']) ? 1 : 0, 'by length', { length: content.length }),
  );
  expect(await short.handle({ params: { most: 2 }, content: 'abc' })).toEqual({
    ...{ score: 0, detail: 'by length' },
    data: { length: 3 },
  });
  const seen: string[] = [];
  const log = observer((event) => {
    seen.push(event.hook === undefined ? event.eval_id : event.phase);
  });
  expect(await log.handle({ eval_id: 'polite' })).toEqual({ ack: true });
  expect(await log.handle({ hook: 'session', phase: 'session_end', event: {} })).toEqual({ ack: true });
  expect(seen).toEqual(['polite', 'session_end']);
});
