import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { promptkit } from '../../../src/dialects/promptkit/dialect.ts';
import { answered, request } from '../verdicts.ts';

/** The score or the error code of each of two cases; or the code that rejects the whole reply. */
function read(reply: string, count = 2) {
  try {
    const requests = Array.from({ length: count }, () => request);
    const { output, notes } = promptkit.evalBatch.decode(answered(reply), requests);
    const outcomes = output.map((outcome) =>
      outcome.status === 'scored' ? outcome.score : (outcome.error?.code ?? outcome.reason),
    );
    return { outcomes, notes: notes.map(({ message }) => message) };
  } catch (error) {
    return error instanceof RuntimeError ? error.code : error;
  }
}

const bad = 'REPLY_MALFORMED';
const both = (one: string, other: string) => `{"results": [{"score": 1${one}}, {"score": 0${other}}]}`;

test.each<[string, readonly unknown[] | string]>([
  [both('', ''), [1, 0]],
  [both(', "index": 0', ', "index": 1'), [1, 0]],
  [both('', ', "index": 1'), [1, 0]],
  [both(', "index": 0', ''), [1, 0]],
  [both(', "index": null', ', "index": null'), [1, 0]],
  // If one result has the wrong index, results without an index are not trusted.
  [both(', "index": 1', ', "index": 0'), [bad, bad]],
  [both(', "index": 1', ''), [bad, bad]],
  [both(', "index": 0', ', "index": 0'), [1, bad]],
  [both(', "index": 0', ', "index": 1.5'), [1, bad]],
  [both(', "index": 0', ', "index": "1"'), [1, bad]],
  [both('', ', "index": true'), [bad, bad]],
  ['{"results": [1, {"score": 0}]}', [bad, 0]],
  ['{"results": [null, {"score": 0, "index": 1}]}', [bad, 0]],
  ['{"results": [{"error": "dunno"}, {"score": 2}]}', ['EVAL_ERROR', bad]],
  ['{"error": "all of it"}', ['EVAL_ERROR', 'EVAL_ERROR']],
  ['{"results": [{"abstain": "no claim"}, {"abstain": "x", "score": 1}]}', ['no claim', bad]],
  ['{"error": "", "results": [{"score": 1}, {"score": 0}]}', [1, 0]],
  ['{"error": null, "results": [{"score": 1}, {"score": 0}]}', [1, 0]],
  ['{"error": 0, "results": [{"score": 1}, {"score": 0}]}', bad],
  ['{"error": {}}', bad],
  ['{"results": [{"score": 1}]}', bad],
  ['{"results": [{"score": 1}, {"score": 0}, {"score": 0}]}', bad],
  ['{"results": []}', bad],
  ['{"results": {"0": 1, "1": 2}}', bad],
  ['{"results": "ab"}', bad],
  ['{"results": null}', bad],
  ['{"score": 1}', bad],
  ['{}', bad],
  ['[]', bad],
])('%s is read as %j', (reply, outcomes) => {
  const given = read(reply);
  expect(typeof given === 'object' && given !== null && 'outcomes' in given ? given.outcomes : given).toEqual(
    outcomes,
  );
});

test('an unknown key is noted once, of the batch and of its results', () => {
  const known = read(both(', "index": 0, "detail": "d", "data": {}', ', "index": 1'));
  expect(known).toEqual({ outcomes: [1, 0], notes: [] });
  expect(read('{"results": [{"score": 1}, {"score": 0}], "error": ""}')).toMatchObject({ notes: [] });
  const given = read(both(', "odd": 1', ', "odd": 1').replace('{"results"', '{"strange": 1, "results"'));
  expect(given).toMatchObject({
    notes: [expect.stringContaining('strange'), expect.stringContaining('odd')],
  });
});

test('a long batch has at most twenty notes', () => {
  const results = Array.from({ length: 30 }, (_, at) => `{"score": 1, "odd${at}": 1}`);
  const given = read(`{"results": [${results.join()}]}`, 30);
  expect(typeof given === 'object' && given !== null && 'notes' in given && given.notes).toHaveLength(20);
});

test('a batch sends its cases in order, each with its index', () => {
  const { body } = promptkit.evalBatch.encode([request, { ...request, content: 'Bye.' }]);
  const { type, batch } = JSON.parse(body);
  expect(type).toBe('tone');
  expect(batch).toMatchObject([
    { index: 0, content: 'Hello.' },
    { index: 1, content: 'Bye.' },
  ]);
});
