import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
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
  /** Rows to use instead of generated ones, as JSON Lines, and the mapping from a row to a case. */
  readonly dataset?: { readonly rows: string; readonly case: object };
}

/** `runtime.evals.run` over a dataset of `count` rows. */
export const suiteRun = defineWay<SuiteRun>(import.meta.url);

export async function open({ spec, cases, judge, dataset }: SuiteRun): Promise<Contender> {
  const head = { apiVersion: 'signalbox/v1', metadata: { name: 'bench' } };
  const suite = {
    ...head,
    kind: 'EvalSuite',
    spec: {
      runtime: './runtime.yaml',
      dataset: { path: 'rows.jsonl' },
      case: dataset?.case ?? { id: '${case.id}', content: '${case.answer}', tags: ['${case.tag}'] },
      evals: [{ id: 'judge', ...judge }],
      gates: [{ eval: 'judge', metric: 'unscored', max: 0 }],
    },
  };
  const { path } = makeFolder({
    'runtime.yaml': JSON.stringify({ ...head, kind: 'RuntimeConfig', spec }),
    'bench.suite.yaml': JSON.stringify(suite),
  });
  if (dataset === undefined) await writeRows(join(path, 'rows.jsonl'), cases);
  else writeFileSync(join(path, 'rows.jsonl'), firstLines(dataset.rows, cases));
  const runtime = await openRuntime(path);
  return {
    run: async (count) => {
      const report = await runtime.evals.run(join(path, 'bench.suite.yaml'));
      if (report.status !== 'passed')
        throw new Error(`the suite ${report.status}: ${JSON.stringify(report)}`);
      if (report.cases !== cases || count !== cases) throw new Error(`${report.cases} cases were judged`);
      return undefined;
    },
    close: () => runtime.close(),
  };
}

function firstLines(file: string, count: number): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, count);
  return `${lines.join('\n')}\n`;
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
