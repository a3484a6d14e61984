import { expect, test } from 'vitest';
import { toReportDocument } from '../../../src/suites/report/json.ts';
import { evalStatsOf, reportOf, stats } from './reports.ts';

test('the document has the documented members in the documented order [DS-SUITE-05]', () => {
  const document = toReportDocument(reportOf({ evals: { exact: evalStatsOf({ tags: { large: stats } }) } }));
  expect(Object.keys(document)).toEqual([
    'run_id',
    'suite',
    'status',
    'cases',
    'evals',
    'gates',
    'duration_ms',
    'overall',
    'epochs',
    'bailed',
  ]);
  expect(document['evals']).toEqual({ exact: evalStatsOf({ tags: { large: stats } }) });
});

test('other members of a report are unchanged', () => {
  const gates = [
    { eval: 'exact', metric: 'pass_rate', value: 0.5, min: 0.6, max: null, passed: false },
    { metric: 'mean', tag: 'x', value: null, min: null, max: 1, passed: false },
  ];
  const {
    evals: _evals,
    overall: _overall,
    ...rest
  } = toReportDocument(reportOf({ status: 'failed', gates }));
  expect(JSON.stringify(rest)).toBe(
    '{"run_id":"00000000-0000-4000-8000-000000000000","suite":"gsm8k","status":"failed","cases":4,"gates":[{"eval":"exact","metric":"pass_rate","value":0.5,"min":0.6,"max":null,"passed":false},{"metric":"mean","tag":"x","value":null,"min":null,"max":1,"passed":false}],"duration_ms":2000,"epochs":1,"bailed":false}',
  );
});

test('rows that are appended', () => {
  const problems = [{ file: 'x.jsonl', line: 3, column: 1, message: 'the line is a list', hint: 'h' }];
  const document = toReportDocument(reportOf({ status: 'error', problems, problem_count: 30 }));
  expect(Object.entries(document).slice(-3)).toEqual([
    ['bailed', false],
    ['problems', problems],
    ['problem_count', 30],
  ]);
});
