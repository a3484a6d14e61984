import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fault } from '../../src/base/errors.ts';
import { composeJson } from '../../src/base/json/compose.ts';
import { Json } from '../../src/base/json/json.ts';
import type { KeptIdentity } from '../../src/store/identities.ts';
import { digestOfPin } from '../../src/store/pins.ts';
import type { RunFilter, RunRecord, Store } from '../../src/store/store.ts';
import { pendingContract } from './contract-pendings.ts';
import { suspensionContract } from './contract-suspensions.ts';
import { ends, exactText, faultOf, hardStrings, newCall, newRun, type Open } from './examples.ts';

export function storeContract(name: string, open: () => Promise<Store>): void {
  const openForTest = async (...runs: string[]) => {
    const store = await open();
    onTestFinished(() => store.close());
    for (const id of runs) await store.createRun(newRun(id));
    return store;
  };
  describe(`runs in the ${name} store`, () => runContract(openForTest));
  describe(`claims in the ${name} store`, () => claimContract(openForTest));
  describe(`prune in the ${name} store`, () => pruneContract(openForTest));
  describe(`identities of calls in the ${name} store`, () => identityContract(openForTest));
  describe(`pins in the ${name} store`, () => pinContract(openForTest));
  describe(`steps in the ${name} store`, () => stepContract(openForTest));
  describe(`pending calls in the ${name} store`, () => pendingContract(openForTest));
  describe(`suspended runs in the ${name} store`, () => suspensionContract(openForTest));
  describe(`the end of the ${name} store`, () => closeContract(openForTest));
}

function identityContract(open: Open): void {
  const day = 24 * 3_600_000;
  const wanted = (run: string, overrides: Partial<KeptIdentity> = {}): KeptIdentity => ({
    ...{ key: 'k', run, principal: 'key_1', args: 'digest', at: 10 * day },
    ...overrides,
  });

  test('of many claims of a key one stands, and every caller receives it', async () => {
    const store = await open();
    const runs = ['r1', 'r2', 'r3', 'r4'];
    const claimed = await Promise.all(runs.map((run) => store.claimIdentity(wanted(run))));
    const [first] = claimed;
    expect(runs).toContain(first?.run);
    for (const each of claimed) expect(each).toEqual(first);
    expect(await store.findIdentity({ key: 'k', at: 10 * day })).toEqual(first);
    expect(await store.findIdentity({ run: first?.run ?? '' })).toEqual(first);
    expect(await store.findIdentity({ key: 'other', at: 10 * day })).toBeUndefined();
  });

  test('an identity without a key is never that of another call', async () => {
    const store = await open();
    for (const run of ['r1', 'r2'])
      expect((await store.claimIdentity(wanted(run, { key: null }))).run).toBe(run);
    expect(await store.findIdentity({ run: 'r2' })).toEqual(wanted('r2', { key: null }));
  });

  test('one caller ends an identity, whose key is free then, and the run keeps its principal', async () => {
    const store = await open();
    await store.claimIdentity(wanted('r1'));
    expect(await store.endIdentity('k', 'r2')).toBe(false);
    const ended = await Promise.all([1, 2, 3].map(() => store.endIdentity('k', 'r1')));
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect((await store.claimIdentity(wanted('r2'))).run).toBe('r2');
    expect(await store.findIdentity({ run: 'r1' })).toEqual(wanted('r1', { key: null }));
  });

  test.each([
    { title: 'without its run, a day after the claim', status: undefined, at: 11 * day, run: 'r2' },
    { title: 'without its run, within a day', status: undefined, at: 11 * day - 1, run: 'r1' },
    { title: 'whose run waits, at any time', status: 'pending', at: 90 * day, run: 'r1' },
    { title: 'whose run ended less than a day ago', status: 'completed', at: 21 * day - 1, run: 'r1' },
    { title: 'whose run ended a day ago', status: 'failed', at: 21 * day, run: 'r2' },
    { title: 'when the clock went back', status: 'completed', at: 0, run: 'r1' },
  ] as const)('an identity $title', async ({ status, at, run }) => {
    const store = await open();
    await store.claimIdentity(wanted('r1'));
    if (status !== undefined) {
      await store.createRun(newRun('r1'));
      await store.setRunStatus('r1', { status, at: 20 * day });
    }
    const isKept = run === 'r1';
    expect((await store.findIdentity({ key: 'k', at })) !== undefined).toBe(isKept);
    expect((await store.claimIdentity(wanted('r2', { at }))).run).toBe(run);
    expect((await store.findIdentity({ run: 'r1' })) !== undefined).toBe(isKept);
  });
}

