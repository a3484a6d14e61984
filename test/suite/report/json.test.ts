import { expect, test } from 'vitest';
import { toReportDocument } from '../../../src/suite/report/json.ts';
import { reportOf, stats } from './reports.ts';

const numbers = '"count":4,"scored":3,"unscored":1,"passed":2,"pass_rate":0.5,"mean":0.6666666666666666';

test('the document has the documented members in the documented order [DS-SUITE-05]', () => {
  const report = reportOf({
    status: 'failed',
    evals: { exact: { ...stats, tags: { large: stats } } },
    gates: [
      { eval: 'exact', metric: 'pass_rate', value: 0.5, min: 0.6, max: null, passed: false },
      { eval: 'exact', metric: 'mean', tag: 'x', value: null, min: null, max: 1, passed: false },
    ],
    failures: [{ case: '1', file: 'x.jsonl', line: 1, eval: 'exact', score: 0, detail: '' }],
    failure_count: 1,
  });
  expect(JSON.stringify(toReportDocument(report))).toBe(
    `{"run_id":"00000000-0000-4000-8000-000000000000","suite":"gsm8k","status":"failed","cases":4,"evals":{"exact":{${numbers},"tags":{"large":{${numbers}}}}},"gates":[{"eval":"exact","metric":"pass_rate","value":0.5,"min":0.6,"max":null,"passed":false},{"eval":"exact","metric":"mean","tag":"x","value":null,"min":null,"max":1,"passed":false}],"duration_ms":2000}`,
  );
});

test('rows that could not be used are appended', () => {
  const problems = [{ file: 'x.jsonl', line: 3, column: 1, message: 'the line is a list', hint: 'h' }];
  const document = toReportDocument(reportOf({ status: 'error', problems, problem_count: 30 }));
  expect(Object.entries(document).slice(-3)).toEqual([
    ['duration_ms', 2000],
    ['problems', problems],
    ['problem_count', 30],
  ]);
});
