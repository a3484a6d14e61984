import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { fitsAnything } from '../../../src/base/yaml/schema-check.ts';
import type { CallPaused, CallResult } from '../../../src/calls/tool-call/callable-tool.ts';
import {
  type CallLoop,
  type DecidedInRound,
  type PlannedCall,
  runCallLoop,
} from '../../../src/calls/tool-call/pending-call.ts';
import type { PendingDecision } from '../../../src/contract/approval.ts';
import { ok } from '../../../src/contract/tool.ts';
import { noMetadata } from '../../../src/dialects/metadata.ts';

const json = (text: string) => new Json(text);
const said = { by: 'mara', reason: '' };
const approved: PendingDecision = { kind: 'approved', args: null, ...said };
const edited: PendingDecision = { kind: 'approved', args: json('{"n":2}'), ...said };
const rejected: PendingDecision = { kind: 'rejected', ...said };

const resultOf = (outcome: CallResult['outcome']): CallResult => ({
  ...{ outcome, callId: 'c', content: '', metadata: noMetadata },
});
const done = (text: string) => resultOf(ok(json(`"${text}"`)));
const waits = (more: Partial<CallPaused> = {}) =>
  resultOf({
    ...{ status: 'pending', origin: 'tool', hook: null, args: json('{"n":1}'), reason: 'r', message: 'm' },
    ...{ members: json('{}'), expiresMs: null, ...more },
  });

function planned(name: string): PlannedCall {
  const fits = fitsAnything;
  const tool = { name: 'pay', port: undefined, checkArgs: fits, checkResult: fits, links: [] };
  return { name, tool, args: {}, callId: `call_${name}` };
}

/** A loop with these results of calls and these decisions. undefined: no decision. */
function openLoop(
  results: Readonly<Record<string, CallResult[]>>,
  rounds: (Readonly<Record<string, PendingDecision>> | undefined)[],
) {
  const told: string[][] = [];
  const previous: (string | null)[] = [];
  const resumed: { readonly call: string; readonly decided: DecidedInRound; readonly slot: number }[] = [];
  const next = (name: string) => results[name]?.shift() ?? done(name);
  const loop: CallLoop<number> = {
    runId: 'r1',
    runRound: (items, work) => Promise.all(items.map((item, slot) => work(item, slot))),
    make: async ({ name }) => next(name),
    decide: async (waiting) => {
      told.push(waiting.map(({ step }) => step));
      previous.push(...waiting.map((call) => call.previous));
      const rulings = rounds.shift();
      return (
        rulings &&
        waiting.flatMap((call) => {
          const ruling = rulings[call.step];
          return ruling === undefined ? [] : [{ ...call, ruling, decidedAt: 1 }];
        })
      );
    },
    resume: async ({ name }, decided, slot) => {
      resumed.push({ call: name, decided, slot });
      return next(name);
    },
  };
  return { loop, told, previous, resumed };
}

const textsOf = (results: readonly CallResult[]) =>
  results.map(({ outcome }) => (outcome.status === 'ok' ? outcome.result.value : outcome.status));

test('calls that do not wait run once', async () => {
  const { loop, told } = openLoop({}, []);
  expect(textsOf(await runCallLoop([planned('a'), planned('b')], loop))).toEqual(['a', 'b']);
  expect(await runCallLoop([], loop)).toEqual([]);
  expect(told).toEqual([]);
});

test('waiting calls are stored together, in order, and continue when they are decided; the others are done', async () => {
  const { loop, told, resumed } = openLoop(
    { a: [waits(), done('A')], b: [done('B')], c: [waits(), done('C')] },
    [{ a: approved, c: rejected }],
  );
  const results = await runCallLoop([planned('a'), planned('b'), planned('c')], loop);
  expect(textsOf(results)).toEqual(['A', 'B', 'C']);
  expect(told).toEqual([['a', 'c']]);
  expect(resumed).toMatchObject([
    {
      call: 'a',
      slot: 0,
      decided: { round: 1, editedArgs: null, approvals: [], record: { ruling: approved } },
    },
    {
      call: 'c',
      slot: 2,
      decided: { round: 1, editedArgs: null, approvals: [], record: { ruling: rejected } },
    },
  ]);
});

test('without a decision, waiting calls keep waiting', async () => {
  const { loop, resumed } = openLoop({ a: [waits()] }, [undefined]);
  expect(textsOf(await runCallLoop([planned('a'), planned('b')], loop))).toEqual(['pending', 'b']);
  expect(resumed).toEqual([]);
});

test('a call waits once for each question, each time with the earlier decisions', async () => {
  const asks = (hook: string, n: number) => waits({ origin: 'hook', hook, args: json(`{"n":${n}}`) });
  const { loop, told, previous, resumed } = openLoop(
    { a: [asks('x', 1), asks('y', 2), waits(), asks('z', 2), done('A')] },
    [{ a: edited }, { a: approved }, { a: approved }, { a: rejected }],
  );
  expect(textsOf(await runCallLoop([planned('a')], loop))).toEqual(['A']);
  expect(told).toEqual([['a'], ['a'], ['a'], ['a']]);
  const ids = resumed.map(({ decided }) => decided.record.id);
  expect(new Set(ids).size).toBe(4);
  expect(previous).toEqual([null, ...ids.slice(0, 3)]);
  const [x, y] = [
    { hook: 'x', args: json('{"n":2}') },
    { hook: 'y', args: json('{"n":2}') },
  ];
  expect(resumed.map(({ decided: { record: _, ...rest } }) => rest)).toEqual([
    { round: 1, editedArgs: json('{"n":2}'), approvals: [x] },
    { round: 2, editedArgs: json('{"n":2}'), approvals: [x, y] },
    // The question came from the tool, so there is no hook to answer.
    { round: 3, editedArgs: json('{"n":2}'), approvals: [x, y] },
    { round: 4, editedArgs: json('{"n":2}'), approvals: [x, y] },
  ]);
});

test('some calls of a round are decided, and the others are asked about again', async () => {
  const { loop, told } = openLoop({ a: [waits(), done('A')], b: [waits(), done('B')] }, [
    { b: approved },
    { a: approved },
  ]);
  expect(textsOf(await runCallLoop([planned('a'), planned('b')], loop))).toEqual(['A', 'B']);
  expect(told).toEqual([['a', 'b'], ['a']]);
});