function pinContract(open: Open): void {
  const first = { acceptedBy: null, acceptedAt: null };

  test('of many first texts one stands, and every caller receives it', async () => {
    const store = await open();
    const texts = ['one', 'two', 'three', exactText];
    const pins = await Promise.all(texts.map((text) => store.addPin({ server: 's', text, at: 7 })));
    const [pin] = pins;
    expect(texts).toContain(pin?.text);
    for (const each of [...pins, await store.findPin('s')]) expect(each).toEqual(pin);
    expect(pin).toMatchObject({ ...first, server: 's', digest: digestOfPin(pin?.text ?? ''), pinnedAt: 7 });
    expect(await store.findPin('S')).toBeUndefined();
  });

  test('of many people one replaces a pin, and the others learn that it is another now', async () => {
    const store = await open();
    const { digest: instead } = await store.addPin({ server: 's', text: 'old', at: 1 });
    const accept = (text: string, by: string) =>
      store.acceptPin({ ...{ server: 's', text, by, at: 2, instead } });
    const accepted = await Promise.all(['ada', 'bo', 'cy'].map((by) => accept(`by ${by}`, by)));
    const [winner, ...none] = accepted.filter((each) => each !== undefined);
    expect(none).toEqual([]);
    expect(winner).toMatchObject({ pinnedAt: 1, acceptedAt: 2, text: `by ${winner?.acceptedBy}` });
    expect(await accept('late', 'di')).toBeUndefined();
    expect(await store.addPin({ server: 's', text: 'again', at: 3 })).toEqual(winner);
  });

  test('the same text can be accepted, and a server without a pin cannot', async () => {
    const store = await open();
    const { digest: instead } = await store.addPin({ server: 's', text: 'old', at: 1 });
    const accepted = { text: 'old', by: 'ada', at: 2, instead };
    expect(await store.acceptPin({ ...accepted, server: 't' })).toBeUndefined();
    expect(await store.acceptPin({ ...accepted, server: 's' })).toMatchObject({
      digest: instead,
      acceptedBy: 'ada',
    });
  });

  test('texts are stored to the byte', async () => {
    const store = await open();
    for (const [place, text] of hardStrings.entries()) {
      await store.addPin({ server: `s${place}`, text, at: 1 });
      expect(await store.findPin(`s${place}`)).toMatchObject({ text, digest: digestOfPin(text) });
    }
  });
}

