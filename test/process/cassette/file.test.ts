import { execFileSync } from 'node:child_process';
import { appendFileSync, linkSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import { openCassette } from '../../../src/process/cassette/cassette.ts';
import { openRecordingWriter } from '../../../src/process/cassette/recording-writer.ts';
import type { Transport } from '../../../src/process/transport.ts';
import { bind, bindQuick, faultOf, until } from '../harness.ts';
import { ask, linesOf, neverOpened, newFile, openTape, record, replay } from './bench.ts';

const entry = bindQuick();

async function recorded(): Promise<string> {
  const file = newFile();
  await record(file, entry, [ask({ x: 1 }), ask({ x: 2 })]);
  return file;
}

const blobs = (file: string) => linesOf(file).flatMap(({ blob }) => blob ?? []);

test('a text is stored once in a file, however many recorders write it', async () => {
  const file = newFile();
  await record(file, entry, [ask({ x: 1 }), ask({ x: 1 })]);
  await record(file, { ...entry, name: 'other' }, [ask({ x: 1 })]);
  expect(blobs(file)).toHaveLength(2);
  expect(linesOf(file)).toHaveLength(5);
  expect(await replay(file, entry, [ask({ x: 1 }), ask({ x: 1 })])).toMatchObject([
    { result: '{"x":1}' },
    { result: '{"x":1}' },
  ]);
});

test('an exchange is one line with process, request and duration', async () => {
  const file = newFile();
  await record(file, bind('echo-args'), [ask({ x: 1 })]);
  expect(linesOf(file).at(-1)).toStrictEqual({
    exchange: 1,
    key: expect.stringMatching(/^[\da-f]{64}$/),
    recorder: expect.any(String),
    number: 1,
    capability: 'tool',
    name: 'demo',
    dialect: 'promptkit',
    mode: 'oneshot',
    method: 'execute',
    body: blobs(file)[0],
    reply: { via: 'process', exit_code: 0, signal: null, stdout: blobs(file)[1], stderr: blobs(file)[2] },
    duration_ms: expect.any(Number),
  });
});

test('lines are written during the run', async () => {
  const file = newFile();
  const cassette = await openTape({ record: file });
  const echo: Transport = {
    exchange: async ({ body }) => ({
      via: 'process',
      exitCode: 0,
      signal: null,
      stdout: Buffer.from(body),
      stderr: '',
    }),
    warm: () => {},
    close: async () => {},
  };
  await cassette.wrap(entry, () => echo).exchange(ask({ x: 1 }));
  await until(() => readFileSync(file, 'utf8').endsWith('}\n'), 'line in the file');
  expect(linesOf(file)).toHaveLength(3);
});

test('a truncated last line is skipped, and does no harm when the file is appended to', async () => {
  const file = await recorded();
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.slice(0, -20));
  const [first, second] = await replay(file, entry, [ask({ x: 1 }), ask({ x: 2 })]);
  expect([first, second]).toMatchObject([{ result: '{"x":1}' }, { code: 'REPLAY_MISS' }]);
  await record(file, entry, [ask({ x: 2 })]);
  expect(await replay(file, entry, [ask({ x: 1 }), ask({ x: 2 })])).toMatchObject([
    { result: '{"x":1}' },
    { result: '{"x":2}' },
  ]);
});

const broken = [
  { title: 'half a line', line: '{"exchange":1,"key":"ab' },
  { title: 'prose', line: 'This is no cassette.' },
  { title: 'other JSON', line: '{"id": 1}' },
  {
    title: 'an exchange without a name',
    line: `{"exchange":1,"key":"${'a'.repeat(64)}","recorder":"r","number":1,"capability":"tool"}`,
  },
  { title: 'a blob without a text', line: `{"blob":"${'a'.repeat(64)}"}` },
  { title: 'a blob under a made-up name', line: '{"blob":"ab","text":"x"}' },
];

test.each(broken)('$title between the lines is an error that names file and line', async ({ line }) => {
  const file = await recorded();
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.toSpliced(2, 0, line).join('\n'));
  const before = readFileSync(file, 'utf8');
  for (const options of [{ replay: file }, { record: file }]) {
    expect(await faultOf(openTape(options))).toMatchObject({
      code: 'FILE_UNREADABLE',
      message: `${file}:3 is not a line of a cassette`,
    });
  }
  expect(readFileSync(file, 'utf8')).toBe(before);
});

function symbolic(file: string): string {
  symlinkSync(file, `${file}.link`);
  return `${file}.link`;
}

function hard(file: string): string {
  linkSync(file, `${file}.hard`);
  return `${file}.hard`;
}

