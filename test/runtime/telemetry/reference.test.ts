import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OperationAbout } from '../../../src/contract/event.ts';
import {
  contentNames,
  evaluationRows,
  hookRule,
  operationRules,
} from '../../../src/runtime/telemetry/attributes.ts';
import { guardrailRows } from '../../../src/runtime/telemetry/guardrails.ts';
import { openHistograms } from '../../../src/runtime/telemetry/histograms.ts';
import type { Instruments } from '../../../src/runtime/telemetry/labels.ts';
import { openMetrics } from '../../../src/runtime/telemetry/metrics.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/telemetry.md'), 'utf8');

/** The first two cells of each row of the table whose header begins so. */
function cellsOf(header: string): readonly (readonly [string, string])[] {
  const [, after = ''] = page.split(`\n| ${header}`);
  const [rows = ''] = after.split('\n\n');
  return [...rows.matchAll(/^\| `(.*?)` \| (.*?) \|/gm)].map(([, name = '', next = '']) => [name, next]);
}

const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

test('the reference lists each attribute with the spans that have it, and no other', () => {
  const rules = [...Object.entries(operationRules), ['hook', hookRule] as const];
  const places = [
    ...rules.map(([place, { start, end }]) => [place, [...namesOf(start), ...namesOf(end)]] as const),
    ['evaluation', namesOf(evaluationRows)] as const,
    ['content', Object.values(contentNames)] as const,
  ];
  const names = new Set(places.flatMap(([, names]) => names));
  const expected = [...names].map((name) => [
    name,
    places
      .filter(([, names]) => names.includes(name))
      .map(([place]) => place)
      .join(', '),
  ]);
  expect(new Map(cellsOf('attribute | on |'))).toEqual(new Map(expected as [string, string][]));
});

test('the reference lists the names for guardrails', () => {
  expect(cellsOf('attribute | value |').map(([name]) => name)).toEqual(namesOf(guardrailRows));
});

test('the reference lists each kind of operation', () => {
  expect(cellsOf('span | name |').map(([name]) => name)).toEqual([...Object.keys(operationRules), 'hook']);
});

const toLabel = (name: string) => name.replaceAll('.', '_');

/** The instruments as a scrape names them, after each kind of figure was recorded once: type and labels. */
async function record(): Promise<Map<string, readonly [string, string]>> {
  const { createHistogram, producer } = openHistograms({ name: 'test', version: '0' });
  const found = new Map<string, readonly [string, string]>();
  const take = (name: string, type: string, attributes: object) => {
    const labels = Object.keys(attributes).map((label) => `\`${toLabel(label)}\``);
    found.set(toLabel(name), [type, labels.join(', ') || 'none']);
  };
  const reads: ((result: { observe(value: number, labels: object): void }) => unknown)[] = [];
  const meter = {
    createHistogram,
    createCounter: (name: string) => ({ add: (_: number, labels: object) => take(name, 'counter', labels) }),
    createObservableGauge: (name: string) => ({
      addCallback: (read: (typeof reads)[number]) =>
        reads.push(() => read({ observe: (_, labels) => take(name, 'gauge', labels) })),
    }),
  } as unknown as Instruments;
  const none = new Set<string>();
  const sets = { tools: none, hooks: none, evals: none, models: none, servers: none };
  const { measures } = openMetrics({
    ...{ meter, text: (value) => value, names: { ...sets, providers: new Map() } },
    pendings: async () => ({ open: 1, overdue: 1, oldestMs: 1 }),
  });
  const took = { durationMs: 1, queueMs: 1 };
  const error = { code: 'PROCESS_EXIT', message: '' };
  measures.exchange('x', 'ok', took);
  measures.hook(
    { hook: 'x', kind: 'tool', phase: 'before_execution', mode: 'filter' },
    { verdict: 'deny', error, ...took },
  );
  const about = (operation: OperationAbout['operation']) =>
    ({ operation, name: 'x', call: 'x', provider: 'x', eval: 'x', case: 'x', epoch: 1 }) as OperationAbout;
  const answer = { answeredBy: { provider: 'x', model: 'x' }, model: 'x', inputTokens: 1, outputTokens: 1 };
  const end = {
    status: 'ok',
    error,
    ...answer,
    httpStatus: 200,
    firstChunkMs: 1,
    ownMs: 1,
    ...took,
  } as const;
  for (const operation of ['pipeline', 'tool', 'model', 'gateway', 'eval'] as const)
    measures.operation(about(operation), end, about('case'));
  for (const read of reads) await read({ observe: () => {} });
  const { resourceMetrics } = await producer.collect();
  for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics))
    take(descriptor.name, 'histogram', Object.assign({}, ...dataPoints.map(({ attributes }) => attributes)));
  return found;
}

test('the reference lists each metric with its type and labels, and no other', async () => {
  const listed = [...page.matchAll(/^\| `((?:gen_ai|signalbox)_\w+)` \| (\w+) \| (.*?) \|/gm)];
  expect(new Map(listed.map(([, name = '', type = '', labels = '']) => [name, [type, labels]]))).toEqual(
    await record(),
  );
});
