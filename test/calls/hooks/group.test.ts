import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { openGroup } from '../../../src/calls/hooks/group.ts';
import { type Allow, answers } from '../../../src/contract/hook.ts';
import type { ForeignDialect } from '../../../src/dialects/foreign-dialect.ts';
import { hookCall, openPlayedGroup, point } from './played-group.ts';

const allow = answers.allow();
const set = (text: string) => answers.modify({ x: text });

test('hooks in series all receive the same, up to a verdict that ends them', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: { ...point, ends: ['deny'] } });
  const members = [
    member('a', set('1')),
    member('b', answers.ask('?')),
    member('c', answers.deny('no')),
    member('d', allow),
  ];
  const { hook, answer } = await openGroup(dialect, members, context).ask(hookCall());
  expect(said).toEqual(['a', 'b', 'c'].map((name) => `${name} asked {"n":0}`));
  expect({ hook, ...answer }).toMatchObject({ hook: 'b', verdict: 'ask', reason: '?' });
});

test('hooks in series without such a verdict all run', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: point });
  await openGroup(dialect, [member('a', answers.deny('no')), member('b', allow)], context).ask(hookCall());
  expect(said).toHaveLength(2);
});

test('hooks of a chain each receive the previous change, until one does not pass', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: { ...point, order: 'chain' } });
  const members = [
    member('a', allow),
    member('b', set('1')),
    member('c', answers.respond('mine')),
    member('d', allow),
  ];
  const { hook, answer } = await openGroup(dialect, members, context).ask(hookCall());
  expect(said).toEqual([
    'a asked {"n":0}',
    'b asked {"n":0,"allow":true}',
    'c asked {"n":0,"allow":true,"modify":true}',
  ]);
  expect([hook, answer.verdict]).toEqual(['c', 'respond']);
});

test('a verdict may end a chain that would continue', async () => {
  const { member, dialect, context, said } = openPlayedGroup({
    P: { ...point, order: 'chain', ends: ['modify'] },
  });
  await openGroup(dialect, [member('a', set('1')), member('b', allow)], context).ask(hookCall());
  expect(said).toEqual(['a asked {"n":0}']);
});

test('hooks in parallel run concurrently, and their answers keep their order', async () => {
  const { member, dialect, context, said } = openPlayedGroup({
    P: { ...point, order: 'parallel', ends: ['deny'] },
  });
  const gate = Promise.withResolvers<void>();
  const slow = async () => {
    await gate.promise;
    return answers.deny('slow');
  };
  const asked = openGroup(dialect, [member('a', slow), member('b', answers.deny('quick'))], context).ask(
    hookCall(),
  );
  await nextTurn();
  expect(said).toHaveLength(2);
  gate.resolve();
  expect(await asked).toMatchObject({ hook: 'a', answer: { reason: 'slow' } });
});

test('only selected hooks run, and files are written only for them', async () => {
  const selects: ForeignDialect['selects'] = ({ name }, { payload, hookContext }) => {
    expect([payload, hookContext.transcript]).toEqual([{ n: 0 }, null]);
    return name === 'b';
  };
  const seen: (string | null)[] = [];
  const encode: ForeignDialect['encode'] = (_, { payload, hookContext }) => {
    seen.push(hookContext.transcript);
    return { method: 'hook', body: JSON.stringify(payload) };
  };
  for (const [readsTranscript, transcript] of [
    [true, 'written'],
    [false, null],
  ] as const) {
    const { member, dialect, context, said } = openPlayedGroup(
      { P: point },
      { selects, encode, readsTranscript },
    );
    const members = [member('a', allow), member('b', allow)];
    expect(await openGroup(dialect, members, context).ask(hookCall())).toMatchObject({
      hook: null,
      answer: { verdict: 'allow' },
    });
    expect([said, seen.splice(0)]).toEqual([['b asked {"n":0}'], [transcript]]);
  }
});

