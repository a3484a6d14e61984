import { createWriteStream } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { scored, unscored } from '../../src/contract/eval.ts';
import { judge, loadSpec, run } from './support.ts';

const total = 100_000;
const mebibyte = 1024 * 1024;

/** In megabytes, after a full collection. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('this Node cannot collect on demand');
  collect();
  return process.memoryUsage().heapUsed / mebibyte;
}

function* generateRows(): Generator<string> {
  for (let index = 0; index < total; index++) {
    if (index % 10 === 9) yield `not a row ${index}\n`;
    else
      yield `{"id":${index},"text":"the text of row ${index}","score":${(index % 7) / 7},"group":"g${index % 50}"}\n`;
  }
}

test('memory does not grow with the number of cases', async () => {
  const suite = loadSpec(`dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: "\${case.text}", tags: ["\${case.group}"]}
evals:
  - {id: a, type: t, params: {score: "\${case.score}"}, threshold: {min_score: 0.5}}
  - {id: b, type: t, params: {half: "\${case.score / 2}"}, role: metric}
`);
  await pipeline(Readable.from(generateRows()), createWriteStream(join(dirname(suite.file), 'rows.jsonl')));
  let rows = 0;
  let early = 0;
  let late = 0;
  const report = await run(suite, {
    window: 16,
    score: async (evaluation) => {
      const { score } = Object(evaluation.request.params);
      return judge(
        evaluation,
        typeof score === 'number' ? scored(score, `scored ${score}`) : unscored('nothing to score'),
      );
    },
    onProgress: () => {
      rows += 1;
      if (rows === total / 10) early = usedHeap();
      if (rows === total - 100) late = usedHeap();
    },
  });
  expect(report).toMatchObject({ status: 'error', cases: total * 0.9, problem_count: total / 10 });
  // Twenty bytes for each case would exceed this.
  expect(late - early).toBeLessThan(2);
});