function runContract(open: Open): void {
  test('a new run is running and is stored unchanged', async () => {
    const store = await open('r1');
    expect(await store.findRun('r1')).toEqual({
      ...newRun('r1'),
      status: 'running',
      output: null,
      error: null,
      updatedAt: 1_000,
    } satisfies RunRecord);
  });

  test('unknown members of a run are not stored', async () => {
    const store = await open();
    const more = { ...newRun('r1'), secret: 'x' };
    await store.createRun(more);
    expect(Object.keys((await store.findRun('r1')) ?? {})).not.toContain('secret');
  });

  test('a run that was never created is not found', async () => {
    const empty = await open();
    expect([await empty.findRun('r1'), await empty.findRunStatus('r1')]).toEqual([undefined, undefined]);
  });

  test('texts are stored byte for byte', async () => {
    const store = await open();
    await store.createRun(newRun('r1', { input: new Json(exactText) }));
    await store.setRunStatus('r1', { status: 'completed', output: new Json(exactText), at: 2 });
    const run = await store.findRun('r1');
    expect([run?.input.text, run?.output?.text]).toEqual([exactText, exactText]);
  });

  test.each(hardStrings)('the string %j is stored unchanged', async (text) => {
    const store = await open();
    const run = newRun('r1', { name: text, file: text, source: text, config: text });
    await store.createRun(run);
    expect(await store.findRun('r1')).toMatchObject(run);
  });

  test('a long text is stored completely', async () => {
    const store = await open();
    const input = Json.from('é'.repeat(3_000_000));
    await store.createRun(newRun('r1', { input }));
    expect((await store.findRun('r1'))?.input.text === input.text).toBe(true);
  });

  test('a second run with the same id is refused and changes nothing', async () => {
    const store = await open('r1');
    expect((await faultOf(store.createRun(newRun('r1', { name: 'other' })))).code).toBe('STORE_FAILED');
    expect((await store.findRun('r1'))?.name).toBe('refund');
  });

  test.each(['', '.', '..', '../x', 'a/b', 'a\\b', '-x', 'a\0', 'a b', 'é', 'x'.repeat(129)])(
    'no run has the id %j, and none can be claimed',
    async (id) => {
      const store = await open();
      expect((await faultOf(store.createRun(newRun(id)))).code).toBe('USAGE');
      expect((await faultOf(store.claimRun(id))).code).toBe('USAGE');
    },
  );

  test('runs are listed newest first, with an optional status and limit', async () => {
    const store = await open('r1', 'r2', 'r3', 'r4');
    for (const id of ['r1', 'r3', 'r4']) await store.setRunStatus(id, { status: 'pending', at: 5 });
    const idsOf = (runs: readonly RunRecord[]) => runs.map(({ id }) => id);
    expect(idsOf(await store.listRuns())).toEqual(['r4', 'r3', 'r2', 'r1']);
    expect(idsOf(await store.listRuns({ status: 'pending' }))).toEqual(['r4', 'r3', 'r1']);
    expect(idsOf(await store.listRuns({ status: 'pending', limit: 2 }))).toEqual(['r4', 'r3']);
    expect(idsOf(await store.listRuns({ limit: 1 }))).toEqual(['r4']);
    expect(idsOf(await store.listRuns({ limit: 0 }))).toEqual([]);
    expect(idsOf(await store.listRuns({ status: 'failed' }))).toEqual([]);
  });

  test('the labels of a run are stored in the order of their names', async () => {
    const store = await open();
    const labels = { shop: 'berlin', order: 'A-17 é😀', 'a/b.c': '', json: 'json:"x"' };
    await store.createRun(newRun('r1', { labels }));
    await store.createRun(newRun('r2'));
    expect((await store.findRun('r1'))?.labels).toEqual(labels);
    expect(await store.findRun('r2')).not.toHaveProperty('labels');
    expect((await store.summarizeRuns({}, 9)).map((run) => run.labels)).toEqual([undefined, labels]);
    expect((await store.listRuns({ limit: 1 }))[0]).not.toHaveProperty('labels');
  });

  test('runs are found by pipeline, status, labels and time, all of which must match', async () => {
    const store = await open();
    const shops = ['berlin', 'berlin', 'oslo', 'berlin'];
    for (const [index, shop] of shops.entries()) {
      const name = index === 1 ? 'other' : 'refund';
      const labels = { shop, order: `A-${index}` };
      await store.createRun(newRun(`r${index}`, { name, labels, createdAt: 1_000 * index }));
    }
    await store.createRun(newRun('r4', { createdAt: 4_000 }));
    await store.setRunStatus('r0', { status: 'pending', at: 9_000 });
    const idsOf = async (filter: RunFilter) => (await store.summarizeRuns(filter, 9_000)).map(({ id }) => id);
    expect(await idsOf({ name: 'refund' })).toEqual(['r4', 'r3', 'r2', 'r0']);
    expect(await idsOf({ labels: { shop: 'berlin' } })).toEqual(['r3', 'r1', 'r0']);
    expect(await idsOf({ labels: { shop: 'berlin' }, limit: 2 })).toEqual(['r3', 'r1']);
    expect(await idsOf({ labels: { shop: 'berlin', order: 'A-1' } })).toEqual(['r1']);
    expect(await idsOf({ labels: { shop: 'berlin' }, name: 'refund', status: 'pending' })).toEqual(['r0']);
    expect(await idsOf({ labels: { shop: 'ber' } })).toEqual([]);
    expect(await idsOf({ since: 1_000, until: 3_000 })).toEqual(['r2', 'r1']);
    expect(await idsOf({ since: 3_000, labels: { shop: 'oslo' } })).toEqual([]);
  });

  test.each([{}, { labels: { shop: 'berlin' } }])(
    'pages of %j stay what they are while runs begin and go',
    async (filter) => {
      const store = await open();
      const create = (id: string) => store.createRun(newRun(id, { labels: { shop: 'berlin' } }));
      for (const id of ['r1', 'r2', 'r3', 'r4', 'r5']) await create(id);
      const seen: string[] = [];
      let after: number | undefined;
      for (let page = 0; page < 3; page += 1) {
        const runs = await store.summarizeRuns({ ...filter, limit: 2, after }, 9_000);
        seen.push(...runs.map(({ id }) => id));
        after = runs.at(-1)?.place;
        await create(`later-${page}`);
        await store.setRunStatus('r5', { status: 'completed', at: 1 });
        await store.prune(2);
      }
      expect(seen).toEqual(['r5', 'r4', 'r3', 'r2', 'r1']);
      expect(await store.summarizeRuns({ ...filter, limit: 2, after }, 9_000)).toEqual([]);
    },
  );

  test('a status is set with output and error, and omitted members stay', async () => {
    const store = await open();
    const error: Fault = {
      code: 'DENIED',
      message: 'no',
      hint: 'ask',
      details: { hook: 'h', list: [1, null] },
    };
    await store.createRun(newRun('r1'));
    expect(await store.setRunStatus('r1', { status: 'pending', output: new Json('1'), error, at: 2 })).toBe(
      true,
    );
    expect(await store.setRunStatus('r1', { status: 'running', at: 3 })).toBe(true);
    expect(await store.findRun('r1')).toMatchObject({
      status: 'running',
      output: new Json('1'),
      error,
      updatedAt: 3,
    });
    expect(await store.setRunStatus('r1', { status: 'completed', output: null, error: null, at: 4 })).toBe(
      true,
    );
    expect(await store.findRun('r1')).toMatchObject({
      status: 'completed',
      output: null,
      error: null,
      updatedAt: 4,
    });
  });

  test('an output of JSON null counts as an output', async () => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status: 'completed', output: new Json('null'), at: 2 });
    expect((await store.findRun('r1'))?.output?.text).toBe('null');
  });

  test('an error’s long numbers keep their digits', async () => {
    const store = await open();
    const details = { id: new Json('12345678901234567890') };
    await store.createRun(newRun('r1'));
    await store.setRunStatus('r1', {
      status: 'failed',
      error: { code: 'TOOL_ERROR', message: 'm\0', hint: 'h', details },
      at: 2,
    });
    expect(Json.from((await store.findRun('r1'))?.error).text).toBe(
      '{"code":"TOOL_ERROR","message":"m\\u0000","hint":"h","details":{"id":12345678901234567890}}',
    );
  });

  test.each(ends)('a %s run continues if it is reopened and that is allowed', async (status) => {
    const store = await open('r1');
    expect(await store.setRunStatus('r1', { status: 'running', reopens: true, at: 2 })).toBe(false);
    await store.setRunStatus('r1', { status, output: new Json('1'), at: 3 });
    const may = status === 'failed' || status === 'denied';
    expect(await store.setRunStatus('r1', { status: 'running', reopens: true, at: 4 })).toBe(may);
    expect(await store.findRun('r1')).toMatchObject(
      may ? { status: 'running', output: null, error: null, updatedAt: 4 } : { status, updatedAt: 3 },
    );
    expect(await store.setRunStatus('nobody', { status: 'running', reopens: true, at: 4 })).toBe(false);
  });

  test.each(ends)('a %s run keeps its end', async (status) => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status, output: new Json('1'), at: 2 });
    const ended = await store.findRun('r1');
    for (const other of ['running', 'pending', ...ends] as const) {
      expect(await store.setRunStatus('r1', { status: other, output: new Json('2'), at: 3 })).toBe(false);
    }
    expect(await store.findRun('r1')).toEqual(ended);
  });

  test('the status of a missing run cannot be set', async () => {
    const store = await open();
    expect(await store.setRunStatus('r1', { status: 'failed', at: 2 })).toBe(false);
    expect(await store.findRun('r1')).toBeUndefined();
  });
}

