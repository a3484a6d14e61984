import { afterAll, beforeAll, expect, test } from 'vitest';
import { calmActions, faultyActions } from './claim/case.ts';
import { shapedEndpoints } from './claim/markers/find-leaks.ts';
import { sendMutants } from './claim/markers/send-mutants.ts';
import { runCases } from './claim/run-cases.ts';
import { openWorld, type World } from './claim/world.ts';

// The claim: no byte that a filter has not allowed reaches a client or an upstream, on any endpoint, in any channel,
// streamed or not. Allowed bytes pass unchanged. claim.slow.test.ts runs many more cases.
//
// Each of these changes to src/ was made once and made the cases below fail:
// - gateway/judge/provider-hooks.ts: judges only `answer.messages.slice(0, 1)`
// - gateway/stream/answer-stream.ts: skips reasoning, sends held events when a stream fails, or treats changed events
//   as `same`
// - gateway/stream/windows.ts: treats `held` events as `free`, or continues with `#takeFirst` once `isChanged`
// - models/guard/text-window.ts: keeps no `#tail`
// - models/guard/guard-outcome.ts: passes a decision that has an `error`
// - gateway/call/answer.ts: passes errors on without the filters
// - gateway/wire/chat/shapes.ts: shows hooks no arguments
// - gateway/wire/responses/stream-reader.ts: accepts a `done` event whose text differs from the deltas

let calm: World;
let faulty: World;

beforeAll(async () => {
  calm = await openWorld(30_000);
  faulty = await openWorld(150);
});

afterAll(async () => {
  await Promise.all([calm.close(), faulty.close()]);
});

test('only what a filter has allowed passes, byte for byte', {
  timeout: 240_000,
}, async () => {
  const { ran, broken } = await runCases(calm, { seed: 1, count: 600, actions: calmActions, atOnce: 16 });
  expect(broken).toEqual([]);
  expect(ran).toBe(600);
});

test('nothing passes that makes a filter crash, hang or print malformed output', {
  timeout: 240_000,
}, async () => {
  const { ran, broken } = await runCases(faulty, { seed: 1, count: 60, actions: faultyActions, atOnce: 16 });
  expect(broken).toEqual([]);
  expect(ran).toBe(60);
});

test('a text anywhere in a body reaches nobody when the filter denies or redacts it', {
  timeout: 240_000,
}, async () => {
  const sent = await sendMutants(calm, { seed: 1, count: 200, endpoints: shapedEndpoints });
  expect(sent).toEqual({ ran: 200, leaks: [] });
});
