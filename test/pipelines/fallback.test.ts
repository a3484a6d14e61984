import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Fake, openFake, type Turn } from '../models/wire/fake.ts';
import { type Desk, hookRecording, openDesk } from './desk.ts';

interface Opened {
  readonly desk: Desk;
  readonly main: Fake;
  readonly second: Fake;
}

const second: readonly Turn[] = [{ text: 'from the second' }];

/** `main` falls back to `second`, which has another API. `more` adds members to `main`. */
async function open(
  script: readonly Turn[],
  { more = '', others = second, spec = '' }: { more?: string; others?: readonly Turn[]; spec?: string } = {},
): Promise<Opened> {
  const main = await openFake('openai', script);
  const other = await openFake('anthropic', others);
  onTestFinished(async () => void (await Promise.all([main.close(), other.close()])));
  const desk = await openDesk(`
state_store: {type: sqlite}
providers:
  - id: main
    type: openai-compatible
    model: m
    base_url: "${main.url}"
    pricing: {input_cost_per_1k: 100, output_cost_per_1k: 100}
    additional_config: {max_retries: 1, retry_base_ms: 1}
    fallback: [second]
    ${more}
  - id: second
    type: anthropic
    model: claude-x
    base_url: "${other.url}"
    credential: {api_key: k}
    pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}
    additional_config: {max_retries: 0}
${spec}
`);
  return { desk, main, second: other };
}

const chat = (more = '') =>
  `steps: [{id: answer, chat: {provider: main, messages: Hello., ${more}}}]\noutput: \${steps.answer}\n`;

const asking = `hooks:
  asked: {hook: provider, phases: [before_call], ${hookRecording('answers', 'asked', '{"allow": true}')}}
  judged: {hook: provider, phases: [after_call], ${hookRecording('answers', 'judged', '{"allow": true}')}}
`;

const faults: readonly { readonly title: string; readonly fault: Turn['fault']; readonly more?: string }[] = [
  { title: 'is overloaded', fault: { kind: 'status', status: 503 } },
  { title: 'is asked too often', fault: { kind: 'status', status: 429, headers: { 'retry-after-ms': '1' } } },
  { title: 'hangs up', fault: { kind: 'hang-up' } },
  { title: 'breaks off', fault: { kind: 'cut' } },
  { title: 'is silent', fault: { kind: 'hang' }, more: 'request_timeout: 300ms' },
];

test.each(faults)(
  'where a provider $title, another answers [DS-FALLBACK-01]',
  async ({ fault = { kind: 'hang' }, more }) => {
    for (const stream of ['', 'stream: hold']) {
      const { desk, main } = await open([{ fault }], { ...(more && { more }), spec: asking });
      const end = await desk.run(chat(stream));
      expect(end.output).toMatchObject({
        text: 'from the second',
        provider: 'second',
        model: 'claude-x',
        usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.02 },
      });
      expect(main.requests.length).toBeGreaterThan(0);
      const providers = (name: string) =>
        desk.lines(name).map((line) => JSON.parse(line).request.provider_id);
      expect(providers('asked')).toEqual(['main', 'second']);
      expect(desk.lines('judged').filter((line) => line.includes('from the second'))).toHaveLength(1);
      expect(desk.events).toContainEqual(
        expect.objectContaining({
          type: 'note',
          name: 'main',
          message: expect.stringContaining('"second" is called instead'),
        }),
      );
    }
  },
);

test('an unreachable server, or an unknown host name, is a fault of the provider', async () => {
  const { desk, main } = await open([{}]);
  await main.close();
  expect((await desk.run(chat())).output).toMatchObject({ provider: 'second' });
  await desk.runtime.close();
  writeFileSync(desk.config, readFileSync(desk.config, 'utf8').replace(main.url, 'http://nobody.invalid'));
  expect((await (await desk.reopen()).run(chat())).output).toMatchObject({ provider: 'second' });
});

test.each([400, 401, 404, 422])(
  'status %i is a fault of the request, and no other provider is called [DS-FALLBACK-02]',
  async (status) => {
    const { desk, second: other } = await open([{ fault: { kind: 'status', status } }]);
    expect(await desk.run(chat())).toMatchObject({ status: 'failed', error: { code: 'PROVIDER_FAILED' } });
    expect(other.requests).toHaveLength(0);
  },
);

test.each(['before_call', 'after_call'])(
  'a denial at %s calls no other provider [DS-FALLBACK-02]',
  async (phase) => {
    const spec = `hooks:\n  guard: {hook: provider, phases: [${phase}], command: $bin/answers, args: ['{"allow": false, "reason": "no"}']}`;
    for (const stream of ['', 'stream: hold', 'stream: windowed']) {
      const { desk, second: other } = await open([{ text: 'hi' }], { spec });
      expect(await desk.run(chat(stream))).toMatchObject({ status: 'denied', error: { code: 'DENIED' } });
      expect(other.requests).toHaveLength(0);
    }
  },
);