function claimContract(open: Open): void {
  test('claimed runs are listed', async () => {
    const store = await open('r1', 'r2');
    expect(await store.listClaimed()).toEqual(new Set());
    const claim = await store.claimRun('r2');
    expect(await store.listClaimed()).toEqual(new Set(['r2']));
    await claim?.release();
    expect(await store.listClaimed()).toEqual(new Set());
  });

  test('a run has one holder at a time', async () => {
    const store = await open('r1');
    const claim = await store.claimRun('r1');
    expect(claim).toBeDefined();
    expect(await store.claimRun('r1')).toBeUndefined();
    await claim?.release();
    expect(await store.claimRun('r1')).toBeDefined();
  });

  test('exactly one of many concurrent claims of a run succeeds', async () => {
    const store = await open();
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claimRun('r1')));
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
  });

  test('a claim does not affect other runs, and a missing run can be claimed', async () => {
    const store = await open();
    expect(await store.claimRun('r1')).toBeDefined();
    expect(await store.claimRun('r2')).toBeDefined();
  });

  test('a second release of a claim does not affect the next holder', async () => {
    const store = await open();
    const first = await store.claimRun('r1');
    await first?.release();
    const second = await store.claimRun('r1');
    await first?.release();
    expect(await store.claimRun('r1')).toBeUndefined();
    await second?.release();
    await second?.release();
    expect(await store.claimRun('r1')).toBeDefined();
  });
}

