import { once } from 'node:events';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type Contender, defineWay } from '../run/line.ts';
import { makeFolder, open as openRuntime } from '../workspace.ts';

export interface SuiteRun {
  /** The `spec` of the RuntimeConfig. */
  readonly spec: object;
  readonly cases: number;
  /** One of the suite's `evals`, without an id. */
  readonly judge: object;
}

/** `runtime.evals.run` over a dataset of so many rows. */
export const suiteRun = defineWay<SuiteRun>(import.meta.url);

export async function open({ spec, cases, judge }: SuiteRun): Promise<Contender> {
  const head = { apiVersion: 'signalbox/v1', metadata: { name: 'bench' } };
  const suite = {
    ...head,
    kind: 'EvalSuite',
    spec: {
      runtime: './runtime.yaml',
      dataset: { path: 'rows.jsonl' },
      case: { id: '${case.id}', content: '${case.answer}', tags: ['${case.tag}'] },
      evals: [{ id: 'judge', ...judge }],
    },
  };
  const { path } = makeFolder({
    'runtime.yaml': JSON.stringify({ ...head, kind: 'RuntimeConfig', spec }),
    'bench.suite.yaml': JSON.stringify(suite),
  });
  await writeRows(join(path, 'rows.jsonl'), cases);
  const runtime = await openRuntime(path);
  return {
    run: async (count) => {
      const report = await runtime.evals.run(join(path, 'bench.suite.yaml'));
      if (report.status !== 'passed')
        throw new Error(`the suite ${report.status}: ${JSON.stringify(report)}`);
      if (report.cases !== count) throw new Error(`${report.cases} cases were judged, not ${count}`);
      return undefined;
    },
    close: () => runtime.close(),
  };
}

async function writeRows(file: string, count: number): Promise<void> {
  writeFileSync(file, '');
  const rows = createWriteStream(file);
  for (let id = 0; id < count; id++) {
    const answer = `Answer ${id}: it is open from nine to five, and closed on Sundays.`;
    const row = JSON.stringify({ id: `case-${id}`, answer, tag: `tag-${id % 10}` });
    if (!rows.write(`${row}\n`)) await once(rows, 'drain');
  }
  rows.end();
  await finished(rows);
}