test('a guard of the other provider denies the call to it, and its answer [DS-FALLBACK-03]', async () => {
  for (const phase of ['before_call', 'after_call']) {
    const spec = `hooks:\n  guard: {hook: provider, phases: [${phase}], match: {providers: [second]}, command: $bin/answers, args: ['{"allow": false, "reason": "no"}']}`;
    const { desk, second: other } = await open([{ fault: { kind: 'status', status: 503 } }], { spec });
    const end = await desk.run(chat());
    expect(end).toMatchObject({ status: 'denied', error: { code: 'DENIED' } });
    expect(JSON.stringify(end)).not.toContain('from the second');
    expect(other.requests).toHaveLength(phase === 'before_call' ? 0 : 1);
  }
});

test('a stream that has sent text stays with its provider [DS-FALLBACK-04]', async () => {
  const text = Array.from({ length: 60 }, (_, index) => `word${index} and more words. `);
  const { desk, second: other } = await open([{ text, fault: { kind: 'cut', after: 50 } }]);
  const end = await desk.run(chat('stream: windowed'));
  expect(end).toMatchObject({ status: 'suspended', error: { code: 'PROVIDER_FAILED' } });
  const told = desk.events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
  expect(told).toContain('word0');
  expect(told).not.toContain('from the second');
  expect(other.requests).toHaveLength(0);
});

test('a stream that fails before it has sent text continues with the other provider', async () => {
  const { desk } = await open([{ text: ['a', 'b'], fault: { kind: 'cut', after: 3 } }]);
  expect((await desk.run(chat('stream: windowed'))).output).toMatchObject({ provider: 'second' });
  const told = desk.events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
  expect(told).toBe('from the second');
});

test('if all providers fail, the error is the last one’s', async () => {
  const down = [{ fault: { kind: 'status', status: 529, message: 'overloaded' } }] as const;
  const { desk } = await open([{ fault: { kind: 'status', status: 503 } }], { others: down });
  expect(await desk.run(chat())).toMatchObject({
    status: 'suspended',
    error: { code: 'PROVIDER_FAILED', message: 'provider "second" failed with status 529: overloaded' },
  });
});

test('the next round calls the first provider again, and tools run between them', async () => {
  const script: readonly Turn[] = [
    { fault: { kind: 'status', status: 503 } },
    { fault: { kind: 'status', status: 503 } },
    { text: 'Done.' },
  ];
  const others: readonly Turn[] = [{ toolCalls: [{ name: 'note', args: {} }] }];
  const spec = `tools:\n  note: {exec: {command: $bin/answers, args: ['{"result": "noted"}']}}`;
  const { desk } = await open(script, { others, spec });
  expect((await desk.run(chat('tools: [note]'))).output).toMatchObject({
    text: 'Done.',
    rounds: 2,
    provider: 'main',
  });
});

test('a provider that fails three times in a row is skipped for a while', async () => {
  const {
    desk,
    main,
    second: other,
  } = await open([{ fault: { kind: 'status', status: 503 } }], {
    more: '',
  });
  for (let run = 0; run < 5; run += 1)
    expect((await desk.run(chat())).output).toMatchObject({ provider: 'second' });
  expect(main.requests).toHaveLength(6);
  expect(other.requests).toHaveLength(5);
  expect(
    desk.events.filter((event) => event.type === 'note' && event.message.includes('3 times in a row')),
  ).toHaveLength(1);
});

test('a rate limit that has no capacity in time is no reason to fail [DS-FALLBACK-01]', async () => {
  const more = 'rate_limit: {requests_per_minute: 1}\n    request_timeout: 200ms';
  const { desk, main } = await open([{ text: 'from the first' }], { more });
  expect((await desk.run(chat())).output).toMatchObject({ provider: 'main' });
  expect((await desk.run(chat())).output).toMatchObject({ provider: 'second' });
  expect(main.requests).toHaveLength(1);
});

test('a suite has the answer and the name of the provider that answered', async () => {
  const { desk } = await open([{ fault: { kind: 'status', status: 503 } }]);
  const suite = join(desk.folder, 'x.suite.yaml');
  const head = 'apiVersion: signalbox/v1\nkind: EvalSuite\nmetadata: {name: x}\nspec:\n';
  writeFileSync(
    suite,
    `${head}  runtime: ./runtime.yaml
  cases: [{id: one}]
  subject: {chat: {provider: main, messages: "Hi."}}
  evals: [{id: said, type: contains, params: {patterns: [second]}}]
`,
  );
  expect(await desk.runtime.evals.run(suite)).toMatchObject({ status: 'passed' });
});