function pruneContract(open: Open): void {
  test('ended runs that last changed before the time are removed with all their data', async () => {
    const store = await open();
    for (const id of ['r1', 'r2']) {
      await store.createRun(newRun(id));
      await store.beginStep(id, 'a', 1);
      await store.endStep(id, 'a', new Json('1'), 1);
      await store.addPending(newCall(`p-${id}`, id));
    }
    await store.setRunStatus('r1', { status: 'completed', at: 10 });
    await store.setRunStatus('r2', { status: 'completed', at: 20 });
    expect(await store.prune(20)).toBe(1);
    expect((await store.listRuns()).map(({ id }) => id)).toEqual(['r2']);
    expect([await store.listSteps('r1'), (await store.listSteps('r2')).length]).toEqual([[], 1]);
    expect((await store.listPendings({}, 30)).map(({ id }) => id)).toEqual(['p-r2']);
    expect(await store.findPending('p-r1', 30)).toBeUndefined();
    expect(await store.prune(20)).toBe(0);
  });

  test.each(['running', 'pending'] as const)('a %s run is never removed', async (status) => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status, at: 2 });
    expect(await store.prune(Number.MAX_SAFE_INTEGER)).toBe(0);
    expect(await store.findRun('r1')).toBeDefined();
  });

  test.each(ends)('a %s run is removed', async (status) => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status, at: 2 });
    expect(await store.prune(3)).toBe(1);
  });

  test('a claimed run is left for the next prune', async () => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status: 'completed', at: 2 });
    const claim = await store.claimRun('r1');
    expect(await store.prune(100)).toBe(0);
    expect(await store.claimRun('r1')).toBeUndefined();
    await claim?.release();
    expect(await store.prune(100)).toBe(1);
  });

  test('the id of a removed run can be used again', async () => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status: 'failed', at: 2 });
    await store.prune(100);
    await store.createRun(newRun('r1', { name: 'again' }));
    expect(await store.findRun('r1')).toMatchObject({ name: 'again', status: 'running' });
  });
}

