import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openCallRecorder } from '../../../src/models/recording/call-recorder.ts';
import { createStoredTextRedact } from '../../../src/runtime/log/scrub.ts';
import { ask as askModel, faultOf, openModel, textOf } from '../../models/bench.ts';
import { bindQuick } from '../harness.ts';
import { ask, newFile, openTape, record, replay } from './bench.ts';

const scripted = { additionalConfig: { responses: [{ text: 'Your key is hunter-2222.' }] } };
const entry = bindQuick();

async function recorded(): Promise<string> {
  const file = newFile();
  await record(file, entry, [ask({ x: 1 })]);
  const recorder = openCallRecorder(file, createStoredTextRedact(['hunter-2222']));
  const model = await openModel(scripted, { recorder });
  await textOf(model, askModel('My key is hunter-2222, my password=geheim1.'));
  await recorder.close();
  return file;
}

test('a model call and an exchange can be in one file, and each is found', async () => {
  const file = await recorded();
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('My key is [redacted], my password=[redacted]');
  expect(text).not.toMatch(/hunter-2222|geheim1/);
  const tape = await openTape({ replay: file, secrets: ['another-value'] });
  const model = await openModel({}, { replay: file, replayContext: tape });
  const asked = 'My key is another-value, my password=other.';
  expect(await textOf(model, askModel(asked))).toBe('Your key is [redacted].');
  expect(await replay(file, entry, [ask({ x: 1 })])).toMatchObject([{ result: '{"x":1}' }]);
  expect(tape.misses()).toBe(0);
  expect(await faultOf(model.doGenerate(askModel(asked)))).toMatchObject({
    code: 'REPLAY_MISS',
    message: 'no recorded answer to this call of provider "main": its recorded answers are used up',
  });
  expect(tape.misses()).toBe(1);
});

test('a call without a recorded exchange is a miss', async () => {
  const file = newFile();
  await record(file, entry, [ask({ x: 1 })]);
  const tape = await openTape({ replay: file });
  const model = await openModel({}, { replay: file, replayContext: tape });
  expect(await faultOf(model.doGenerate(askModel('hi')))).toMatchObject({
    code: 'REPLAY_MISS',
    message: 'no recorded answer to this call of provider "main": none of its calls is recorded',
  });
  expect(tape.misses()).toBe(1);
});

test('a recording that was made without a redaction is found with one', async () => {
  const file = newFile();
  const recorder = openCallRecorder(file);
  await textOf(await openModel(scripted, { recorder }), askModel('My password=geheim1.'));
  await recorder.close();
  const tape = await openTape({ replay: file });
  const model = await openModel({}, { replay: file, replayContext: tape });
  expect(await textOf(model, askModel('My password=geheim1.'))).toBe('Your key is hunter-2222.');
});
