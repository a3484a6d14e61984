import { appendFile, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCallRecorder } from '../../../src/models/recording/call-recorder.ts';
import { canary } from '../../canary.ts';
import { type Api, apiOf, apis, play } from '../apis.ts';
import {
  ask,
  assistant,
  collect,
  errorOf,
  faultOf,
  openModel,
  openScript,
  streamOf,
  textOf,
  user,
} from '../bench.ts';
import { openFake, type Turn } from '../wire/fake.ts';

async function newFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'recording-')), 'calls.jsonl');
}

async function record<T>(
  file: string,
  fields: Parameters<typeof openModel>[0],
  use: (model: LanguageModelV4) => Promise<T>,
) {
  const recorder = openCallRecorder(file);
  try {
    return await use(await openModel(fields, { recorder }));
  } finally {
    await recorder.close();
  }
}

function mock(responses: readonly unknown[], fields: Parameters<typeof openModel>[0] = {}) {
  return { ...fields, additionalConfig: { responses } };
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
}

/** Everything that a caller sees of a call except connection data. */
async function outcomeOf(model: LanguageModelV4, options: LanguageModelV4CallOptions) {
  const { request: _, response, ...result } = await model.doGenerate(options);
  const { headers: __, body: ___, ...meta } = response ?? {};
  return { ...result, response: meta };
}

const tools: LanguageModelV4CallOptions['tools'] = [
  { type: 'function', name: 'lookup', inputSchema: { type: 'object' } },
];

const script: readonly Turn[] = [
  { text: ['One ', 'moment'], toolCalls: [{ name: 'lookup', args: { order: 9_007_199_254_740_993n } }] },
  { text: ['Done', '.'] },
];

describe.each(apis)('$title', (api: Api) => {
  test('a recorded run gives the same results without a key and without a request', async () => {
    const file = await newFile();
    const fake = await openFake(api.wire, script);
    onTestFinished(() => fake.close());
    const fields = { ...api.fields, model: 'm', baseUrl: fake.url };
    const calls = [ask('hi', { tools }), { prompt: [user('hi'), assistant('x')], temperature: 0.5 }];
    const use = async (model: LanguageModelV4) => {
      const results: unknown[] = [];
      for (const call of calls) results.push(await outcomeOf(model, call));
      for (const call of calls) results.push(await streamOf(model, call));
      return results;
    };
    const recorded = await record(file, { ...fields, credential: { apiKey: canary } }, use);
    const replayed = await use(await openModel(fields, { replay: file }));
    expect(replayed).toStrictEqual(recorded);
    expect(fake.requests).toHaveLength(4);
    expect(await readFile(file, 'utf8')).not.toContain(canary);
  });
});

test('failures are recorded and replayed unchanged', async () => {
  const file = await newFile();
  const { fake } = await play(apiOf('claude'), [
    { fault: { kind: 'status', status: 400, message: 'no' } },
    { text: ['a', 'b', 'c', 'd'], fault: { kind: 'cut' } },
    { fault: { kind: 'hang' } },
  ]);
  const fields = {
    type: 'claude',
    baseUrl: fake.url,
    requestTimeoutMs: 2_000,
    additionalConfig: { max_retries: 0 },
  };
  const use = async (model: LanguageModelV4) => [
    await faultOf(model.doGenerate(ask('hi'))),
    errorOf(await streamOf(model, ask('hi'))),
    await faultOf(model.doGenerate(ask('hi'))),
  ];
  const recorded = await record(file, { ...fields, credential: { apiKey: canary } }, use);
  expect(await use(await openModel(fields, { replay: file }))).toStrictEqual(recorded);
  expect(recorded.map(({ code }) => code)).toStrictEqual([
    'PROVIDER_FAILED',
    'PROVIDER_FAILED',
    'PROVIDER_TIMEOUT',
  ]);
});

test('a key that an API repeats is not recorded', async () => {
  const file = await newFile();
  const { fake } = await play(apiOf('openai'), [
    { text: `Your key is ${canary}, in "secret\\of-the-team".` },
  ]);
  const fields = {
    type: 'openai',
    baseUrl: fake.url,
    credential: { apiKey: canary },
    headers: { 'x-team-token': 'Bearer secret\\of-the-team' },
  };
  await record(file, fields, (model) => textOf(model, ask('hi')));
  expect(await textOf(await openModel(fields, { replay: file }), ask('hi'))).toBe(
    'Your key is [redacted], in "[redacted]".',
  );
});

test('a call that quotes a key is found again', async () => {
  const file = await newFile();
  const { fake } = await play(apiOf('openai'), [{ text: 'ok' }]);
  const fields = { type: 'openai', baseUrl: fake.url, credential: { apiKey: canary } };
  const call = ask(`My key is ${canary}.`);
  await record(file, fields, (model) => textOf(model, call));
  expect(await readFile(file, 'utf8')).not.toContain(canary);
  expect(await textOf(await openModel(fields, { replay: file }), call)).toBe('ok');
});

