import { expect, onTestFinished, test } from 'vitest';
import type { DecisionMade, RuntimeEvent } from '../../src/contract/event.ts';
import { Json } from '../../src/index.ts';
import { openDecisionRecorder } from '../../src/runtime/decision-recorder.ts';
import { openSqliteDecisions } from '../../src/store/open-decisions.ts';
import { memoryFile } from '../../src/store/sqlite/connection.ts';

const decision: DecisionMade = {
  ...{
    type: 'decision',
    hook: 'guard',
    call: 'e1',
    dialect: 'promptkit',
    kind: 'tool',
    phase: 'before_execution',
  },
  ...{ mode: 'filter', verdict: 'allow', reason: '', metadata: new Json('{}'), durationMs: 1, queueMs: 0 },
};

async function openRecorder() {
  const store = await openSqliteDecisions(memoryFile);
  onTestFinished(() => store.close());
  const events: RuntimeEvent[] = [];
  const state = { isFull: false };
  const open = async () => {
    if (state.isFull) throw new Error('the disk is full');
    return store;
  };
  const recorder = openDecisionRecorder({
    config: { name: 'desk', decisions: { keepMs: 1_000_000, content: true } },
    store: { open, find: async () => store, reopen: async () => {}, close: async () => {} },
    openState: async () => {
      throw new Error('there is no state');
    },
    emit: (event) => events.push(event),
    scrubber: {
      values: (text) => text,
      text: (text) => text,
      stream: () => ({ push: () => '', rest: () => '' }),
      add: () => {},
    },
  });
  const notes = () => events.map((event) => (event.type === 'note' ? event.message : ''));
  return { store, recorder, state, notes };
}

test('decisions that do not fit into the queue are noted once, and become a gap in their place', async () => {
  const { store, recorder, state, notes } = await openRecorder();
  state.isFull = true;
  for (let n = 0; n < 10_300; n += 1) recorder.listen(decision);
  expect(notes()).toEqual(['decisions come faster than they can be stored, so some are not recorded']);
  state.isFull = false;
  await recorder.close();
  const page = await store.page({ limit: 2 });
  expect(page).toMatchObject([{ what: 'decisions', dropped: 300 }, { hook: 'guard' }]);
  expect(await store.count({})).toMatchObject([{ count: 10_000 }]);
});

test('a close with a store that fails ends, and says how much is lost', async () => {
  const { recorder, state, notes } = await openRecorder();
  state.isFull = true;
  for (let n = 0; n < 3; n += 1) recorder.listen(decision);
  await recorder.close();
  expect(notes()).toEqual([
    'decisions are not recorded at the moment: the disk is full',
    '3 decisions and model calls were not recorded',
  ]);
});

test('a message of 60 MB is stored whole, and one that is longer than the queue is a gap', async () => {
  const { store, recorder } = await openRecorder();
  const request = (characters: number) => ({
    ...{ provider_id: 'p', model: 'm', system_prompt: '', round: 1, metadata: {} },
    messages: [{ role: 'user', content: 'x'.repeat(characters) } as const],
  });
  recorder.keepCall?.({ request: request(60_000_000), answers: [], origin: { run: 'r' } });
  recorder.keepCall?.({ request: request(140_000_000), answers: [], origin: { run: 'r' } });
  await recorder.close();
  const calls = await store.pageCalls({ run: 'r', limit: 10 });
  expect(calls).toHaveLength(1);
  const [text = ''] = [...(await store.readMessages(calls[0]?.messages ?? [])).values()];
  expect(text.length).toBe(60_000_000 + '{"role":"user","content":""}'.length);
  expect(await store.countDropped('model_calls')).toBe(1);
});
