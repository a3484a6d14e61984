import fc from 'fast-check';
import { expect, test } from 'vitest';
import { meetsThreshold, requireThreshold } from '../../../src/calls/capability/eval.ts';
import { scored, type Threshold, unscored } from '../../../src/contract/eval.ts';
import { loadSuite } from '../../../src/suites/load.ts';
import { titled } from '../../cite.ts';
import { header, writeFiles } from '../../suites/support.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly score: number;
  readonly bounds: Threshold;
  readonly passes: boolean;
}

const rows: readonly Row[] = [
  {
    title: 'the minimum itself passes',
    cites: 'PK-7-18',
    score: 0.8,
    bounds: { min_score: 0.8 },
    passes: true,
  },
  {
    title: 'the next number below the minimum fails',
    cites: 'PK-7-18',
    score: 0.7999999999999999,
    bounds: { min_score: 0.8 },
    passes: false,
  },
  {
    title: 'the maximum itself passes',
    cites: 'PK-7-18',
    score: 0.2,
    bounds: { max_score: 0.2 },
    passes: true,
  },
  {
    title: 'the next number above the maximum fails',
    cites: 'PK-7-18',
    score: 0.20000000000000004,
    bounds: { max_score: 0.2 },
    passes: false,
  },
  {
    title: 'a sum that is a little more than 0.3 fails a maximum of 0.3',
    cites: 'PK-7-18',
    score: 0.1 + 0.2,
    bounds: { max_score: 0.3 },
    passes: false,
  },
  { title: '1 passes without bounds', cites: 'PK-7-19', score: 1, bounds: {}, passes: true },
  {
    title: 'less than 1 fails without bounds',
    cites: 'PK-7-19',
    score: 0.9999999999999999,
    bounds: {},
    passes: false,
  },
  { title: '0 passes a maximum alone', cites: 'PK-7-20', score: 0, bounds: { max_score: 0.5 }, passes: true },
  { title: '0 passes a maximum of 0', cites: 'PK-7-20', score: 0, bounds: { max_score: 0 }, passes: true },
  { title: '0 passes a minimum of 0', cites: 'PK-7-18', score: 0, bounds: { min_score: 0 }, passes: true },
  {
    title: '1 fails a maximum below it',
    cites: 'PK-7-20',
    score: 1,
    bounds: { max_score: 0.5 },
    passes: false,
  },
  {
    title: 'a score between both passes',
    cites: 'PK-7-18',
    score: 0.5,
    bounds: { min_score: 0.5, max_score: 0.5 },
    passes: true,
  },
  {
    title: 'a score outside either fails',
    cites: 'PK-7-18',
    score: 0.6,
    bounds: { min_score: 0.2, max_score: 0.5 },
    passes: false,
  },
];

test.each(titled(rows))('$title', ({ score, bounds, passes }) => {
  expect(meetsThreshold(scored(score, ''), bounds)).toBe(passes);
});

const bound = fc.double({ min: 0, max: 1, noNaN: true });
const anyBounds = fc.record({ min_score: bound, max_score: bound }, { requiredKeys: [] });

test('an unscored result passes no threshold, not even a maximum alone [PK-7-21]', () => {
  fc.assert(
    fc.property(anyBounds, (bounds) => {
      expect(meetsThreshold(unscored('it crashed'), bounds)).toBe(false);
    }),
  );
});

test('a score passes exactly between its bounds [PK-7-18 PK-7-19 PK-7-20]', () => {
  fc.assert(
    fc.property(bound, anyBounds, (score, bounds) => {
      const { min_score: min = 'max_score' in bounds ? 0 : 1, max_score: max = 1 } = bounds;
      expect(meetsThreshold(scored(score, ''), bounds)).toBe(min <= score && score <= max);
    }),
  );
});

const bounds = titled([
  { title: 'below 0', cites: 'PK-7-17', threshold: '{min_score: -0.1}', problems: 1 },
  { title: 'above 1', cites: 'PK-7-17', threshold: '{max_score: 1.1}', problems: 1 },
  { title: 'infinite', cites: 'PK-7-17', threshold: '{max_score: .inf}', problems: 1 },
  { title: 'no number', cites: 'PK-7-17', threshold: '{min_score: .nan}', problems: 1 },
  { title: 'text', cites: 'PK-7-17', threshold: '{min_score: "0.8"}', problems: 1 },
  { title: 'true', cites: 'PK-7-17', threshold: '{min_score: true}', problems: 1 },
  { title: 'crossed', cites: 'PK-7-17', threshold: '{min_score: 0.6, max_score: 0.5}', problems: 1 },
  { title: '0 and 1', cites: 'PK-7-17', threshold: '{min_score: 0, max_score: 1}', problems: 0 },
  { title: 'equal', cites: 'PK-7-17', threshold: '{min_score: 0.5, max_score: 0.5}', problems: 0 },
]);

test.each(bounds)('bounds that are $title have $problems problems', ({ threshold, problems }) => {
  const spec = `spec: {dataset: {path: rows.jsonl}, evals: [{id: e, type: t, threshold: ${threshold}}]}\n`;
  const folder = writeFiles({ 'demo.suite.yaml': header + spec, 'rows.jsonl': '' });
  expect(loadSuite(`${folder}/demo.suite.yaml`, undefined).problems.map(({ severity }) => severity)).toEqual(
    Array(problems).fill('error'),
  );
});

const refusedBounds = [
  { title: 'a bound above 1', bounds: { min_score: 2 } },
  { title: 'a bound below 0', bounds: { max_score: -0.1 } },
  { title: 'a bound that is not finite', bounds: { min_score: Number.NaN } },
  { title: 'a bound in text', bounds: JSON.parse('{"min_score": "0.8"}') },
  { title: 'a minimum above the maximum', bounds: { min_score: 0.8, max_score: 0.2 } },
];

test.each(refusedBounds)('$title is refused', ({ bounds }) => {
  expect(() => requireThreshold(bounds)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

test.each([{}, { min_score: 0 }, { max_score: 1 }, { min_score: 0.5, max_score: 0.5 }])(
  '%j is a threshold',
  (bounds) => {
    expect(() => requireThreshold(bounds)).not.toThrow();
  },
);