function stepContract(open: Open): void {
  const openRun = async () => {
    const store = await open('r1');
    return store;
  };

  test('a started step has no outcome yet, and its attempts are counted', async () => {
    const store = await openRun();
    expect(await store.beginStep('r1', 'a', 5)).toEqual({ attempt: 1 });
    expect(await store.beginStep('r1', 'a', 9)).toEqual({ attempt: 2 });
    expect(await store.listSteps('r1')).toEqual([
      { step: 'a', attempts: 2, outcome: null, beganAt: 5, endedAt: null },
    ]);
  });

  test('steps are read in pages, in order', async () => {
    const store = await openRun();
    await store.createRun(newRun('r2'));
    for (const step of ['c', 'a', 'b']) {
      await store.endStep('r2', step, new Json('1'), 5);
      await store.endStep('r1', step, composeJson({ long: `${step}${'x'.repeat(2_000)}` }), 5);
    }
    const first = await store.pageSteps('r1', { limit: 2 });
    const second = await store.pageSteps('r1', { behind: first.at(-1)?.place, limit: 2 });
    const third = await store.pageSteps('r1', { behind: second.at(-1)?.place, limit: 2 });
    const all = (await store.listSteps('r1')).map(({ step, outcome }) => [step, outcome?.text]);
    const paged = [...first, ...second].map(({ step, outcome }) => [step, outcome?.text]);
    expect([first.length, paged, third]).toEqual([2, all, []]);
    expect(await store.pageSteps('nobody', { limit: 2 })).toEqual([]);
  });

  test('steps are read by a part of their names, below a path, and for several runs in their order', async () => {
    const store = await openRun();
    await store.createRun(newRun('r2'));
    const long = composeJson({ long: 'x'.repeat(2_000) });
    for (const step of ['a/call', 'a', 'a[1]/call', 'a[1]', 'ab/call', 'b/a/call', 'a/call~1', 'a~1'])
      for (const run of ['r1', 'r2']) await store.endStep(run, step, long, 5);
    await store.beginStep('r1', 'a/late', 6);
    const namesOf = (steps: readonly { readonly step: string }[]) => steps.map(({ step }) => step);
    const all = await store.listSteps('r1');
    expect(namesOf(await store.listStepNames('r1'))).toEqual(namesOf(all));
    const below = await store.listStepsBelow('r1', ['a', 'b', 'nothing']);
    expect(namesOf(below).toSorted()).toEqual(['a/call', 'a/call~1', 'a/late', 'b/a/call']);
    expect(namesOf(await store.pageSteps('r1', { limit: 2, part: 'a[1]' }))).toEqual(['a[1]/call', 'a[1]']);
    const [first] = await store.pageSteps('r1', { limit: 1, part: 'b' });
    expect(namesOf(await store.pageSteps('r1', { limit: 9, part: 'b', behind: first?.place }))).toEqual([
      'b/a/call',
    ]);
    const read: string[] = [];
    for await (const { step, outcome } of store.readSteps(['r1', 'nobody', 'r2']))
      read.push(`${step} ${outcome?.text.length}`);
    expect(read.toSorted()).toEqual(
      [...all, ...all.filter(({ endedAt }) => endedAt !== null)]
        .map(({ step, outcome }) => `${step} ${outcome?.text.length}`)
        .toSorted(),
    );
    for await (const step of store.readSteps([])) expect(step).toBeUndefined();
  });

  test('the first outcome of a step stays', async () => {
    const store = await openRun();
    await store.beginStep('r1', 'a', 5);
    await store.endStep('r1', 'a', new Json(exactText), 6);
    await store.endStep('r1', 'a', new Json('"other"'), 7);
    expect(await store.beginStep('r1', 'a', 8)).toEqual({ attempt: 2 });
    expect(await store.listSteps('r1')).toEqual([
      { step: 'a', attempts: 2, outcome: new Json(exactText), beganAt: 5, endedAt: 6 },
    ]);
  });

  test('a step that was never started starts and ends at once', async () => {
    const store = await openRun();
    await store.endStep('r1', 'a', new Json('null'), 6);
    expect(await store.listSteps('r1')).toEqual([
      { step: 'a', attempts: 0, outcome: new Json('null'), beganAt: 6, endedAt: 6 },
    ]);
  });

  test('steps are listed in the order of their starts, whatever the clock says', async () => {
    const store = await openRun();
    await store.beginStep('r1', 'z', 9);
    await store.beginStep('r1', 'a', 3);
    await store.beginStep('r1', 'm', 9);
    await store.endStep('r1', 'a', new Json('1'), 20);
    await store.beginStep('r1', 'z', 30);
    expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(['z', 'a', 'm']);
  });

  test('runs have steps of their own', async () => {
    const store = await openRun();
    await store.createRun(newRun('r2'));
    await store.beginStep('r1', 'a', 1);
    expect(await store.beginStep('r2', 'a', 1)).toEqual({ attempt: 1 });
    await store.endStep('r2', 'a', new Json('1'), 2);
    expect((await store.listSteps('r1'))[0]?.outcome).toBeNull();
  });

  test.each(hardStrings)('a step can have the name %j', async (step) => {
    const store = await openRun();
    await store.beginStep('r1', `${step}x`, 1);
    await store.beginStep('r1', step, 1);
    expect(await store.beginStep('r1', step, 1)).toEqual({ attempt: 2 });
    expect((await store.listSteps('r1')).map((kept) => kept.step)).toEqual([`${step}x`, step]);
  });

  test('method calls take effect in order', async () => {
    const store = await openRun();
    const steps = Array.from({ length: 50 }, (_, index) => `s${index}`);
    await Promise.all(steps.map((step) => store.beginStep('r1', step, 1)));
    expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(steps);
  });

  test('a missing run has no steps and accepts none', async () => {
    const store = await open();
    expect((await faultOf(store.beginStep('r9', 'a', 1))).code).toBe('RUN_UNKNOWN');
    expect((await faultOf(store.endStep('r9', 'a', new Json('1'), 1))).code).toBe('RUN_UNKNOWN');
    expect(await store.listSteps('r9')).toEqual([]);
  });
}

