import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../src/base/json/json.ts';
import { entry, shHook } from '../dialects/picoclaw/scripts.ts';
import { faultOf } from '../process/harness.ts';
import { pipeline } from '../workspace.ts';
import { base64, guard, guarded, image, openDesk, png, resource, spec, text } from './content-desk.ts';
import { open } from './open.ts';

test('a tool answers with every kind of block, and the result is what it answered', async () => {
  const { answer } = await openDesk(spec());
  const result = {
    content: [
      { ...text('one'), annotations: { audience: ['user'], priority: 0.5 }, _meta: { a: 1 } },
      image(png),
      { type: 'audio', data: base64('\0\0'), mimeType: 'audio/wav; codecs=1' },
      resource({ text: 'two', mimeType: 'text/plain' }),
      resource({ blob: png }),
      { type: 'resource_link', uri: 'https://example.com/x', name: 'x', size: 3 },
    ],
    structuredContent: { n: 1 },
    _meta: { b: 2 },
  };
  expect(await answer(result)).toEqual({ status: 'ok', result });
  expect(await answer({ content: [] })).toEqual({ status: 'ok', result: { content: [] } });
});

const malformed: [title: string, result: unknown, path: string][] = [
  ['no object', [text('a')], 'it must be object'],
  ['no blocks', {}, "it must have required property 'content'"],
  ['a text as content', { content: 'a' }, 'content must be array'],
  [
    'a block of an unknown type',
    { content: [text('a'), { type: 'video', data: png }] },
    'content.1.type must',
  ],
  ['a block without a type', { content: [{ text: 'a' }] }, "content.0 must have required property 'type'"],
  ['a text that is a number', { content: [{ type: 'text', text: 5 }] }, 'content.0.text must be string'],
  ['an image whose bytes are text', { content: [image('not base64!')] }, 'content.0.data must match'],
  ['an image whose type is a text', { content: [image(png, 'image/png SECRET')] }, 'content.0.mimeType must'],
  [
    'a resource of text and bytes',
    { content: [resource({ text: 'a', blob: png })] },
    'content.0.resource does',
  ],
  [
    'a data URL',
    { content: [resource({ text: 'a', uri: 'data:text/plain,a' })] },
    'content.0.resource.uri must',
  ],
  [
    'a data URL with a tab in its scheme',
    { content: [{ type: 'resource_link', name: 'x', uri: 'da\tta:text/plain,a' }] },
    'content.0.uri must',
  ],
  [
    'an annotation of its own',
    { content: [{ ...text('a'), annotations: { note: 'SECRET' } }] },
    'content.0.annotations must',
  ],
  ['isError that is a text', { content: [], isError: 'no' }, 'isError must be boolean'],
];

test.each(malformed)('a result is RESULT_INVALID with its path: %s', async (_title, result, path) => {
  const { answer } = await openDesk(spec());
  const document = await answer(result);
  expect(document).toMatchObject({ status: 'failed', error: { code: 'RESULT_INVALID' } });
  expect(document).toHaveProperty('error.message', expect.stringContaining(path));
  expect(document).not.toHaveProperty('result');
});

test.each([
  ['the same key twice', '{"content":[{"type":"text","text":"a","text":"b"}]}', 'RESULT_INVALID'],
  [
    'deep JSON',
    `{"content":[],"structuredContent":${'['.repeat(1500)}${']'.repeat(1500)}}`,
    'REPLY_MALFORMED',
  ],
])('a result is refused: %s', async (_title, result, code) => {
  const { answer } = await openDesk(spec());
  expect(await answer(result)).toMatchObject({ status: 'failed', error: { code } });
});

test('a result that is not UTF-8 is refused', async () => {
  const { runtime, folder } = await open(spec());
  const bytes = Buffer.concat([
    Buffer.from('{"result":{"content":[{"type":"text","text":"'),
    Buffer.from([0xff]),
    Buffer.from('"}]}}'),
  ]);
  writeFileSync(join(folder, 'reply.json'), bytes);
  expect(await runtime.tools.call('t')).toMatchObject({
    status: 'failed',
    error: { code: 'REPLY_MALFORMED' },
  });
});