test('without a selected hook nothing is written, and the event passes', async () => {
  const { member, dialect, context } = openPlayedGroup(
    { P: point },
    { selects: () => false, readsTranscript: true },
  );
  const prepare = () => {
    throw new Error('it is not to be written');
  };
  const group = openGroup(dialect, [member('a', answers.deny('no'))], { ...context, prepare });
  expect(await group.ask(hookCall())).toMatchObject({ hook: null, answer: { verdict: 'allow' } });
});

test('a background hook receives the same request, and its verdict has no effect', async () => {
  const { member, dialect, context, decisions } = openPlayedGroup(
    { P: point },
    { isBackground: ({ name }, at) => name === 'b' && at === 'P' },
  );
  const group = openGroup(
    dialect,
    [member('a', allow), member('b', answers.deny('no', { context: ['late'] }))],
    context,
  );
  expect((await group.ask(hookCall())).answer.verdict).toBe('allow');
  await group.close();
  expect(
    decisions()
      .map(({ hook, mode, verdict }) => `${hook} ${mode} ${verdict}`)
      .sort(),
  ).toEqual(['a filter allow', 'b observe deny']);
});

const unsubscribing: Allow = { ...allow, isUnsubscribed: true };

test('a hook that does not handle a point is called there once in the life of its process', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: point, Q: point });
  let lives = 1;
  const a = member('a', unsubscribing);
  const transport = a.transport && { ...a.transport, startCount: () => lives };
  const group = openGroup(dialect, [{ ...a, transport }, member('b', allow)], context);
  const ask = async (at = 'P') => {
    await group.ask(hookCall({ point: at }));
    return said.splice(0).map((each) => each[0]);
  };
  expect(await ask()).toEqual(['a', 'b']);
  expect(await ask()).toEqual(['b']);
  expect(await ask('Q')).toEqual(['a', 'b']);
  expect(await ask('Q')).toEqual(['b']);
  lives = 2;
  expect(await ask()).toEqual(['a', 'b']);
  expect(await ask()).toEqual(['b']);
});

test.each([
  { title: 'no process counts its lives', lives: undefined, again: false },
  { title: 'its process was started by the question', lives: [0, 0, 1, 1, 1], again: false },
  { title: 'its process was started again meanwhile', lives: [1, 1, 2, 2, 2], again: true },
])('a reply that unsubscribes where $title: called again is $again', async ({ lives, again }) => {
  const { member, dialect, context, said } = openPlayedGroup({ P: point });
  const a = member('a', unsubscribing);
  const left = [...(lives ?? [])];
  const startCount = () => left.shift() ?? 2;
  const transport = a.transport && { ...a.transport, ...(lives && { startCount }) };
  const group = openGroup(dialect, [{ ...a, transport }], context);
  await group.ask(hookCall());
  left.splice(0, left.length, ...(lives?.slice(2) ?? []));
  await group.ask(hookCall());
  expect(said).toHaveLength(again ? 2 : 1);
});

test('a hook that only allows is called again, and another verdict with that mark is no allow', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: point });
  const group = openGroup(
    dialect,
    [member('a', allow), member('b', { ...answers.deny('no'), ...{ isUnsubscribed: true } })],
    context,
  );
  await group.ask(hookCall());
  await group.ask(hookCall());
  expect(said).toHaveLength(4);
});

test('a cancelled hook has not answered: the rules of the dialect do not apply', async () => {
  const concluded: unknown[] = [];
  const reports: unknown[] = [];
  const more: Partial<ForeignDialect> = {
    conclude: (_question, all, composed) => {
      concluded.push(all);
      return composed;
    },
    report: (_question, { answer }) => {
      reports.push(answer.verdict);
      return undefined;
    },
  };
  const { member, dialect, context } = openPlayedGroup({ P: point }, more);
  const gone = new RuntimeError('ABORTED', 'gone');
  const group = openGroup(dialect, [member('a', answers.deny('no')), member('b', gone)], context);
  expect(await group.ask(hookCall())).toMatchObject({
    hook: 'b',
    answer: { verdict: 'deny', error: { code: 'ABORTED' } },
  });
  expect([concluded, reports]).toEqual([[], []]);
});

