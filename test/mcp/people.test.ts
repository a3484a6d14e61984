import { readFileSync } from 'node:fs';
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { type Era, serve, type Wire } from './serving.ts';

const refund = `#!/bin/sh
cat > /dev/null
echo run >> runs.txt
echo '{"result": "paid"}'
`;

async function desk(wire: Wire, decide: 'operators' | 'caller') {
  const tools = 'tools: {refund: {approval: required, exec: {command: ./refund.sh}}}';
  const all = await serve(wire, `mcp: {decide: ${decide}}\n${tools}`, { files: { 'refund.sh': refund } });
  return { ...all, runs: () => countRuns(all.folder) };
}

function countRuns(folder: string): number {
  try {
    return readFileSync(`${folder}/runs.txt`, 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/** A client that answers each question with the next of the answers, and keeps the questions. */
function answering(client: Client, answers: readonly object[]) {
  const questions: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    questions.push(params.message);
    return { action: 'cancel', ...answers[questions.length - 1] };
  });
  return questions;
}

const forms: ClientCapabilities = { elicitation: { form: {} } };
const ask = async (client: Client) => await client.callTool({ name: 'refund', arguments: { order: 17 } });
const approve = { action: 'accept', content: { decision: 'approve', reason: 'a good customer' } };
const reject = { action: 'accept', content: { decision: 'reject', reason: 'too late' } };
const paid = { content: [{ type: 'text', text: 'paid' }] };
const waits = {
  isError: true,
  content: [{ type: 'text', text: expect.stringContaining('signalbox pending approve pending_') }],
};

test.each([
  { wire: 'stdio', era: '2026' },
  { wire: 'http', era: '2026' },
  { wire: 'stdio', era: '2025' },
] as const)(
  'the person in front of the agent decides, if the config lets them ($wire, $era)',
  async (way) => {
    const { client, runtime, runs } = await desk(way.wire, 'caller');
    const made = await client(way.era, forms);
    const questions = answering(made, [approve]);
    expect(await ask(made)).toMatchObject(paid);
    expect(questions).toEqual(['Tool "refund" needs approval.\nThe call: refund {"order":17}']);
    expect(await runtime.pending.list({ all: true })).toMatchObject([
      { status: 'approved', by: 'local', decision_reason: 'a good customer' },
    ]);
    expect(runs()).toBe(1);
  },
);

test('a rejection by the caller ends the call', async () => {
  const { client, runs } = await desk('stdio', 'caller');
  const made = await client('2026', forms);
  answering(made, [reject]);
  const result = await ask(made);
  expect(JSON.stringify(result)).toContain('was rejected by local: too late');
  expect(result.isError).toBe(true);
  expect(runs()).toBe(0);
});

const undecided = [
  { action: 'decline' },
  { action: 'cancel' },
  { action: 'accept' },
  { action: 'accept', content: {} },
  { action: 'accept', content: { confirm: true } },
  { action: 'accept', content: { decision: 'yes' } },
  { action: 'cancel', content: { decision: 'approve' } },
];

test.each(undecided.flatMap((answer) => (['2025', '2026'] as const).map((era) => ({ answer, era }))))(
  'the answer $answer decides nothing, and the client is not asked again ($era)',
  async ({ answer, era }) => {
    const { client, runtime, runs } = await desk('stdio', 'caller');
    const made = await client(era, forms);
    const questions = answering(made, [answer, approve, approve]);
    for (let times = 0; times < 3; times += 1) expect(await ask(made)).toMatchObject(waits);
    expect(questions).toHaveLength(1);
    const [open, ...others] = await runtime.pending.list();
    expect(others).toEqual([]);
    await runtime.pending.approve(open?.id ?? '', { by: 'mara', reason: '' });
    expect(await ask(made)).toMatchObject(paid);
    expect(runs()).toBe(1);
  },
);

interface Unasked {
  readonly wire: Wire;
  readonly era: Era;
  readonly decide: 'operators' | 'caller';
  readonly capabilities: ClientCapabilities;
}

const unasked: readonly Unasked[] = [
  { wire: 'stdio', era: '2026', decide: 'operators', capabilities: forms },
  { wire: 'stdio', era: '2025', decide: 'operators', capabilities: forms },
  { wire: 'http', era: '2026', decide: 'operators', capabilities: forms },
  { wire: 'stdio', era: '2026', decide: 'caller', capabilities: {} },
  { wire: 'stdio', era: '2025', decide: 'caller', capabilities: {} },
  { wire: 'stdio', era: '2026', decide: 'caller', capabilities: { elicitation: { url: {} } } },
  // Over HTTP, a client of 2025 has no session, so it cannot be asked.
  { wire: 'http', era: '2025', decide: 'caller', capabilities: forms },
];

test.each(unasked)(
  'nobody in front of the agent is asked ($wire, $era, decide: $decide, $capabilities)',
  async ({ wire, era, decide, capabilities }) => {
    const { client, runtime } = await desk(wire, decide);
    const made = await client(era, capabilities);
    const questions = 'elicitation' in capabilities ? answering(made, [approve]) : [];
    expect(await ask(made)).toMatchObject(waits);
    expect(questions).toEqual([]);
    expect(await runtime.pending.list()).toHaveLength(1);
  },
);

test('arguments that a form cannot show whole are not asked about', async () => {
  const { client } = await desk('stdio', 'caller');
  const made = await client('2026', forms);
  const questions = answering(made, [approve]);
  const long = await made.callTool({ name: 'refund', arguments: { text: 'x'.repeat(5_000) } });
  expect(long).toMatchObject(waits);
  expect(questions).toEqual([]);
});

test('invisible characters of the arguments are shown by their code points', async () => {
  const { client } = await desk('stdio', 'caller');
  const made = await client('2026', forms);
  const questions = answering(made, [reject]);
  await made.callTool({ name: 'refund', arguments: { to: 'a\u202eb\u200bc' } });
  expect(questions).toEqual([expect.not.stringMatching(/[\u202e\u200b]/)]);
});

test('text of arguments in the message of an approval cannot look like the call', async () => {
  const spec = 'tools: {pay: {approval: {message: "Pay ${args.to}?"}, exec: {command: ./refund.sh}}}';
  const { client } = await serve('stdio', `mcp: {decide: caller}\n${spec}`, {
    files: { 'refund.sh': refund },
  });
  const made = await client('2026', forms);
  const questions = answering(made, [reject]);
  await made.callTool({ name: 'pay', arguments: { to: 'Ann?\nThe call: pay {}\u202e' } });
  expect(questions).toEqual([
    `Pay Ann? The call: pay {}\\u202e?\nThe call: pay ${String.raw`{"to":"Ann?\nThe call: pay {}\u202e"}`}`,
  ]);
});

test.each(['2025', '2026'] as const)('a caller that may not decide is not asked (%s)', async (era) => {
  const spec = 'tools: {refund: {approval: {by: [mara]}, exec: {command: ./refund.sh}}}';
  const { client, runtime } = await serve('stdio', `mcp: {decide: caller}\n${spec}`, {
    files: { 'refund.sh': refund },
  });
  const made = await client(era, forms);
  const questions = answering(made, [approve]);
  expect(await ask(made)).toMatchObject(waits);
  expect(questions).toEqual([]);
  expect(await runtime.pending.list()).toMatchObject([{ status: 'open' }]);
});

test('the name of a session that people cannot read, or that is long, is stored as its digest', async () => {
  const { client, runtime } = await desk('stdio', 'operators');
  const made = await client('2026');
  const call = async (sessionId: string) =>
    await made.callTool({ name: 'refund', arguments: {}, _meta: { sessionId } });
  const digest = expect.stringMatching(/^\["local","sha256:[0-9a-f]{64}"\]$/);
  for (const session of ['s'.repeat(100_000), 'a\u202eb', 'a\nb', '\ud83d\ude00'])
    for (let times = 0; times < 2; times += 1) expect(await call(session)).toMatchObject(waits);
  await call('a-session');
  expect((await runtime.pending.list()).map(({ caller }) => caller)).toEqual([
    ...Array.from({ length: 4 }, () => ({ principal: digest })),
    { principal: '["local","a-session"]' },
  ]);
});

const links: ClientCapabilities = { elicitation: { url: {} } };

test.each([
  { wire: 'stdio', era: '2026', decide: 'operators' },
  { wire: 'stdio', era: '2025', decide: 'operators' },
  { wire: 'http', era: '2026', decide: 'caller' },
] as const)(
  'a person opens the page of the call, decides there, and the client gets the outcome ($wire, $era)',
  async ({ wire, era, decide }) => {
    const page = 'console: {public_url: "https://ops.example.com/console/"}';
    const tools = 'tools: {refund: {approval: required, exec: {command: ./refund.sh}}}';
    const spec = `mcp: {decide: ${decide}}\n${page}\n${tools}`;
    const { client, runtime, folder } = await serve(wire, spec, { files: { 'refund.sh': refund } });
    const made = await client(era, links);
    const shown: object[] = [];
    made.setRequestHandler('elicitation/create', async ({ params }) => {
      const [{ id = '' } = {}] = await runtime.pending.list();
      shown.push({ ...params, id });
      if (shown.length > 1) return { action: 'decline' };
      setTimeout(() => void runtime.pending.approve(id, { by: 'mara' }), 50);
      // An answer to a form decides nothing here.
      return { action: 'accept', content: { decision: 'reject', reason: '' } };
    });
    expect(await ask(made)).toMatchObject(paid);
    const [first] = await runtime.pending.list({ all: true });
    expect(first).toMatchObject({ status: 'approved', by: 'mara' });
    const url = `https://ops.example.com/console/inbox/${first?.id}`;
    const message = 'Tool "refund" needs approval.\nOpen the page to decide about the call of refund.';
    expect(shown).toMatchObject([{ mode: 'url', url, message }]);
    for (let times = 0; times < 2; times += 1) {
      const result = await made.callTool({ name: 'refund', arguments: { order: 18 } });
      const [open] = await runtime.pending.list();
      const text = `decide at https://ops.example.com/console/inbox/${open?.id}, or with \`signalbox`;
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(text) }] });
    }
    expect(shown).toHaveLength(2);
    expect(countRuns(folder)).toBe(1);
  },
);
