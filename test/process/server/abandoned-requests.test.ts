import { expect, test } from 'vitest';
import { createAbandonedRequests } from '../../../src/process/server/waiting-requests.ts';

test('a late reply is taken once', () => {
  const forgotten = createAbandonedRequests();
  forgotten.add(7);
  expect([forgotten.isEmpty, forgotten.take(7), forgotten.take(7), forgotten.isEmpty]).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

test('the reply to a request that was not given up is none of its business', () => {
  const forgotten = createAbandonedRequests();
  forgotten.add(7);
  expect([forgotten.take(8), forgotten.isEmpty]).toEqual([false, false]);
});

test('what is too old to be remembered counts as unanswered for good [PK-5-22@server]', () => {
  const forgotten = createAbandonedRequests(3);
  for (const id of [1, 2, 3, 4]) forgotten.add(id);
  expect([1, 2, 3, 4].map((id) => forgotten.take(id))).toEqual([false, true, true, true]);
  expect(forgotten.isEmpty).toBe(false);
});

test('as many as it remembers are all answered', () => {
  const forgotten = createAbandonedRequests(3);
  for (const id of [1, 2, 3]) forgotten.add(id);
  expect([1, 2, 3].map((id) => forgotten.take(id))).toEqual([true, true, true]);
  expect(forgotten.isEmpty).toBe(true);
});
