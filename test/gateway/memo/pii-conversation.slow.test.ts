import { expect, test } from 'vitest';
import { openRuntime } from '../../../src/runtime/open-runtime.ts';
import { program } from '../../cli/pii/run.ts';
import { openaiProvider, writeConfig } from '../open-gateway.ts';
import { startUpstream } from '../upstream-server.ts';

type Message = { readonly role: string; readonly content: string | null; readonly [member: string]: unknown };

/** Repeats its last message, as text and as tool arguments. It streams one character a frame. */
async function startEcho() {
  return await startUpstream((request, response) => {
    const { messages, stream } = JSON.parse(request.body);
    const said = `You said ${messages.at(-1).content} and < EMAIL_ADDRESS_1 >.`;
    const args = JSON.stringify({ to: said });
    const head = { id: 'chatcmpl-1', created: 1, model: 'm' };
    const call = { id: 'c1', type: 'function', function: { name: 'mail', arguments: args } };
    if (stream !== true) {
      const message = { role: 'assistant', content: said, tool_calls: [call] };
      const body = {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: '' }));
    for (const letter of said) response.write(chunk({ content: letter }));
    response.write(chunk({ tool_calls: [{ index: 0, ...call, function: { name: 'mail', arguments: '' } }] }));
    for (const letter of args)
      response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: letter } }] }));
    response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
  });
}

interface Setting {
  readonly action: string;
  readonly gateway?: string;
  readonly judge?: string;
}

function configOf(url: string, { action, gateway = 'stream: hold' }: Setting): string {
  return writeConfig(`
providers: [${openaiProvider(url)}]
hooks:
  pii: {command: ${process.execPath}, args: [${program}, --action, ${action}, --key-file, ./pii.key], hook: provider, runtime: server, instances: 2}
gateway: {${gateway}}`);
}

function assemble(text: string): Message {
  const deltas = text
    .split('\n')
    .flatMap((line) =>
      line.startsWith('data: {') ? (JSON.parse(line.slice(6)).choices[0]?.delta ?? []) : [],
    );
  const content = deltas.map((delta) => delta.content ?? '').join('');
  const args = deltas.map((delta) => delta.tool_calls?.[0]?.function?.arguments ?? '').join('');
  return {
    role: 'assistant',
    content,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'mail', arguments: args } }],
  };
}

async function converse(setting: Setting & { readonly isStreamed: boolean; readonly restarts: boolean }) {
  await using upstream = await startEcho();
  const config = configOf(upstream.url, setting);
  let runtime = await openRuntime(config, { log: false });
  const messages: Message[] = [{ role: 'system', content: 'You work for boss@example.org.' }];
  const answers: Message[] = [];
  try {
    for (const turn of [0, 1, 2, 3, 4]) {
      messages.push({ role: 'user', content: `I am user${turn % 2}@example.com, call 212-555-014${turn}.` });
      const tools = [
        { type: 'function', function: { name: 'mail', description: 'Mails help@example.net.' } },
      ];
      const body = JSON.stringify({
        model: 'm',
        tools,
        messages,
        ...(setting.isStreamed && { stream: true }),
      });
      const url = 'http://127.0.0.1/v1/chat/completions';
      const response = await runtime
        .gateway()
        .fetch(new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }));
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      const answer: Message = setting.isStreamed ? assemble(text) : JSON.parse(text).choices[0].message;
      answers.push(answer);
      messages.push(answer, { role: 'tool', tool_call_id: 'c1', content: `sent to user${turn}@example.edu` });
      if (setting.restarts) {
        await runtime.close();
        runtime = await openRuntime(config, { log: false });
      }
    }
  } finally {
    await runtime.close();
  }
  return { answers, sent: upstream.seen.map(({ body }) => body) };
}

/** The request without the end of its message list. Only `stream` follows `messages`. */
function prefixOf(body: string): string {
  return body.slice(0, body.lastIndexOf(']'));
}

test.each([
  { action: 'pseudonymise', isStreamed: false, restarts: false },
  { action: 'pseudonymise', isStreamed: false, restarts: true },
  { action: 'pseudonymise', isStreamed: true, restarts: false },
  { action: 'pseudonymise', isStreamed: true, restarts: false, gateway: 'stream: windowed, window: 40' },
  { action: 'pseudonymise', isStreamed: true, restarts: true, gateway: 'judge: {pii: new}' },
  { action: 'hash', isStreamed: false, restarts: true },
  { action: 'mask', isStreamed: false, restarts: true, gateway: 'judge: {pii: new}' },
  { action: 'redact', isStreamed: true, restarts: false },
])('each turn resends the bytes of the previous one, and reveals no value: %j', async (setting) => {
  const { answers, sent } = await converse(setting);
  expect(sent).toHaveLength(5);
  for (const [turn, body] of sent.entries()) {
    expect(body).not.toMatch(/(user\d|boss|help)@example|212-555-014/);
    expect(sent[turn + 1]?.startsWith(prefixOf(body)) ?? true).toBe(true);
  }
  if (setting.action !== 'pseudonymise') return;
  for (const [turn, { content, tool_calls: calls }] of answers.entries()) {
    const restored = `You said I am user${turn % 2}@example.com, call 212-555-014${turn}. and boss@example.org.`;
    expect(content).toBe(restored);
    expect(JSON.stringify(calls)).toContain(JSON.stringify(JSON.stringify({ to: restored })).slice(1, -1));
  }
});