describe('invalid options are refused before anything is opened', () => {
  const aliases: readonly { title: string; alias: (file: string) => string }[] = [
    { title: 'the same path', alias: (file) => file },
    { title: 'a longer path', alias: (file) => `${dirname(file)}/./${file.slice(dirname(file).length + 1)}` },
    { title: 'a symbolic link', alias: symbolic },
    { title: 'a hard link', alias: hard },
  ];
  test.each(aliases)('one file for both by $title', async ({ alias }) => {
    const file = await recorded();
    const before = readFileSync(file, 'utf8');
    expect(await faultOf(openTape({ replay: file, record: alias(file) }))).toMatchObject({ code: 'USAGE' });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('missing files, or no files', async () => {
    const folder = dirname(newFile());
    const nowhere = join(folder, 'gone/new.jsonl');
    for (const options of [
      { replay: nowhere },
      { record: nowhere },
      { replay: folder },
      { record: folder },
    ]) {
      expect(await faultOf(openTape(options))).toMatchObject({ code: 'FILE_UNREADABLE' });
    }
  });

  test('live entries without a replay, or unknown ones', async () => {
    const replay = await recorded();
    expect(await faultOf(openTape({ live: ['demo'] }))).toMatchObject({ code: 'USAGE' });
    expect(await faultOf(openTape({ replay, live: ['dmeo'] }))).toMatchObject({
      code: 'NAME_UNKNOWN',
      hint: 'known entries: demo',
    });
  });
});

test('after a write error the error is reported and no further request is sent', async () => {
  const events: RuntimeEvent[] = [];
  const cassette = await openTape({ record: '/dev/full', onEvent: (event) => events.push(event) });
  let asked = 0;
  const counting: Transport = {
    exchange: async () => {
      asked += 1;
      return { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from('{}'), stderr: '' };
    },
    warm: () => {},
    close: async () => {},
  };
  const wrapped = cassette.wrap(entry, () => counting);
  await wrapped.exchange(ask({ x: 1 }));
  await until(() => events.length > 0, 'note');
  expect(events).toMatchObject([{ type: 'note', name: 'cassette', level: 'warn' }]);
  expect(await faultOf(wrapped.exchange(ask({ x: 2 })))).toMatchObject({ code: 'FILE_UNREADABLE' });
  expect(asked).toBe(1);
  expect(await cassette.findRecordingFault()).toMatchObject({ code: 'FILE_UNREADABLE' });
});

test('a recording that was removed meanwhile is reported as missing, and an existing one is not', async () => {
  const file = newFile();
  const cassette = await openTape({ record: file });
  expect(await cassette.findRecordingFault()).toBeUndefined();
  rmSync(file);
  expect(await cassette.findRecordingFault()).toMatchObject({ code: 'FILE_UNREADABLE' });
});

test('a pipe without a writer is no cassette to replay', async () => {
  const file = newFile();
  execFileSync('mkfifo', [file]);
  expect(await faultOf(openTape({ replay: file }))).toMatchObject({ code: 'FILE_UNREADABLE' });
});

test('long lines of two writers of one file stay intact', async () => {
  const file = newFile();
  const open = () => openRecordingWriter(file, { isDurable: true });
  const writers = [open(), open()];
  await Promise.all(writers.map((writer) => writer.ready()));
  await Promise.all(
    [0, 1, 2, 3].map((turn) => writers[turn % 2]?.write(['abcd'.charAt(turn).repeat(700_000)])),
  );
  await Promise.all(writers.map((writer) => writer.close()));
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  expect(lines.map((each) => [...new Set(each)].join('')).toSorted()).toStrictEqual(['a', 'b', 'c', 'd']);
});

test('misses are counted, but not those of notifications', async () => {
  const cassette = await openTape({ replay: await recorded() });
  const asked = cassette.wrap(entry, neverOpened);
  const told = cassette.wrap({ ...entry, name: 'diary' }, neverOpened, true);
  await asked.exchange(ask({ x: 1 }));
  expect(cassette.misses()).toBe(0);
  expect(await faultOf(told.exchange(ask({ x: 3 })))).toMatchObject({ code: 'REPLAY_MISS' });
  expect(cassette.misses()).toBe(0);
  expect(await faultOf(asked.exchange(ask({ x: 3 })))).toMatchObject({
    code: 'REPLAY_MISS',
    message:
      'the cassette has no reply to this request of tool "demo": all 2 of its exchanges are for other requests; the nearest request differs at args.x',
    hint: 'Record again with `--record FILE`, or let it run for real with `--live demo`.',
  });
  expect(cassette.misses()).toBe(1);
});

const others = [
  { title: 'another mode', change: { mode: 'oneshot' as const } },
  { title: 'another dialect', change: { dialect: 'promptkit-go' as const } },
];

test.each(others)('a request with $title is another one, and the error says so', async ({ change }) => {
  const [outcome] = await replay(await recorded(), { ...entry, ...change }, [ask({ x: 1 })]);
  const asked = { dialect: 'promptkit', mode: 'server', ...change };
  expect(outcome).toMatchObject({
    code: 'REPLAY_MISS',
    message: `the cassette has no reply to this request of tool "demo": all 2 of its exchanges are for other requests; the recording has promptkit, server, execute, the request is ${asked.dialect}, ${asked.mode}, execute`,
  });
});

test('lines of model calls are unchanged', async () => {
  const file = await recorded();
  appendFileSync(file, '{"v":1,"provider":"main","model":"m","recorder":"r","digest":"d"}\n');
  expect(await replay(file, entry, [ask({ x: 1 })])).toMatchObject([{ result: '{"x":1}' }]);
});

test('a cassette without files changes nothing', async () => {
  const cassette = await openCassette({}, { names: [], redact: (text) => text, emit: () => {} });
  const transport: Transport = { exchange: () => Promise.reject(), warm: () => {}, close: async () => {} };
  expect(cassette.wrap(entry, () => transport)).toBe(transport);
});
