import type { LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { Json, stringifyJson } from '../../src/base/json/json.ts';
import { createGuard } from '../../src/models/guard/guard.ts';
import { wrapModel } from '../../src/models/wrapped-model.ts';
import { answeringModel, fireHook } from './guard-bench.ts';

const row = 'Müller;4111 1111 1111 1111;café\r\n';

/** The text that hooks read of a file, and the file that the model gets after a redaction. */
async function pass(mediaType: string, bytes: Buffer, where: 'message' | 'result' = 'message') {
  const file: LanguageModelV4FilePart = { type: 'file', mediaType, data: { type: 'data', data: bytes } };
  return await passPrompt(promptOf(file, where));
}

function promptOf(file: LanguageModelV4FilePart, where: 'message' | 'result'): LanguageModelV4Prompt {
  if (where === 'message') return [{ role: 'user', content: [file] }];
  const call = { toolCallId: 'c', toolName: 'read' };
  return [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'content', value: [file] } }] },
  ];
}

async function passPrompt(prompt: LanguageModelV4Prompt) {
  const model = answeringModel({});
  let read: string | undefined;
  const fire = fireHook((event) => {
    if (event.phase !== 'before_call') return {};
    read = event.request.messages.at(-1)?.content;
    const messages = stringifyJson(event.request.messages).replaceAll('4111 1111 1111 1111', '[CARD]');
    return { verdict: 'modify', replace: new Json(`{"messages":${messages}}`) };
  });
  await wrapModel(model, createGuard({ fire })).doGenerate({ prompt });
  const [part] = model.doGenerateCalls[0]?.prompt.at(-1)?.content ?? [];
  const sent = typeof part === 'object' && part.type === 'tool-result' ? firstOf(part.output) : part;
  return {
    read,
    sent: typeof sent === 'object' && sent !== null && 'data' in sent ? bytesOf(sent.data) : sent,
  };
}

function firstOf(output: object): unknown {
  return 'value' in output && Array.isArray(output.value) ? output.value[0] : output;
}

function bytesOf(data: unknown): unknown {
  const inner = typeof data === 'object' && data !== null && 'data' in data ? data.data : data;
  return inner instanceof Uint8Array ? Buffer.from(inner) : inner;
}

