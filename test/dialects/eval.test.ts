import { expect, test } from 'vitest';
import { callEval } from '../calls/capability/asking.ts';
import { answering, openBench } from '../calls/capability/bench.ts';
import { onTransports } from '../cite.ts';
import { rowsOf } from '../table.ts';
import { answered, decodeEval, printed, sayEval } from './verdicts.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly says: string;
  readonly means: string;
}

const refused = 'unscored REPLY_MALFORMED';

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | says | means
  detail and data are carried along | PK-7-07@both | {"score": 0.5, "detail": "half", "data": {"a": [1]}} | scored 0.5 "half" {"a": [1]}
  detail and data that are null are absent | PK-7-07@both | {"score": 0.5, "detail": null, "data": null} | scored 0.5 "" -
  an error is the reason | PK-7-09@both | {"error": "the judge is asleep"} | unscored EVAL_ERROR the judge is asleep
  an error is the reason beside a score too, also a broken one | PK-7-09@both | {"score": 7, "error": "the judge is asleep"} | unscored EVAL_ERROR the judge is asleep
  keys in other letters decide nothing | PK-3-09@both | {"Score": 1, "SCORE": 0.5} | ${refused}
  unknown keys beside a score are ignored | PK-3-10@both | {"score": 0.25, "Score": 1, "model": "m"} | scored 0.25 "" -
  of a score that stands twice the last is taken | PK-3-12@both | {"score": 1, "score": 0.25} | scored 0.25 "" -
  a score that is no score after one that is | PK-3-12@both | {"score": 1, "score": "1"} | ${refused}
  a pending leaves it unscored | PK-8-02@both | {"pending": {"reason": "requires_approval"}} | ${refused}
`,
  ...['0', '1', '0.5', '1.0', '1e-3', '0.0', '5e-324'].map((score) => ({
    title: `the score ${score} is a score`,
    cites: 'PK-7-05@both',
    says: `{"score": ${score}}`,
    means: `scored ${Number(score)} "" -`,
  })),
  ...['null', '"0.9"', 'true', 'false', '[1]', '{}', '-0.1', '-1e-300', '1.0001', '2', '1e400', '-1e400'].map(
    (score) => ({
      title: `the score ${score} is none`,
      cites: 'PK-7-06@both',
      says: `{"score": ${score}, "detail": "good"}`,
      means: refused,
    }),
  ),
  ...['{}', '{"detail": "good"}', '{"result": 1}', '{"passed": true}', '{"score ": 1}'].map((says) => ({
    title: `${says} has no score`,
    cites: 'PK-7-06@both',
    says,
    means: refused,
  })),
  {
    title: 'data keeps its bytes',
    cites: 'PK-3-19@both',
    says: '{"data": { "n" : 12345678901234567890,"p":[1.10, 1e2],\t"é":"\\u00e9\\/" }, "score": 1}',
    means: 'scored 1 "" { "n" : 12345678901234567890,"p":[1.10, 1e2],\t"é":"\\u00e9\\/" }',
  },
  ...['1', 'true', '[]', '{}'].map((detail) => ({
    title: `a detail that is ${detail} leaves it unscored`,
    cites: 'PK-7-08@both',
    says: `{"score": 1, "detail": ${detail}}`,
    means: refused,
  })),
  ...['1', '"text"', 'false', '[]'].map((data) => ({
    title: `data that is ${data} leaves it unscored`,
    cites: 'PK-7-08@both',
    says: `{"score": 1, "data": ${data}}`,
    means: refused,
  })),
  ...['""', 'null'].map((error) => ({
    title: `the error ${error} is none`,
    cites: 'PK-7-09@both',
    says: `{"score": 1, "error": ${error}}`,
    means: 'scored 1 "" -',
  })),
  ...['{"code": 1}', '[]', '1', 'false'].map((error) => ({
    title: `an error that is ${error} leaves it unscored`,
    cites: 'PK-7-09@both',
    says: `{"score": 1, "error": ${error}}`,
    means: refused,
  })),
];

test.each(onTransports(rows))('eval: $title', async ({ on, says, means }) => {
  const reply = on === 'oneshot' ? printed(says) : answered(says);
  expect(sayEval(decodeEval(reply))).toBe(means);
  expect(sayEval(await callEval(openBench(), answering(on, says)))).toBe(means);
});