function closeContract(open: Open): void {
  test('a closed store refuses every operation', async () => {
    const store = await open('r1');
    await store.close();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.createRun(newRun('r2')),
      () => store.findRun('r1'),
      () => store.listRuns(),
      () => store.setRunStatus('r1', { status: 'failed', at: 1 }),
      () => store.claimRun('r1'),
      () => store.prune(1),
      () => store.beginStep('r1', 'a', 1),
      () => store.endStep('r1', 'a', new Json('1'), 1),
      () => store.listSteps('r1'),
      () => store.addPending(newCall('p1', 'r1')),
      () => store.decide('p1', { kind: 'expired' }, 1),
      () => store.findPending('p1', 1),
      () => store.listPendings({}, 1),
    ];
    const codes = await Promise.all(calls.map(async (call) => (await faultOf(call())).code));
    expect(codes).toEqual(calls.map(() => 'STORE_FAILED'));
  });

  test('operations requested before the close are completed, later ones are not', async () => {
    const store = await open();
    const created = store.createRun(newRun('r1'));
    const found = store.findRun('r1');
    const closing = store.close();
    const late = faultOf(store.findRun('r1'));
    await created;
    expect((await found)?.id).toBe('r1');
    expect((await late).code).toBe('STORE_FAILED');
    await closing;
  });

  test('a store can be closed twice, and a claim released after the close', async () => {
    const store = await open();
    const claim = await store.claimRun('r1');
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await claim?.release();
    expect(store.location).not.toBe('');
  });
}