const encodings = [
  { title: 'UTF-8', name: 'utf-8' },
  { title: 'UTF-8 with a mark', name: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  { title: 'Latin-1', name: 'iso-8859-1' },
  { title: 'windows-1252', name: 'windows-1252' },
  { title: 'UTF-16 with a mark, as Excel has it', name: 'utf-16le', mark: [0xff, 0xfe] },
  { title: 'UTF-16 of the other order', name: 'utf-16be', mark: [0xfe, 0xff] },
  { title: 'UTF-16 without a mark', name: 'utf-16le' },
  { title: 'UTF-16 of the other order without a mark', name: 'utf-16be' },
  { title: 'UTF-32', name: 'utf-32le', mark: [0xff, 0xfe, 0, 0] },
];

describe.each(['message', 'result'] as const)('in a %s, hooks read a text file', (where) => {
  test.each(encodings)(
    'in $title, and their changes are written in the same encoding',
    async ({ name, mark = [] }) => {
      const written = (text: string) => Buffer.concat([Buffer.from(mark), iconv.encode(text, name)]);
      const { read, sent } = await pass('text/csv', written(row), where);
      expect(read).toBe(row);
      expect(sent).toEqual(written(row.replace('4111 1111 1111 1111', '[CARD]')));
    },
  );
});

test.each([
  { charset: 'shift_jis', text: 'カード;4111 1111 1111 1111;東京\r\n' },
  { charset: 'gb18030', text: '卡号;4111 1111 1111 1111;北京\r\n' },
  { charset: 'koi8-r', text: 'карта;4111 1111 1111 1111;Москва\r\n' },
  { charset: '"UTF-16LE"', text: row },
  { charset: 'utf-16le', text: '卡号;4111 1111 1111 1111;北京\r\n' },
])('hooks read a file by its charset $charset', async ({ charset, text }) => {
  const name = charset.replaceAll('"', '');
  const { read, sent } = await pass(`text/csv; charset=${charset}`, iconv.encode(text, name));
  expect(read).toBe(text);
  expect(sent).toEqual(iconv.encode(text.replace('4111 1111 1111 1111', '[CARD]'), name));
});

test.each([
  {
    title: 'XML that names its encoding',
    type: 'application/atom+xml',
    head: '<?xml version="1.0" encoding="koi8-r"?>',
  },
  { title: 'HTML that names its encoding', type: 'text/html', head: '<html><meta charset=koi8-r>' },
])('hooks read $title', async ({ type, head }) => {
  const text = `${head}карта 4111`;
  expect((await pass(type, iconv.encode(text, 'koi8-r'))).read).toBe(text);
});

test('hooks read long texts in the most likely encoding', async () => {
  const text = 'Съешь же ещё этих мягких французских булок, да выпей чаю. '.repeat(9);
  expect((await pass('text/plain', iconv.encode(text, 'windows-1251'))).read).toBe(text);
});

test.each([
  'message/rfc822',
  'application/toml',
  'application/x-sh',
  'application/x-ndjson',
  'application/jsonl',
  'application/vnd.api+json',
  'image/svg+xml',
  'APPLICATION/XML; version=1',
  'multipart/mixed',
  'application/octet-stream',
  'application/x-own',
  'text',
  '',
])('hooks read text that is called %j', async (mediaType) => {
  expect((await pass(mediaType, Buffer.from(row))).read).toBe(row);
});

test('hooks read unlabelled text in Latin-1', async () => {
  expect((await pass('application/octet-stream', Buffer.from(row, 'latin1'))).read).toBe(row);
});

test.each([
  { title: 'a picture', mediaType: 'image/png', bytes: Buffer.from('text') },
  {
    title: 'a PDF of ASCII alone',
    mediaType: 'application/octet-stream',
    bytes: Buffer.from('%PDF-1.7\n1 0 obj'),
  },
  {
    title: 'an archive',
    mediaType: 'application/octet-stream',
    bytes: Buffer.from('PK\x03\x04\x14\0\0', 'latin1'),
  },
  { title: 'nothing', mediaType: 'application/octet-stream', bytes: Buffer.alloc(0) },
  { title: 'a PDF by its name', mediaType: 'application/pdf', bytes: Buffer.from('text') },
])('$title is no text, and is unchanged', async ({ mediaType, bytes }) => {
  expect(await pass(mediaType, bytes)).toEqual({ read: '', sent: bytes });
});

test('text in an address is read like that of any other file', async () => {
  const url = (text: string) =>
    new URL(`data:text/csv;charset=iso-8859-1;base64,${Buffer.from(text, 'latin1').toString('base64')}`);
  const file = { type: 'file', mediaType: 'text/csv', data: { type: 'url', url: url(row) } } as const;
  const model = await passPrompt([{ role: 'user', content: [file] }]);
  expect(model.read).toBe(row);
  expect(model.sent).toEqual({ type: 'url', url: url(row.replace('4111 1111 1111 1111', '[CARD]')) });
});

const refused = [
  { title: 'a charset that nobody knows', charset: 'ibm037', bytes: Buffer.from([0xf4, 0xf1, 0xf1, 0xf1]) },
  { title: 'plain bytes that call themselves UTF-16', charset: 'utf-16le', bytes: Buffer.from('4111 1111') },
  { title: 'plain bytes that call themselves UTF-7', charset: 'utf-7', bytes: Buffer.from('+ADQAMQAxADE-') },
  {
    title: 'nearly plain bytes that call themselves UTF-16',
    charset: 'utf-16le',
    bytes: Buffer.from('4111 1111\xff', 'latin1'),
  },
  {
    title: 'nearly plain bytes that call themselves base64',
    charset: 'base64',
    bytes: Buffer.from('4111 1111\xff', 'latin1'),
  },
  {
    title: 'plain bytes among those of a file in UTF-16',
    charset: 'utf-16le',
    bytes: Buffer.from(`\xff\xfe${'a\0\n\0'.repeat(99)}4111 1111${'a\0\n\0'.repeat(99)}\xff`, 'latin1'),
  },
  {
    title: 'plain bytes behind a mark of UTF-16',
    charset: 'utf-8',
    bytes: Buffer.from('\xff\xfe4111 1111', 'latin1'),
  },
];

test.each(refused)('$title deny, since a model may read what hooks do not', async ({ charset, bytes }) => {
  const denied = pass(`text/plain; charset=${charset}`, bytes);
  await expect(denied).rejects.toMatchObject({
    code: 'DENIED',
    message: expect.stringContaining('a text file cannot be read: its charset '),
  });
});

test('text that an encoding cannot represent denies', async () => {
  const model = answeringModel({});
  const fire = fireHook((event) => {
    if (event.phase !== 'before_call') return {};
    const messages = stringifyJson(event.request.messages).replaceAll('4111', '█');
    return { verdict: 'modify', replace: new Json(`{"messages":${messages}}`) };
  });
  const data = { type: 'data', data: Buffer.from('é 4111', 'latin1') } as const;
  const prompt = promptOf({ type: 'file', mediaType: 'text/plain', data }, 'message');
  await expect(wrapModel(model, createGuard({ fire })).doGenerate({ prompt })).rejects.toMatchObject({
    code: 'DENIED',
    message: expect.stringMatching(/has characters that its encoding, [\w-]+, does not have$/),
  });
  expect(model.doGenerateCalls).toEqual([]);
});