test('output_schema applies to structuredContent, except of a failure', async () => {
  const { answer } = await openDesk(spec());
  const ok = { content: [], structuredContent: { n: 1 } };
  expect(await answer(ok, 'typed')).toEqual({ status: 'ok', result: ok });
  for (const result of [{ content: [text('1')] }, { content: [], structuredContent: { n: 'one' } }])
    expect(await answer(result, 'typed')).toMatchObject({ error: { code: 'RESULT_INVALID' } });
  const broken = { content: [text('no such city')], isError: true };
  expect(await answer(broken, 'typed')).toEqual({
    status: 'failed',
    error: { code: 'TOOL_ERROR', message: 'no such city', hint: expect.any(String) },
    result: broken,
  });
});

test('a result of another tool may look like one of MCP', async () => {
  const { answer, seen } = await openDesk(guarded);
  const result = { content: [text('a')], isError: true };
  expect(await answer(result, 'plain')).toEqual({ status: 'ok', result });
  expect(seen()).toEqual([[JSON.stringify(result), '']]);
});

const places: [title: string, make: (word: string) => object][] = [
  ['the second of three texts', (word) => ({ content: [text('a'), text(`b ${word}`), text('c')] })],
  ['structured content', (word) => ({ content: [text('a')], structuredContent: { n: [{ note: word }] } })],
  ['a key of structured content', (word) => ({ content: [], structuredContent: { [word]: 1 } })],
  ['the text of a resource', (word) => ({ content: [resource({ text: word })] })],
  ['the bytes of a resource', (word) => ({ content: [resource({ blob: base64(`a ${word} b`) })] })],
  [
    'bytes of UTF-16',
    (word) => ({ content: [resource({ blob: base64(Buffer.from(`\ufeff${word} b`, 'utf16le')) })] }),
  ],
  ['the bytes of an image', (word) => ({ content: [image(base64(`<svg>${word}</svg>`))] })],
  ['an address', (word) => ({ content: [resource({ text: 'a', uri: `file:///${word}` })] })],
  ['a link', (word) => ({ content: [{ type: 'resource_link', uri: 'file:///x', name: word }] })],
  ['_meta of a block', (word) => ({ content: [{ ...text('a'), _meta: { note: word } }] })],
  ['_meta of a resource', (word) => ({ content: [resource({ text: 'a', _meta: { note: word } })] })],
  ['_meta of the result', (word) => ({ content: [], _meta: { note: word } })],
  ['an unknown member of an image', (word) => ({ content: [{ ...image(png), alt: word }] })],
  ['a failure', (word) => ({ content: [text(word)], isError: true })],
];

test.each(places)('hooks replace a text or withhold the result: %s', async (_title, make) => {
  const { answer } = await openDesk(guarded);
  const changed = make('[hidden]');
  const isError = 'isError' in changed;
  expect(await answer(make('SECRET'))).toMatchObject({ status: isError ? 'failed' : 'ok', result: changed });
  expect(await answer(make('FORBIDDEN'))).toEqual({
    ...{ status: 'denied', hook: 'guard', reason: 'forbidden', metadata: {} },
  });
});

