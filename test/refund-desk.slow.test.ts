import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, runJson } from './cli/command-line.ts';
import { openFake } from './models/wire/fake.ts';

const root = join(import.meta.dirname, '..');

function copyOfExample() {
  const home = mkdtempSync(join(tmpdir(), 'desk-'));
  const cwd = join(home, 'examples/refund-desk');
  const isState = (path: string) => path.includes('.signalbox');
  cpSync(join(root, 'examples/refund-desk'), cwd, { recursive: true, filter: (path) => !isState(path) });
  const start = (ticket: string, env = {}) =>
    runJson(['run', 'refund.pipeline.yaml', '--input', `@tickets/${ticket}.json`], { cwd, env });
  const ledger = () => {
    try {
      return readFileSync(join(cwd, '.signalbox/ledger.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(parse);
    } catch {
      return [];
    }
  };
  return { cwd, start, ledger };
}

function parse(line: string): unknown {
  return JSON.parse(line);
}

interface Paused {
  readonly run_id: string;
  readonly pending: readonly { readonly id: string }[];
}

async function pause() {
  const desk = copyOfExample();
  const { code, document } = await desk.start('lamp');
  expect({ code, document }).toMatchObject({
    code: 3,
    document: {
      status: 'pending',
      pending: [{ tool: 'refund', message: 'Refund 21900 cents for the lamp of order A-1017?' }],
    },
  });
  const paused = document as Paused;
  const decide = (...ruling: readonly [string, ...string[]]) => {
    const [verb, ...options] = ruling;
    return runJson(['pending', verb, paused.pending[0]?.id ?? '', ...options], { cwd: desk.cwd });
  };
  const resume = () => runJson(['runs', 'resume', paused.run_id], { cwd: desk.cwd });
  return { ...desk, decide, resume };
}

test('a small refund succeeds, and the customer reads the real address', async () => {
  const { start, ledger } = copyOfExample();
  expect(await start('mug')).toMatchObject({
    code: 0,
    document: {
      status: 'completed',
      output: {
        reply: '19.00 EUR for the mug of order A-1017 are on their way; we have written to ada@example.org.',
        tools: [
          { name: 'lookup_order', status: 'ok' },
          { name: 'refund', status: 'ok' },
        ],
        grounded: 1,
      },
    },
  });
  expect(ledger()).toMatchObject([{ item: 'mug', amount_cents: 1900, approved_by: null }]);
});

interface Decision {
  readonly title: string;
  readonly ruling: readonly [string, ...string[]];
  readonly reply: RegExp;
  readonly refund: 'ok' | 'failed';
  readonly paid: readonly object[];
}

const decisions: readonly Decision[] = [
  {
    title: 'approved',
    ruling: ['approve', '--by', 'mara', '--reason', 'broken on arrival'],
    reply: /^219\.00 EUR for the lamp .* ada@example\.org\.$/,
    refund: 'ok',
    paid: [{ amount_cents: 21_900, approved_by: 'mara' }],
  },
  {
    title: 'approved with another amount',
    ruling: [
      'approve',
      '--args',
      '{"order_id": "A-1017", "item": "lamp", "amount_cents": 9900}',
      '--by',
      'mara',
    ],
    reply: /^Your refund for order A-1017 is on its way/,
    refund: 'ok',
    paid: [{ amount_cents: 9900, approved_by: 'mara' }],
  },
  {
    title: 'rejected',
    ruling: ['reject', '--reason', 'past the deadline'],
    reply: /^I have looked at order A-1017, ada@example\.org, but a colleague has to decline/,
    refund: 'failed',
    paid: [],
  },
  {
    title: 'answered by a person',
    ruling: ['respond', '--result', '{"refunded":true,"amount_cents":21900}'],
    reply: /^219\.00 EUR for the lamp/,
    refund: 'ok',
    paid: [],
  },
];

test.each(decisions)('a large refund that is $title', async ({ ruling, reply, refund, paid }) => {
  const { decide, resume, ledger } = await pause();
  expect(await decide(...ruling)).toMatchObject({ code: 0 });
  expect(await resume()).toMatchObject({
    code: 0,
    document: {
      status: 'completed',
      output: {
        reply: expect.stringMatching(reply),
        tools: [
          { name: 'lookup_order', status: 'ok' },
          { name: 'refund', status: refund },
        ],
      },
    },
  });
  expect(ledger()).toMatchObject(paid);
});

test('an amount that does not fit the tool leaves the question open', async () => {
  const { decide, ledger } = await pause();
  expect(
    await decide('approve', '--args', '{"order_id": "A-1017", "item": "lamp", "amount_cents": "all"}'),
  ).toMatchObject({ code: 2, document: { error: { code: 'ARGS_INVALID' } } });
  expect(await decide('approve')).toMatchObject({ code: 0, document: { status: 'approved' } });
  expect(ledger()).toEqual([]);
});

test('an OpenAI-compatible endpoint answers when one variable names it, and reads no address', async () => {
  const fake = await openFake('openai', [
    { toolCalls: [{ name: 'lookup_order', args: { order_id: 'A-1017', email: '<EMAIL_ADDRESS_1>' } }] },
    { text: 'The mug costs 19.00 EUR; I have written to <EMAIL_ADDRESS_1>.' },
  ]);
  onTestFinished(() => fake.close());
  const { start } = copyOfExample();
  expect(await start('mug', { REFUND_DESK_URL: `${fake.url}#tiny` })).toMatchObject({
    code: 0,
    document: {
      output: { reply: 'The mug costs 19.00 EUR; I have written to ada@example.org.', grounded: 1 },
    },
  });
  expect(fake.requests.map(({ body }) => body['model'])).toEqual(['tiny', 'tiny']);
  const sent = fake.requests.map(({ text }) => text).join('\n');
  expect(sent).toContain('<EMAIL_ADDRESS_1>');
  expect(sent).not.toContain('ada@example.org');
  expect(sent).not.toContain('4111');
});

test('an answer with an amount that no tool has confirmed is not sent', async () => {
  const fake = await openFake('openai', [{ text: 'You get 500.00 EUR back.' }]);
  onTestFinished(() => fake.close());
  const { cwd } = copyOfExample();
  const { code, stdout, stderr } = await run(
    ['run', 'refund.pipeline.yaml', '--input', '{"ticket": "Money, please."}'],
    { cwd, env: { REFUND_DESK_URL: fake.url } },
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('THRESHOLD_MISSED');
  expect(stderr).toContain('no tool has confirmed 500.00');
});

test('the tickets of a day are runs below one, which waits for a person and then continues', async () => {
  const { cwd, ledger } = copyOfExample();
  const tickets = ['mug', 'lamp'].map(
    (name) => `The ${name} of order A-1017 is broken. I am ada@example.org.`,
  );
  const input = JSON.stringify({ tickets });
  const { code, document } = await runJson(['run', 'day.pipeline.yaml', '--input', input], { cwd });
  expect({ code, document }).toMatchObject({ code: 3, document: { pending: [{ tool: 'refund' }] } });
  const { run_id: id, pending } = document as Paused;
  await runJson(['pending', 'approve', pending[0]?.id ?? '', '--by', 'mara'], { cwd });
  expect(await runJson(['runs', 'resume', id], { cwd })).toMatchObject({
    code: 0,
    document: { output: { replies: [expect.stringContaining('19.00'), expect.stringContaining('219.00')] } },
  });
  expect(ledger()).toMatchObject([
    { item: 'mug', amount_cents: 1900, approved_by: null },
    { item: 'lamp', amount_cents: 21900, approved_by: 'mara' },
  ]);
});
