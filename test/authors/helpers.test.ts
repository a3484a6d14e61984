import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeHelper } from '../../src/runtime/runtime.ts';
import { folderOf } from '../workspace.ts';
import { type Language, present, runSays, writeSays } from './languages.ts';

const authors = join(import.meta.dirname, '../../authors');

type Kind = 'tool' | 'filter' | 'evaluator' | 'observer';

const tool = (args: object) => ({ args });
const filter = (args: object) => ({ hook: 'tool', phase: 'before_execution', request: { args } });
const evaluator = (params: object) => ({ type: 'e', params, content: 'x', context: {} });
const failed = (text: RegExp) => ({ error: expect.stringMatching(text) });

interface Row {
  readonly title: string;
  readonly kind: Kind;
  readonly request: unknown;
  readonly reply: object;
  /** The exit code of a process that answers once. */
  readonly code?: 1;
  readonly not?: readonly Language['lang'][];
}

const rows: readonly Row[] = [
  {
    title: 'a tool returns a result',
    kind: 'tool',
    request: tool({ do: 'value', value: { a: [1, 'ö', null, true] } }),
    reply: { result: { a: [1, 'ö', null, true] } },
  },
  {
    title: 'a result that looks like a failure is a result',
    kind: 'tool',
    request: tool({ do: 'value', value: { error: ':x' } }),
    reply: { result: { error: ':x' } },
  },
  {
    title: 'a tool that returns nothing has the result null',
    kind: 'tool',
    request: tool({ do: 'nothing' }),
    reply: { result: null },
  },
  {
    title: 'a tool fails with its own message',
    kind: 'tool',
    request: tool({ do: 'fail' }),
    reply: { error: 'not today' },
  },
  {
    title: 'a tool that crashes fails',
    kind: 'tool',
    request: tool({ do: 'crash' }),
    reply: failed(/broken|status/),
    code: 1,
  },
  {
    title: 'a tool waits for a person',
    kind: 'tool',
    request: tool({ do: 'pending' }),
    reply: { pending: { reason: '', message: 'Really?' } },
  },
  {
    title: 'a filter that returns true allows',
    kind: 'filter',
    request: filter({ do: 'value', value: true }),
    reply: { allow: true },
  },
  {
    title: 'a filter that returns false denies',
    kind: 'filter',
    request: filter({ do: 'value', value: false }),
    reply: { allow: false },
  },
  {
    title: 'a filter that returns nothing denies',
    kind: 'filter',
    request: filter({ do: 'nothing' }),
    reply: { allow: false, reason: expect.any(String) },
  },
  ...['yes', 1, 'true'].map((value) => ({
    title: `a filter that returns ${JSON.stringify(value)} fails`,
    kind: 'filter' as const,
    request: filter({ do: 'value', value }),
    reply: failed(/./),
    code: 1 as const,
  })),
  {
    title: 'a filter that fails has no verdict',
    kind: 'filter',
    request: filter({ do: 'fail' }),
    reply: { error: 'not today' },
    code: 1,
  },
  {
    title: 'a filter that crashes has no verdict',
    kind: 'filter',
    request: filter({ do: 'crash' }),
    reply: failed(/broken|status/),
    code: 1,
  },
  {
    title: 'a filter that throws something without a text has no verdict',
    kind: 'filter',
    request: filter({ do: 'throw-wordless' }),
    reply: failed(/./),
    code: 1,
    not: ['sh'],
  },
  {
    title: 'a filter denies with a reason and metadata',
    kind: 'filter',
    request: filter({ do: 'deny' }),
    reply: { allow: false, reason: 'too much', metadata: { limit: 5 } },
  },
  {
    title: 'a filter leaves the call to a person',
    kind: 'filter',
    request: filter({ do: 'ask' }),
    reply: { allow: false, ask: true, reason: 'a lot' },
  },
  {
    title: 'a filter gives the caller another text',
    kind: 'filter',
    request: filter({ do: 'withhold' }),
    reply: { allow: false, enforced: true, reason: 'private', metadata: { replacement: '[gone]' } },
  },
  {
    title: 'a filter changes the call',
    kind: 'filter',
    request: filter({ do: 'replace', value: 'x' }),
    reply: { allow: true, replace: { args: { n: 'x' } } },
  },
  {
    title: 'an evaluator returns a score',
    kind: 'evaluator',
    request: evaluator({ do: 'value', value: 0.25 }),
    reply: { score: 0.25 },
  },
  {
    title: 'an evaluator returns true',
    kind: 'evaluator',
    request: evaluator({ do: 'value', value: true }),
    reply: { score: 1 },
    not: ['sh'],
  },
  {
    title: 'an evaluator makes a score of true',
    kind: 'evaluator',
    request: evaluator({ do: 'score-true' }),
    reply: { score: 1 },
    not: ['go', 'sh'],
  },
  {
    title: 'an evaluator returns a score with its detail and data',
    kind: 'evaluator',
    request: evaluator({ do: 'score' }),
    reply: { score: 0.5, detail: 'half', data: { of: 2 } },
  },
  {
    title: 'an evaluator abstains',
    kind: 'evaluator',
    request: evaluator({ do: 'abstain' }),
    reply: { abstain: 'no text' },
  },
  {
    title: 'an evaluator that returns nothing fails',
    kind: 'evaluator',
    request: evaluator({ do: 'nothing' }),
    reply: failed(/./),
    code: 1,
  },
  {
    title: 'an evaluator that returns a text fails',
    kind: 'evaluator',
    request: evaluator({ do: 'value', value: 'good' }),
    reply: failed(/./),
    code: 1,
    not: ['sh'],
  },
  {
    title: 'an evaluator answers a batch case by case',
    kind: 'evaluator',
    request: {
      type: 'e',
      batch: [
        { index: 0, params: { do: 'value', value: 1 }, content: 'a' },
        { index: 1, params: { do: 'crash' }, content: 'b' },
        { index: 2, params: { do: 'abstain' }, content: 'c' },
        { index: 3, content: 'd' },
      ],
    },
    reply: {
      results: [{ score: 1 }, failed(/broken|status/), { abstain: 'no text' }, failed(/params/)],
    },
  },
  {
    title: 'an observer acknowledges an event without an envelope',
    kind: 'observer',
    request: { eval_id: 'x', score: 1 },
    reply: { ack: true },
  },
];