test('hooks see every string of a result but types, annotations and binary bytes', async () => {
  const { answer, shown } = await openDesk(guarded.replace('./guard.py, runtime: server', './watcher.sh'));
  const word = fc.stringMatching(/^[a-z]{12}$/);
  const meta = fc.record(
    { _meta: fc.dictionary(word, fc.oneof(word, fc.array(word))) },
    { requiredKeys: [] },
  );
  const block = fc.oneof(
    fc.tuple(word, meta).map(([shown, more]) => ({ ...text(shown), ...more })),
    fc.tuple(word, word, meta).map(([shown, name, more]) => resource({ text: shown, uri: name, ...more })),
    fc.tuple(word, meta).map(([shown, more]) => resource({ blob: base64(`text: ${shown}`), shown, ...more })),
    fc.tuple(word, meta).map(([shown, more]) => ({ ...image(png), [shown]: shown, ...more })),
    fc.tuple(word, word).map(([uri, name]) => ({ type: 'resource_link', uri, name, title: name })),
  );
  const result = fc
    .tuple(fc.array(block, { maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), meta)
    .map(([content, structuredContent, more]) => ({ content, structuredContent, ...more }));
  await fc.assert(
    fc.asyncProperty(result, async (given) => {
      const document = await answer(given);
      expect(document).toEqual({ status: 'ok', result: JSON.parse(JSON.stringify(given)) });
      const words = JSON.stringify(given).match(/"[a-z]{12}"/g) ?? [];
      for (const each of words) expect(shown()).toContain(each.slice(1, -1));
    }),
    { numRuns: 30 },
  );
});

test('hooks see text by text, structured content as JSON, and one empty text if there is none', async () => {
  const { answer, seen } = await openDesk(guarded);
  await answer({
    content: [text('a'), image(png), resource({ text: 'b' })],
    structuredContent: { n: '12345678901234567890' },
  });
  expect(seen().toSorted()).toEqual([
    ['a', ''],
    ['b', ''],
    ['{"n":"12345678901234567890"}', ''],
    ['{"uri":"file:///a"}', ''],
  ]);
  await answer({ content: [image(png)] });
  expect(seen()).toEqual([['', '']]);
  await answer({ content: [text('broken')], isError: true });
  expect(seen()).toEqual([['broken', 'broken']]);
});

test('a replaced text changes no other byte of meaning', async () => {
  const { answer } = await openDesk(guarded);
  const sent =
    '{"content":[{"type":"text","text":"SECRET"}],"structuredContent":{"n":12345678901234567890,"x":0.1e-7}}';
  const document = await answer(sent);
  expect(parseLossless(stringifyJson(document))).toEqual(
    parseLossless(`{"status":"ok","result":${sent.replace('SECRET', '[hidden]')}}`),
  );
  const kept = '{"content":[{"type":"text","text":"\\u00e9"}],"structuredContent":{"n":1.10}}';
  expect(stringifyJson(await answer(kept))).toBe(`{"status":"ok","result":${kept}}`);
  const number = '{"content":[],"structuredContent":{"note":"SECRET","n":12345678901234567890}}';
  expect(stringifyJson(await answer(number))).toContain('"n":12345678901234567890');
});

test.each([
  ['is not JSON', 't', { content: [], structuredContent: { a: 'SECRET', b: 'BREAK' } }],
  [
    'does not fit output_schema',
    'typed',
    { content: [], structuredContent: { n: 1, note: 'SECRET', SECRET: 'BREAK' } },
  ],
])('structured content that a hook changed and that %s is withheld', async (_title, tool, result) => {
  const { answer } = await openDesk(guarded);
  expect(await answer(result, tool)).toMatchObject({
    ...{ status: 'denied', hook: 'guard', error: { code: 'REPLY_MALFORMED' } },
  });
});

test('a block that a hook changed so that it is none is withheld with the whole result', async () => {
  const { answer } = await openDesk(guarded, guard.replace('[hidden]', 'data:'));
  const link = { type: 'resource_link', uri: 'SECRET,x', name: 'x' };
  expect(await answer({ content: [text('a'), link] })).toMatchObject({
    ...{ status: 'denied', hook: 'guard', reason: expect.stringContaining('content.1.uri must match') },
  });
});

test('a text resource that no hook can read is withheld', async () => {
  const { answer } = await openDesk(guarded);
  const unreadable = resource({ blob: base64('+AGE-'), mimeType: 'text/plain; charset=utf-7' });
  const document = await answer({ content: [unreadable] });
  expect(document).toMatchObject({ status: 'failed', error: { code: 'RESULT_INVALID' } });
  expect(document).not.toHaveProperty('result');
});

const people = `
tools:
  asks:
    mcp: {result: content}
    approval: required
    exec: {command: cat, args: [$folder/reply.json]}
  t: {mcp: {result: content}, exec: {command: cat, args: [$folder/reply.json]}}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: t}]}
        - {when: round == 2, text: "\${messages.filter(m, m.role == 'tool').map(m, m.content)}"}
state_store: {type: sqlite, path: $folder/state.db}
`;

test.each([
  [
    'the joined texts',
    { content: [text('one'), image(png), resource({ text: 'two' })], structuredContent: { n: 1 } },
    'one\\ntwo',
  ],
  [
    'structured content without a text',
    { content: [image(png)], structuredContent: ['n', 1] },
    '[\\"n\\",1]',
  ],
])('a model reads %s, and a pipeline the result', async (_title, result, content) => {
  const { runtime, folder } = await open(people, {}, { 'reply.json': JSON.stringify({ result }) });
  const steps = '[{id: a, tool: t}, {id: b, chat: {provider: main, messages: Hi., tools: [t]}}]';
  const output = '{a: "${steps.a.result}", b: "${steps.b.text}"}';
  const file = join(folder, 'p.pipeline.yaml');
  writeFileSync(file, pipeline(`runtime: ./runtime.yaml\nsteps: ${steps}\noutput: ${output}`));
  expect((await runtime.run(file)).output).toEqual({ a: result, b: `["${content}"]` });
});

test('a person answers in the form of MCP, and a failure keeps its blocks over the decision', async () => {
  const broken = { content: [text('broken'), image(png)], isError: true };
  const { runtime } = await open(people, {}, { 'reply.json': JSON.stringify({ result: broken }) });
  const ask = async () => {
    const asked = await runtime.tools.call('asks');
    return asked.status === 'pending' ? asked.pending : { id: '', run_id: '' };
  };
  const first = await ask();
  const by = 'mara';
  const loose = runtime.pending.respond(first.id, { by, result: 'done by hand' });
  expect(await faultOf(loose)).toMatchObject({ code: 'RESULT_INVALID' });
  await runtime.pending.respond(first.id, { by, result: { content: [text('done by hand')] } });
  expect(await runtime.runs.resume(first.run_id)).toMatchObject({
    output: { content: [text('done by hand')] },
  });
  const second = await ask();
  await runtime.pending.respond(second.id, { by, result: broken });
  expect(await runtime.runs.resume(second.run_id)).toMatchObject({
    ...{ status: 'failed', error: { code: 'TOOL_ERROR', message: 'broken' } },
  });
  const approved = await runtime.tools.call(
    'asks',
    {},
    {
      approve: async ({ id }) => ({ id, decision: 'approved', by, reason: '' }),
    },
  );
  expect(approved).toMatchObject({ status: 'failed', result: broken });
});

test('a hook that answers in the place of the tool may answer with a text', async () => {
  const answered = `    *'"value":"fails"'*) answer '{"action":"respond","result":{"for_llm":"no","is_error":true}}' ;;
    *'before_tool"'*) answer '{"action":"respond","result":{"for_llm":"{\\"n\\":1}"}}' ;;
    *'"id":'*) answer '{"action":"continue"}' ;;`;
  const { runtime } = await open(
    `tools:\n  t: {mcp: {result: content}, exec: {command: "false"}}\nhooks:\n${entry('hook', 'intercept: [before_tool]')}`,
    {},
    { hook: shHook(answered) },
  );
  const result = { content: [text('{"n":1}')], isError: false };
  expect(await runtime.tools.call('t')).toMatchObject({ status: 'ok', result });
  expect(await runtime.tools.call('t', { value: 'fails' })).toMatchObject({
    ...{ status: 'failed', error: { code: 'TOOL_ERROR', message: 'no' } },
    result: { content: [text('no')], isError: true },
  });
});