test('the body identifies a request, and headers do not', async () => {
  const file = await newFile();
  const fields = mock([{ text: 'seen' }]);
  const image = (data: Uint8Array) =>
    ({
      prompt: [
        {
          role: 'user',
          content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data } }],
        },
      ],
    }) satisfies LanguageModelV4CallOptions;
  await record(file, fields, (model) =>
    textOf(model, { ...image(new Uint8Array([1, 2])), headers: { 'x-request': '1' } }),
  );
  const model = await openModel(fields, { replay: file });
  expect((await faultOf(model.doGenerate(image(new Uint8Array([1, 3]))))).code).toBe('REPLAY_MISS');
  expect(await textOf(model, { ...image(new Uint8Array([1, 2])), headers: { 'x-request': '2' } })).toBe(
    'seen',
  );
});

test('equal calls are answered in the order in which they began', async () => {
  const file = await newFile();
  const fields = mock([{ text: 'slow', delay_ms: 60 }, { text: 'quick' }, { text: 'last' }]);
  const use = async (model: LanguageModelV4) => {
    const first = textOf(model, ask('hi'));
    // The first call takes its response from the script before the second begins.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [...(await Promise.all([first, textOf(model, ask('hi'))])), await textOf(model, ask('hi'))];
  };
  const recorded = await record(file, fields, use);
  expect(recorded).toStrictEqual(['slow', 'quick', 'last']);
  expect(await use(await openModel(fields, { replay: file }))).toStrictEqual(recorded);
});

test('an aborted call is not recorded', async () => {
  const file = await newFile();
  await record(
    file,
    mock([
      { chunks: ['a', 'b'], delay_ms: 40 },
      { text: 'x', delay_ms: 60_000 },
    ]),
    async (model) => {
      const reader = (await model.doStream(ask('hi'))).stream.getReader();
      await reader.read();
      await reader.cancel();
      const caller = new AbortController();
      const given = faultOf(model.doGenerate(ask('hi', { abortSignal: caller.signal })));
      caller.abort();
      return await given;
    },
  );
  expect(await linesOf(file)).toStrictEqual([]);
});

test('a recording is appended to, even after a truncated line, and readable by its owner only', async () => {
  const file = await newFile();
  await record(file, mock([{ text: 'one' }]), (model) => textOf(model, ask('a')));
  const [first = ''] = await linesOf(file);
  await appendFile(file, first.slice(0, 40));
  await record(file, mock([{ text: 'two' }]), (model) => textOf(model, ask('b')));
  expect(await linesOf(file)).toStrictEqual([
    first,
    first.slice(0, 40),
    '{"cut":true}',
    expect.stringContaining('"two"'),
  ]);
  const model = await openModel(mock([{}]), { replay: file });
  expect([await textOf(model, ask('b')), await textOf(model, ask('a'))]).toStrictEqual(['two', 'one']);
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
});

test('an exchange is in the file before its caller has the end of it', async () => {
  const file = await newFile();
  const counts = await record(file, mock([{ text: 'one' }, { text: 'two' }]), async (model) => {
    await textOf(model, ask('a'));
    const generated = (await linesOf(file)).length;
    await streamOf(model, ask('a'));
    return [generated, (await linesOf(file)).length];
  });
  expect(counts).toStrictEqual([1, 2]);
});

test('a recording that cannot be written fails the call before any request', async () => {
  const { fake } = await play(apiOf('openai'), [{ text: 'ok' }]);
  const fields = { type: 'openai', baseUrl: fake.url, credential: { apiKey: canary } };
  const faults = await record('/nowhere/at/all.jsonl', fields, async (model) => [
    (await faultOf(model.doGenerate(ask('hi')))).code,
    (await faultOf(model.doStream(ask('hi')))).code,
  ]);
  expect(faults).toStrictEqual(['FILE_UNREADABLE', 'FILE_UNREADABLE']);
  expect(fake.requests).toStrictEqual([]);
});

test('a closed recording fails later calls', async () => {
  const file = await newFile();
  const recorder = openCallRecorder(file);
  const model = await openModel(mock([{ text: 'a' }]), { recorder });
  await recorder.close();
  expect((await faultOf(model.doGenerate(ask('hi')))).code).toBe('FILE_UNREADABLE');
  expect(errorOf(await collect((await model.doStream(ask('hi'))).stream)).code).toBe('FILE_UNREADABLE');
});

const asked = ask('hi', { tools, temperature: 0.5 });