/** Requests about which no function decides. */
const broken: readonly { readonly kind: Kind; readonly requests: readonly unknown[] }[] = [
  { kind: 'tool', requests: [{}, { args: null }, { args: [] }] },
  {
    kind: 'filter',
    requests: [
      {},
      { hook: 'tool', phase: 'before_execution' },
      { hook: 'tool', phase: 'sometime', request: { args: { do: 'value', value: true } } },
      { hook: 'tool', request: { args: { do: 'value', value: true } } },
      { hook: 'tool', phase: 'after_execution', request: { args: { do: 'value', value: true } } },
    ],
  },
  { kind: 'evaluator', requests: [{}, { content: 'x' }, { params: { do: 'value', value: 1 } }] },
];

describe.each(present)('$lang', (language) => {
  let says = '';
  beforeAll(() => {
    says = writeSays(language);
  }, 60_000);

  const answerOnce = async (kind: Kind, request: string) => {
    const { code, stdout, stderr } = await runSays(says, kind, request);
    return { code, reply: stdout === '' ? undefined : JSON.parse(stdout), stderr };
  };
  const serve = async (kind: Kind, messages: readonly unknown[]) => {
    const lines = messages.map((message) =>
      typeof message === 'string' ? message : JSON.stringify(message),
    );
    const { code, stdout } = await runSays(says, kind, lines.map((line) => `${line}\n`).join(''));
    const answers = stdout.split('\n').filter((line) => line !== '');
    return { code, answers: answers.map((line) => JSON.parse(line)) };
  };
  const ask = (id: number, params: unknown) => ({ jsonrpc: '2.0', id, method: 'execute', params });
  const own = rows.filter(({ not }) => not?.includes(language.lang) !== true);

  test.concurrent.for(own)(
    '$title [DS-AUTHOR-01]',
    async ({ kind, request, reply, code = 0 }, { expect }) => {
      const { stderr, ...answered } = await answerOnce(kind, `${JSON.stringify(request)}\n`);
      expect(answered).toEqual({ code, reply });
      if (kind !== 'evaluator') expect(stderr).toContain('it does');
    },
  );

  test.concurrent.for(['tool', 'filter', 'evaluator', 'observer'] as const)(
    'a server answers the same as a process, as a %s [DS-AUTHOR-01]',
    async (kind, { expect }) => {
      const asked = own.filter((row) => row.kind === kind);
      const { code, answers } = await serve(
        kind,
        asked.map(({ request }, index) => ask(index + 1, request)),
      );
      const expected = asked.map(({ reply }, index) => {
        const message = { jsonrpc: '2.0', id: index + 1 };
        if ('error' in reply) return { ...message, error: { code: 1, message: reply.error } };
        return { ...message, result: 'result' in reply ? reply.result : reply };
      });
      expect({ code, answers: answers.toSorted((one, other) => one.id - other.id) }).toEqual({
        code: 0,
        answers: expected,
      });
    },
  );

  test.concurrent.for(broken)(
    'no function decides about an empty or broken request of a $kind [DS-AUTHOR-02]',
    async ({ kind, requests }, { expect }) => {
      for (const request of requests) {
        const { reply, stderr } = await answerOnce(kind, JSON.stringify(request));
        expect({ reply, runs: stderr.includes('it does') }).toEqual({ reply: failed(/./), runs: false });
      }
      for (const text of ['', ' \n', '[]', 'null', '"x"', '{"args"', '{} {}', '\x00']) {
        const { code, reply } = await answerOnce(kind, text);
        expect({ text, isFine: code === 1 || reply?.error !== undefined }).toEqual({ text, isFine: true });
        expect(reply ?? failed(/./)).toEqual(reply === undefined ? expect.anything() : failed(/./));
      }
    },
  );

  test.concurrent('a server survives lines that are no requests, and answers the others [DS-AUTHOR-03]', async ({
    expect,
  }) => {
    const { code, answers } = await serve('tool', [
      ask(1, tool({ do: 'nothing' })),
      'no JSON',
      '',
      '[1]',
      { jsonrpc: '2.0', id: 2, method: 'other' },
      { jsonrpc: '2.0', method: 'execute', params: tool({ do: 'nothing' }) },
      { jsonrpc: '2.0', method: 'cancel', params: { id: 99 } },
      { jsonrpc: '2.0', method: 'cancel' },
      ask(3, null),
      ask(4, tool({ do: 'value', value: 'ok' })),
    ]);
    expect(code).toBe(0);
    expect(answers.toSorted((one, other) => one.id - other.id)).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.any(String) } },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.any(String) } },
      { jsonrpc: '2.0', id: 1, result: null },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: expect.any(String) } },
      { jsonrpc: '2.0', id: 3, error: { code: 1, message: expect.any(String) } },
      { jsonrpc: '2.0', id: 4, result: 'ok' },
    ]);
  });

  test.runIf(language.lang !== 'sh')(
    'a server answers while a request waits, which ends when it is cancelled',
    async () => {
      const { code, answers } = await serve('tool', [
        ask(1, tool({ do: 'wait' })),
        ...Array.from({ length: 50 }, (_, index) => ask(index + 2, tool({ do: 'value', value: index }))),
        { jsonrpc: '2.0', method: 'cancel', params: { id: 1 } },
      ]);
      expect(code).toBe(0);
      expect(answers.toSorted((one, other) => one.id - other.id)).toEqual([
        { jsonrpc: '2.0', id: 1, result: 'stopped' },
        ...Array.from({ length: 50 }, (_, index) => ({ jsonrpc: '2.0', id: index + 2, result: index })),
      ]);
    },
  );

  test.concurrent('a tool reports its progress in a server, and nothing elsewhere', async ({ expect }) => {
    const { answers } = await serve('tool', [ask(7, tool({ do: 'progress' }))]);
    const params = { id: 7, progress: 1, total: 4, message: 'a quarter' };
    expect(answers).toEqual([
      { jsonrpc: '2.0', method: 'progress', params },
      { jsonrpc: '2.0', id: 7, result: 'done' },
    ]);
    expect(await answerOnce('tool', JSON.stringify(tool({ do: 'progress' })))).toMatchObject({
      code: 0,
      reply: { result: 'done' },
    });
  });

  const numbers = ['12345678901234567890', '-12345678901234567890', '1.50', '1e400', '0.1234567890123456789'];
  const kept = { all: numbers, integers: numbers.slice(0, 2), none: [] }[language.digits];
  test.runIf(kept.length > 0)('numbers keep their digits [DS-AUTHOR-04]', async () => {
    for (const number of kept) {
      const { stdout } = await runSays(says, 'tool', `{"args": {"do": "value", "value": ${number}}}`);
      expect(stdout.replaceAll(' ', '')).toBe(`{"result":${number}}\n`);
    }
  });
});

