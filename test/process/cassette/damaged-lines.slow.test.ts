import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRecordedCalls } from '../../../src/models/recording/call-replay.ts';
import { openCassetteIndex } from '../../../src/process/cassette/cassette.ts';
import { outcomeFromStored } from '../../../src/process/cassette/format.ts';
import { damagesOf, outcomeOf } from '../../damage.ts';

const fixture = join(import.meta.dirname, '../../fixtures/records/desk.cassette');
const lines = readFileSync(fixture, 'utf8').split('\n').filter(Boolean);
const file = join(mkdtempSync(join(tmpdir(), 'cassette-')), 'damaged.cassette');

function lineWith(...texts: readonly string[]): string {
  const line = lines.find((each) => texts.every((text) => each.includes(text)));
  if (line === undefined) throw new Error(`no line holds ${texts.join(' and ')}`);
  return line;
}

function withBlobs(): string[] {
  return lines.filter((line) => line.startsWith('{"blob"'));
}

async function takeExchange(key: string): Promise<void> {
  const index = await openCassetteIndex(file);
  try {
    const line = await index.take(key);
    await outcomeFromStored(line ?? {}, index.readBlob);
  } finally {
    await index.close();
  }
}

/** Replays the answer of a recorded call, including what the AI SDK reads of it. */
async function takeCall(digest: string): Promise<void> {
  const call = await (await openRecordedCalls(file)).take(digest);
  if (call?.outcome.kind !== 'result') return;
  const { content, finishReason, usage } = call.outcome.result;
  const texts = content.map((part) => (part.type === 'text' ? part.text.length : part.type.length));
  JSON.stringify([texts, finishReason.unified.length, usage.inputTokens.total, usage.outputTokens.total]);
}

async function damageAll(line: string, others: readonly string[], read: () => Promise<void>) {
  const outcomes = new Set<string>();
  for (const { title, text } of damagesOf(line)) {
    // A further line follows, because a cut-off last line is accepted.
    writeFileSync(file, `${[...others, text, lines[0]].join('\n')}\n`);
    const outcome = await outcomeOf(read);
    outcomes.add(outcome.startsWith('crashed') ? `${title} ${outcome}` : outcome);
  }
  return [...outcomes].toSorted();
}

const exchanges = [
  {
    title: 'with a reply',
    line: lineWith('"exchange":1', '"via":"process"'),
    says: ['FILE_UNREADABLE', 'read'],
  },
  {
    title: 'with a fault',
    line: lineWith('"exchange":1', '"fault":{"code":"PROCESS_TIMEOUT"'),
    says: ['FILE_UNREADABLE', 'INTERNAL', 'PROCESS_TIMEOUT', 'read'],
  },
];

test.each(exchanges)(
  'whatever part of an exchange $title is damaged is read or is a coded error',
  async ({ line, says }) => {
    const { key } = JSON.parse(line);
    const outcomes = await damageAll(line, withBlobs(), () => takeExchange(key));
    expect(outcomes).toEqual(says);
  },
);

test('whatever part of the text of a fault is damaged is read or is a coded error', async () => {
  const { key, fault, ...rest } = JSON.parse(lineWith('"exchange":1', '"fault":{"code":"PROCESS_TIMEOUT"'));
  const { text } = JSON.parse(lineWith(`{"blob":"${fault.about}"`));
  const outcomes = new Set<string>();
  for (const { text: damaged } of [...damagesOf(text), { text: '{"message' }]) {
    writeFileSync(
      file,
      [
        JSON.stringify({ blob: fault.about, text: damaged }),
        JSON.stringify({ key, fault, ...rest }),
        '',
      ].join('\n'),
    );
    outcomes.add(await outcomeOf(() => takeExchange(key)));
  }
  expect([...outcomes].toSorted()).toEqual(['FILE_UNREADABLE', 'PROCESS_TIMEOUT']);
});

const calls = [
  {
    title: 'with a call of a tool',
    line: lineWith('{"v":1', '"type":"tool-call","toolCallId"', '"kind":"result"'),
  },
  { title: 'with a text', line: lineWith('{"v":1', '"kind":"result"', '"type":"text","text":"It is so."') },
];

test.each(calls)(
  'whatever part of a recorded answer $title is damaged is read or is a coded error',
  async ({ line }) => {
    const { digest } = JSON.parse(line);
    expect(await damageAll(line, [], () => takeCall(digest))).toEqual(['FILE_UNREADABLE', 'read']);
  },
);

test('a recording of a later version is reported with its place', async () => {
  const exchange = lineWith('"exchange":1').replace('"exchange":1', '"exchange":2');
  const call = lineWith('{"v":1').replace('{"v":1', '{"v":2');
  const says = (line: number) =>
    `${file}:${line} has version 2 of the recording format, but this Signalbox reads version 1`;
  writeFileSync(file, `${lines[0]}\n${exchange}\n`);
  await expect(openCassetteIndex(file)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', message: says(2) });
  writeFileSync(file, `${lines[0]}\n${lines[1]}\n${call}\n`);
  await expect(openRecordedCalls(file)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', message: says(3) });
});