const misses: readonly {
  readonly title: string;
  readonly call: LanguageModelV4CallOptions;
  readonly fields?: Parameters<typeof openModel>[0];
  readonly says: string;
}[] = [
  {
    title: 'another text',
    call: { ...asked, prompt: [user('ho')] },
    says: 'the nearest recorded call differs at prompt[0].content[0].text',
  },
  {
    title: 'a further message',
    call: { ...asked, prompt: [user('hi'), assistant('x')] },
    says: 'the nearest recorded call differs at prompt[1]',
  },
  {
    title: 'another setting',
    call: { ...asked, temperature: 1 },
    says: 'the nearest recorded call differs at temperature',
  },
  {
    title: 'no tools',
    call: ask('hi', { temperature: 0.5 }),
    says: 'the nearest recorded call differs at tools',
  },
  {
    title: 'a default of the entry',
    call: asked,
    fields: { defaults: { maxTokens: 5 } },
    says: 'the nearest recorded call differs at maxOutputTokens',
  },
  {
    title: 'another model',
    call: asked,
    fields: { model: 'b' },
    says: 'the recording has the model scripted, but the call is for b',
  },
  { title: 'another provider', call: asked, fields: { id: 'other' }, says: 'none of its calls is recorded' },
];

test.each(misses)('a call with $title is a miss that says so', async ({ call, fields = {}, says }) => {
  const file = await newFile();
  await record(file, mock([{ text: 'one' }]), (model) => textOf(model, asked));
  const model = await openModel(mock([{}], fields), { replay: file });
  expect(await faultOf(model.doGenerate(call))).toStrictEqual({
    code: 'REPLAY_MISS',
    message: `no recorded answer to this call of provider "${fields.id ?? 'main'}": ${says}`,
  });
});

test('a call that was recorded in one piece is a miss as a stream, and a used answer is used up', async () => {
  const file = await newFile();
  await record(file, mock([{ text: 'one' }]), (model) => textOf(model, asked));
  const model = await openModel(mock([{}]), { replay: file });
  const streamed = await faultOf(model.doStream(asked));
  await textOf(model, asked);
  const again = await faultOf(model.doGenerate(asked));
  expect([streamed.message, again.message]).toStrictEqual([
    'no recorded answer to this streamed call of provider "main": its calls were recorded unstreamed',
    'no recorded answer to this call of provider "main": its recorded answers are used up',
  ]);
});

test('a provider of the type replay answers from its file, like any provider of the recording', async () => {
  const file = await newFile();
  await record(file, mock([{ text: 'one' }]), async (model) => [
    await textOf(model, ask('a')),
    await textOf(model, ask('a')),
  ]);
  const folder = join(file, '..');
  const own = await openModel({ type: 'replay', additionalConfig: { file: 'calls.jsonl' } }, { folder });
  const other = await openModel(
    { id: 'again', type: 'replay', additionalConfig: { file, provider: 'main' } },
    { folder: '/nowhere' },
  );
  expect([await textOf(own, ask('a')), await textOf(other, ask('a'))]).toStrictEqual(['one', 'one']);
});

const unusable = [
  {
    title: 'no file',
    additionalConfig: {},
    says: 'provider "main": additional_config.file: must name a recording',
  },
  {
    title: 'an unknown key',
    additionalConfig: { file: 'a', recording: 'b' },
    says: 'provider "main": additional_config.recording: unknown key',
  },
  {
    title: 'a provider that is no id',
    additionalConfig: { file: 'a', provider: 1 },
    says: 'provider "main": additional_config.provider: must be the id of a provider',
  },
];

test.each(unusable)('a replay with $title is unusable', async ({ additionalConfig, says }) => {
  const { code, message } = await faultOf(openModel({ type: 'replay', additionalConfig }));
  expect([code, message]).toStrictEqual(['PROVIDER_UNUSABLE', says]);
});

test('a missing file, and one that is no recording, cannot be replayed', async () => {
  const file = await newFile();
  await writeFile(file, '{"some": "other file"}\n');
  const faults = [
    await faultOf(openModel({}, { replay: `${file}.none` })),
    await faultOf(openModel({}, { replay: file })),
  ];
  expect(faults.map(({ code }) => code)).toStrictEqual(['FILE_UNREADABLE', 'FILE_UNREADABLE']);
});

test('an empty recording answers nothing', async () => {
  const file = await newFile();
  await writeFile(file, '');
  const model = await openModel({}, { replay: file });
  expect((await faultOf(model.doGenerate(ask('hi')))).code).toBe('REPLAY_MISS');
});

test('an aborted call is not answered from a recording', async () => {
  const file = await newFile();
  await record(file, mock([{ text: 'one' }]), (model) => textOf(model, ask('a')));
  const model = await openModel(mock([{}]), { replay: file });
  const gone = await faultOf(model.doGenerate(ask('a', { abortSignal: AbortSignal.abort() })));
  expect([gone.code, await textOf(model, ask('a'))]).toStrictEqual(['ABORTED', 'one']);
});

test('a mock whose run is recorded is replayed without its script', async () => {
  const file = await newFile();
  const recorded = await record(file, mock([{ text: 'One two' }]), (model) => streamOf(model, ask('hi')));
  const replayed = await streamOf(
    await openModel({ type: 'claude', model: 'scripted' }, { replay: file }),
    ask('hi'),
  );
  expect(replayed).toStrictEqual(recorded);
  expect(recorded).toStrictEqual(await streamOf(await openScript([{ text: 'One two' }]), ask('hi')));
});