describe('python', () => {
  const isPython = present.some(({ lang }) => lang === 'python');

  test.runIf(isPython)('a function with `async` answers, one-shot and in a server', async () => {
    const folder = folderOf({
      'slow.py': `#!/usr/bin/env python3
import signalbox
@signalbox.filter
async def slow(event):
    return event["request"]["args"]["ok"]
slow.run()
`,
    });
    writeHelper(folder, 'python');
    const slow = join(folder, 'slow.py');
    chmodSync(slow, 0o755);
    const once = await runSays(slow, '', JSON.stringify(filter({ ok: true })));
    expect({ ...once, stderr: '' }).toEqual({ code: 0, stdout: '{"allow": true}\n', stderr: '' });
    const message = { jsonrpc: '2.0', id: 1, method: 'execute', params: filter({ ok: false }) };
    const { stdout } = await runSays(slow, '', JSON.stringify(message));
    expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 1, result: { allow: false } });
  });

  test.runIf(isPython)('a server answers after a function has closed stdout', async () => {
    const message = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'execute' },
      params: filter({ do: 'close-stdout' }),
    });
    const says = writeSays({ lang: 'python', extension: 'py', needs: 'python3', digits: 'all' });
    const { stdout } = await runSays(says, 'filter', `${JSON.stringify(message(1))}\n`);
    expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 1, result: { allow: true } });
  });

  test.runIf(isPython)('the helper has the syntax of Python 3.8, and imports only json, os and sys', () => {
    const script = `
import ast, sys
tree = ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))
print(sorted(alias.name for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names))
`;
    const { stdout, stderr } = spawnSync('python3', ['-c', script, join(authors, 'signalbox.py')]);
    expect({ stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
      stdout: "['json', 'os', 'sys']\n",
      stderr: '',
    });
  });
});

