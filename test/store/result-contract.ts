import { expect, test } from 'vitest';
import type { ResultStore, StoredResult } from '../../src/store/result-store.ts';
import { exactText, faultOf, hardStrings, newResult, newResultRun, withRuns } from './examples.ts';

export async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

export async function allOf(records: AsyncIterable<StoredResult>): Promise<StoredResult[]> {
  return await Array.fromAsync(records);
}

export function keepsResults(openEmpty: () => Promise<ResultStore>): void {
  const open = withRuns(openEmpty);
  test('a run is found as started, and later as ended', async () => {
    const results = await open();
    const run = newResultRun('r1');
    await results.createRun(run);
    const begun = await results.findRun('r1');
    await results.setRunEnd('r1', { status: 'failed', report: exactText });
    const ended = await results.findRun('r1');
    await results.setRunEnd('r1', { status: 'running', report: null });
    expect([begun, ended, await results.findRun('r1'), await results.findRun('r2')]).toEqual([
      { ...run, status: 'running', report: null },
      { ...run, status: 'failed', report: exactText },
      { ...run, status: 'running', report: null },
      undefined,
    ]);
  });

  test('run ids are unique and safe as file names', async () => {
    const results = await open('r1');
    expect(await codeOf(() => results.createRun(newResultRun('r1', { name: 'other' })))).toBe('STORE_FAILED');
    expect(await codeOf(() => results.createRun(newResultRun('../r1')))).toBe('USAGE');
    expect((await results.listRuns()).map(({ name }) => name)).toEqual(['answers']);
  });

  test('runs are listed newest first, by name, kind and number, and page by page', async () => {
    const results = await open();
    await results.createRun(newResultRun('a', { createdAt: 2 }));
    await results.createRun(newResultRun('b', { createdAt: 3, name: 'other' }));
    await results.createRun(newResultRun('c', { createdAt: 1, kind: 'shadow' }));
    await results.createRun(newResultRun('d', { createdAt: 2 }));
    const idsOf = async (filter?: Parameters<ResultStore['listRuns']>[0]) =>
      (await results.listRuns(filter)).map(({ id }) => id);
    expect({
      all: await idsOf(),
      name: await idsOf({ name: 'answers' }),
      kind: await idsOf({ kind: 'suite' }),
      both: await idsOf({ name: 'answers', kind: 'shadow' }),
      limit: await idsOf({ limit: 2 }),
      none: await idsOf({ name: 'none', limit: 5 }),
      after: await idsOf({ after: 'd' }),
      page: await idsOf({ name: 'answers', after: 'b', limit: 1 }),
      afterLast: await idsOf({ after: 'c' }),
      afterGone: await idsOf({ after: 'gone' }),
    }).toEqual({
      all: ['b', 'd', 'a', 'c'],
      name: ['d', 'a', 'c'],
      kind: ['b', 'd', 'a'],
      both: ['c'],
      limit: ['b', 'd'],
      none: [],
      after: ['a', 'c'],
      page: ['d'],
      afterLast: [],
      afterGone: [],
    });
  });

  test('records are ordered by number and epoch, whatever the order of storage', async () => {
    const results = await open('r1', 'r2');
    await results.put(newResult('r2', { number: 7 }));
    const places = Array.from({ length: 150 }, (_, index) => ({
      number: 1 + Math.floor(index / 2),
      epoch: 1 + (index % 2),
    }));
    const shuffled = places.map((place, index) => ({ place, at: (index * 67) % 150 }));
    for (const { place } of shuffled.toSorted((one, other) => one.at - other.at)) {
      await results.put(newResult('r1', { ...place, caseId: `case-${place.number % 3}` }));
    }
    const placesOf = async (filter?: Parameters<ResultStore['records']>[1]) =>
      (await allOf(results.records('r1', filter))).map(({ number, epoch }) => ({ number, epoch }));
    expect(await placesOf()).toEqual(places);
    expect(await placesOf({ caseId: 'case-2' })).toEqual(places.filter(({ number }) => number % 3 === 2));
    expect([
      await results.countRecords('r1'),
      await results.countRecords('r2'),
      await results.countRecords('r3'),
    ]).toEqual([150, 1, 0]);
    expect(await allOf(results.records('r3'))).toEqual([]);
  });

  test('several records are stored together or not at all', async () => {
    const results = await open('r1');
    const three = [1, 2, 3].map((number) => newResult('r1', { number }));
    await results.putAll(three);
    const stray = [newResult('r1', { number: 4 }), newResult('gone', { number: 5 })];
    expect(await codeOf(() => results.putAll(stray))).toBe('STORE_FAILED');
    expect((await allOf(results.records('r1'))).map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('reopening a run is atomic, and its earlier state and replaced records stay readable', async () => {
    const results = await open('r1', 'r2');
    const places = [1, 2, 3].flatMap((number) => [1, 2].map((epoch) => ({ number, epoch })));
    await results.putAll(places.map((place) => newResult('r1', { ...place, caseId: `c${place.number}` })));
    await results.put(newResult('r2'));
    await results.setRunEnd('r1', { status: 'failed', report: exactText });
    const first = { number: 1, scope: 'failed', at: 1_700_000_000_000 };
    await results.reopenRun('r1', first, [3, 1, 9]);
    // Repeats a call whose answer was lost.
    await results.reopenRun('r1', first, [2]);
    expect(await codeOf(() => results.reopenRun('gone', first, [1]))).toBe('STORE_FAILED');
    expect(await results.findRun('r1')).toMatchObject({ status: 'running', report: null });
    expect((await allOf(results.records('r1'))).map(({ number }) => number)).toEqual([2, 2]);
    const gone = [1, 3].flatMap((number) =>
      [1, 2].map((epoch) => ({
        ...{ reopening: 1, number, epoch, caseId: `c${number}`, digest: 'd1', text: exactText },
      })),
    );
    expect(await Array.fromAsync(results.replaced('r1'))).toEqual(gone);
    expect(await Array.fromAsync(results.replaced('r1', { caseId: 'c3' }))).toEqual(gone.slice(2));

    // Replacing a record leaves a trace, unless it is identical.
    await results.putAll([1, 2].map((text) => newResult('r1', { number: 2, text: `${text}` })));
    await results.put(newResult('r1', { number: 2, text: '2' }));
    await results.setRunEnd('r1', { status: 'passed', report: '2' });
    await results.reopenRun('r1', { number: 2, scope: 'all', at: 5 }, []);
    expect(await results.reopenings('r1')).toEqual([
      { ...first, status: 'failed', report: exactText },
      { number: 2, scope: 'all', at: 5, status: 'passed', report: '2' },
    ]);
    const texts = (await Array.fromAsync(results.replaced('r1', { caseId: 'c2' }))).map(({ text }) => text);
    expect(texts[0]).toBe(exactText);
    expect([await results.reopenings('r2'), await Array.fromAsync(results.replaced('r2'))]).toEqual([[], []]);
    await results.prune(Date.now());
    expect([await results.reopenings('r1'), await Array.fromAsync(results.replaced('r1'))]).toEqual([[], []]);
  });

  test('a record that is stored again replaces the first one', async () => {
    const results = await open('r1');
    await results.put(newResult('r1'));
    await results.put(newResult('r1', { caseId: 'again', digest: 'd2', text: '2' }));
    const kept = { number: 1, epoch: 1, caseId: 'again', digest: 'd2', text: '2' };
    expect(await allOf(results.records('r1'))).toEqual([kept]);
    expect(await results.get('r1', 1, 1)).toEqual(kept);
    expect([await results.get('r1', 1, 2), await results.get('r2', 1, 1)]).toEqual([undefined, undefined]);
  });

  test('an appended record follows all others; without a run nothing is stored', async () => {
    const results = await open('r1', 'r2');
    await results.put(newResult('r2', { number: 9 }));
    const { number: _number, ...record } = newResult('r1');
    const appended = [
      await results.append({ ...record, caseId: 'first' }),
      await results.append({ ...record, caseId: 'second' }),
      await results.append({ ...record, runId: 'r2', caseId: 'third' }),
      await results.append({ ...record, runId: 'r3' }),
    ];
    expect(appended).toEqual([true, true, true, false]);
    const placesOf = async (id: string) =>
      (await allOf(results.records(id))).map(({ number, caseId }) => [number, caseId]);
    expect([await placesOf('r1'), (await placesOf('r2')).at(-1), await placesOf('r3')]).toEqual([
      [
        [1, 'first'],
        [2, 'second'],
      ],
      [10, 'third'],
      [],
    ]);
  });

  test('records can be stored during reads, and two readers can read at once', async () => {
    const results = await open('r1');
    for (let number = 1; number <= 100; number++) await results.put(newResult('r1', { number }));
    const pairs: [number, number][] = [];
    const other = results.records('r1')[Symbol.asyncIterator]();
    for await (const { number } of results.records('r1')) {
      const twin = await other.next();
      await results.put(newResult('r1', { number, text: 'changed' }));
      pairs.push([number, twin.done ? 0 : twin.value.number]);
    }
    expect(pairs).toEqual(pairs.map((_, index) => [index + 1, index + 1]));
    expect(await results.countRecords('r1')).toBe(100);
  });

  test.each(hardStrings)('the texts %j are stored unchanged', async (text) => {
    const results = await open();
    const run = newResultRun('r1', { name: text, file: text, fingerprint: text, header: text });
    await results.createRun(run);
    await results.put(newResult('r1', { caseId: text, digest: text, text }));
    await results.keepAnswer(text, text);
    expect(await results.listRuns({ name: text })).toEqual([{ ...run, status: 'running', report: null }]);
    expect(await allOf(results.records('r1', { caseId: text }))).toEqual([
      { number: 1, epoch: 1, caseId: text, digest: text, text },
    ]);
    expect(await results.findAnswer(text)).toBe(text);
  });

  test('the last answer stored under a key is found', async () => {
    const results = await open();
    await results.keepAnswer('k1', 'one');
    await results.keepAnswer('k2', 'two');
    await results.keepAnswer('k1', exactText);
    expect([
      await results.findAnswer('k1'),
      await results.findAnswer('k2'),
      await results.findAnswer('k3'),
    ]).toEqual([exactText, 'two', undefined]);
  });

  test('a missing run accepts neither a record nor an end', async () => {
    const results = await open();
    expect(await codeOf(() => results.put(newResult('r1')))).toBe('STORE_FAILED');
    expect(await codeOf(() => results.setRunEnd('r1', { status: 'passed', report: null }))).toBe(
      'STORE_FAILED',
    );
  });

  test('a run has one holder at a time', async () => {
    const results = await open('r1');
    const claim = await results.claimRun('r1');
    expect([claim === undefined, await results.claimRun('r1')]).toEqual([false, undefined]);
    await claim?.release();
    const second = await results.claimRun('r1');
    // A second release must not release a later claim.
    await claim?.release();
    expect([second === undefined, await results.claimRun('r1')]).toEqual([false, undefined]);
  });

  test('old runs are removed with all their records, except claimed ones', async () => {
    const results = await open();
    for (const [id, createdAt] of Object.entries({ old: 1, held: 2, young: 3 })) {
      await results.createRun(newResultRun(id, { createdAt }));
      await results.put(newResult(id));
    }
    await results.keepAnswer('k1', 'one');
    const claim = await results.claimRun('held');
    expect(await results.prune(3)).toBe(1);
    expect((await results.listRuns()).map(({ id }) => id)).toEqual(['young', 'held']);
    expect(await results.findAnswer('k1')).toBe('one');
    await claim?.release();
    expect(await results.prune(Date.now() + 1)).toBe(2);
    expect(await results.findAnswer('k1')).toBeUndefined();
    await results.createRun(newResultRun('old'));
    expect(await results.countRecords('old')).toBe(0);
  });

  test('a closed store refuses every operation', async () => {
    const results = await open('r1');
    await results.close();
    await results.close();
    const calls: readonly (() => unknown)[] = [
      () => results.createRun(newResultRun('r2')),
      () => results.findRun('r1'),
      () => results.listRuns(),
      () => results.setRunEnd('r1', { status: 'passed', report: null }),
      () => results.put(newResult('r1')),
      () => results.get('r1', 1, 1),
      () => allOf(results.records('r1')),
      () => results.countRecords('r1'),
      () => results.findAnswer('k1'),
      () => results.keepAnswer('k1', ''),
      () => results.prune(1),
    ];
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'STORE_FAILED'));
    expect((await faultOf(results.claimRun('r1'))).code).toBe('STORE_FAILED');
  });
}
