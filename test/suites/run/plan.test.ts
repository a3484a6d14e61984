import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planSuite } from '../../../src/runtime/project/suite-files.ts';
import { header, toLines, writeFiles } from '../support.ts';

const files = {
  'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
metadata: {name: demo}
spec: {evals: {own: {command: sh, args: [./own.sh], runtime: server, warm: true}}}
`,
  'own.sh': '#!/bin/sh\ntouch started\n',
  'demo.suite.yaml': `${header}metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  dataset: {path: rows.jsonl}
  evals: [{id: e, type: own}]
  gates: [{eval: e, metric: mean, min: 0.5}]
`,
  'rows.jsonl': `${toLines([{ id: 'a', tags: ['t'] }, { id: 'b' }])}nonsense\n${toLines([{ id: 'd', tags: ['t'] }])}`,
};

test('a plan lists the selected cases, the invalid rows, and the gates, and starts nothing', async () => {
  const folder = writeFiles(files);
  const file = join(folder, 'rows.jsonl');
  const message = `the line is not JSON: Unexpected token 'o', "nonsense" is not valid JSON`;
  const problem = { file, line: 3, column: 1, message, hint: 'A dataset has one JSON object on each line.' };
  const plan = await planSuite(join(folder, 'demo.suite.yaml'), { select: { tags: ['t'] }, maxRows: 10 });
  expect({ plan, started: existsSync(join(folder, 'started')) }).toEqual({
    plan: {
      suite: 'demo',
      config: join(folder, 'runtime.yaml'),
      gates: [{ eval: 'e', metric: 'mean', min: 0.5 }],
      rows: [
        { number: 1, file, line: 1, content: { id: 'a' } },
        { number: 3, file, line: 3, content: { problem } },
        { number: 4, file, line: 4, content: { id: 'd' } },
      ],
      hasMore: false,
    },
    started: false,
  });
});

test('a plan reads only as many rows as requested, and says that there are more', async () => {
  const suite = join(writeFiles(files), 'demo.suite.yaml');
  const [few, enough] = [await planSuite(suite, { maxRows: 2 }), await planSuite(suite, { maxRows: 4 })];
  expect([few.rows.length, few.hasMore, enough.rows.length, enough.hasMore]).toEqual([2, true, 4, false]);
});

const refusals = [
  { title: 'of a dataset on stdin', options: { dataset: '-' }, code: 'USAGE' },
  { title: 'of a suite whose runtime is broken', options: { config: 'own.sh' }, code: 'CONFIG_INVALID' },
  { title: 'of a dataset that is not there', options: { dataset: 'none.jsonl' }, code: 'FILE_UNREADABLE' },
];

test.each(refusals)('there is no plan $title', async ({ options, code }) => {
  const folder = writeFiles(files);
  const given = 'config' in options ? { config: join(folder, 'own.sh') } : options;
  const planning = planSuite(join(folder, 'demo.suite.yaml'), { ...given, maxRows: 4 });
  await expect(planning).rejects.toMatchObject({ code });
});