test.for(
  [
    {
      program: 'python3',
      args: [
        '-c',
        'import json; from greet import greet; print(json.dumps(greet.handle({"args": {"name": "Ada"}})))',
      ],
      folder: 'quickstart',
    },
    {
      program: process.execPath,
      args: [
        ...['--input-type=module', '-e'],
        "import { greet } from './greet.mjs'; console.log(JSON.stringify(await greet.handle({ args: { name: 'Ada' } })));",
      ],
      folder: 'quickstart-node',
    },
  ].filter(({ folder }) => present.some(({ lang }) => lang === 'python' || folder !== 'quickstart')),
)('an imported script of $folder does not run, and `handle` answers', ({ program, args, folder }) => {
  const cwd = join(authors, '../examples', folder, 'scripts');
  const { stdout, stderr } = spawnSync(program, args, { cwd, input: '{"args": {"name": "Eve"}}' });
  expect({ reply: JSON.parse(stdout.toString()), stderr: stderr.toString() }).toEqual({
    reply: { result: 'Hello, Ada!' },
    stderr: '',
  });
});

describe.runIf(present.some(({ lang }) => lang === 'sh'))('sh', () => {
  const write = (answer: string) => {
    const folder = folderOf({
      'it.sh': `#!/bin/sh\n. "\${0%/*}/signalbox.sh"\nit() { ${answer}; }\n"$1" it\n`,
    });
    writeHelper(folder, 'sh');
    chmodSync(join(folder, 'it.sh'), 0o755);
    return join(folder, 'it.sh');
  };

  test.for([
    { given: '.5', code: 0, reply: { score: 0.5 } },
    { given: '1', code: 0, reply: { score: 1 } },
    { given: 'true', code: 0, reply: { score: 1 } },
    { given: 'nan', code: 1, reply: failed(/not a number/) },
    { given: '', code: 1, reply: failed(/not a number/) },
    { given: '1 1', code: 1, reply: failed(/not a number/) },
    { given: '"1"', code: 1, reply: failed(/not a number/) },
  ])('`score $given` is a number of JSON, or fails', async ({ given, code, reply }) => {
    const { stderr: _, ...answered } = await runSays(
      write(`score '${given}'`),
      'evaluator',
      JSON.stringify(evaluator({})),
    );
    expect({ ...answered, stdout: JSON.parse(answered.stdout) }).toEqual({ code, stdout: reply });
  });

  test('without jq, the script says what is missing, and never answers', () => {
    const { status, stdout, stderr } = spawnSync('/bin/sh', [write('allow'), 'filter'], {
      env: { PATH: '/nowhere' },
      input: JSON.stringify(filter({})),
    });
    expect({ status, stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
      ...{ status: 127, stdout: '' },
      stderr: 'signalbox: jq is not on PATH. Install it: this script reads JSON with jq.\n',
    });
  });
});

test('the helper for JavaScript imports nothing', () => {
  const text = readFileSync(join(authors, 'signalbox.mjs'), 'utf8');
  expect(text).not.toMatch(/^import\b|[^.]import\(/m);
});