test('a dialect concludes from all answers, and from the number of available hooks', async () => {
  const conclude: ForeignDialect['conclude'] = ({ point: at }, all, { answer }, selected) => ({
    hook: `${at} ${all.map(({ hook }) => hook)} of ${selected}`,
    answer: answers.deny(answer.verdict),
  });
  const { member, dialect, context } = openPlayedGroup({ P: { ...point, ends: ['allow'] } }, { conclude });
  const members = [member('a', allow), member('b', allow)];
  expect(await openGroup(dialect, members, context).ask(hookCall())).toMatchObject({
    hook: 'P a of 2',
    answer: { reason: 'allow' },
  });
});

test('answers that cannot be composed deny in the name of the last hook, or of none', async () => {
  const conclude = () => {
    throw new RuntimeError('REPLY_MALFORMED', 'they contradict each other');
  };
  const { member, dialect, context } = openPlayedGroup({ P: point }, { conclude });
  const denied = { verdict: 'deny', error: { code: 'REPLY_MALFORMED' } };
  const ask = (...names: string[]) =>
    openGroup(
      dialect,
      names.map((name) => member(name, allow)),
      context,
    ).ask(hookCall());
  expect(await ask('a', 'b', 'c')).toMatchObject({ hook: 'c', answer: denied });
  expect(await ask()).toMatchObject({ hook: null, answer: denied });
});

test('a dialect may report the result of a point, however its hooks ran', async () => {
  const report: ForeignDialect['report'] = ({ point: at }, { selected, answer }) =>
    at === 'Q' ? undefined : { at, selected, verdict: answer.verdict };
  const selects: ForeignDialect['selects'] = ({ name }) => name !== 'c';
  const { member, dialect, context, events } = openPlayedGroup(
    { P: { ...point, ends: ['deny'] }, O: { ...point, isFilter: false }, Q: point },
    { report, selects, isBackground: ({ name }) => name === 'd' },
  );
  const members = [
    member('a', answers.deny('no')),
    member('b', allow),
    member('c', allow),
    member('d', allow),
  ];
  const group = openGroup(dialect, members, context);
  for (const at of ['P', 'Q']) await group.ask(hookCall({ point: at }));
  await group.notify(hookCall({ point: 'O' }));
  await group.close();
  const reported = events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event] : []));
  expect(reported).toEqual([
    { type: 'plugin_hook_fired', hook_name: 'P', data: { at: 'P', selected: 3, verdict: 'deny' } },
    { type: 'plugin_hook_fired', hook_name: 'O', data: { at: 'O', selected: 3, verdict: 'allow' } },
  ]);
});

test('a hook without a process still has its answer', async () => {
  const staticAnswer = () => answers.deny('static');
  const { member, dialect, context } = openPlayedGroup({ P: point }, { staticAnswer });
  const group = openGroup(dialect, [member('a', allow, { transport: undefined })], context);
  expect(await group.ask(hookCall())).toMatchObject({ hook: 'a', answer: { reason: 'static' } });
});

test('a group of some of the hooks runs only them', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: point });
  const whole = openGroup(dialect, [member('a', allow), member('b', allow), member('c', allow)], context);
  expect([whole.dialect, whole.pointsAt(JSON.parse('{}'))]).toEqual([dialect, ['P']]);
  const some = whole.restrict(new Set(['c', 'a']));
  expect(some.members.map(({ entry }) => entry.name)).toEqual(['a', 'c']);
  await some.ask(hookCall());
  expect(said.map((each) => each[0])).toEqual(['a', 'c']);
  await some.close();
});
