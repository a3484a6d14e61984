import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { serveTestGateway } from '../../http/serve-gateway.ts';
import { cutText, type OpenAiReply, startOpenAiUpstream } from '../../upstreams/openai-upstream.ts';
import { openai } from './sdk-scenes.ts';
import { frame, streamOf } from './streams.ts';

const words = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
before = event["phase"] == "before_call"
subject = event["request"] if before else event["response"]["message"]
text = json.dumps(subject)
if "FORBIDDEN" in text:
    print(json.dumps({"allow": False, "reason": "that word"}))
elif "Ann" in text:
    changed = json.loads(text.replace("Ann", "[NAME]"))
    replace = {key: changed[key] for key in ("messages", "system_prompt", "other")} if before else {"message": changed}
    print(json.dumps({"allow": True, "replace": replace}))
else:
    print(json.dumps({"allow": True}))
`;

const spec = (url: string, gateway: string) => `
state_store: {type: memory}
providers: [{id: main, type: openai-compatible, model: m, base_url: "${url}/v1", credential: {api_key: sk-upstream}}]
hooks: {words: {command: ./words.py, hook: provider}}
gateway: ${gateway}`;

async function open(replies: readonly OpenAiReply[], gateway = '{}') {
  const upstream = await startOpenAiUpstream(replies);
  const server = await serveTestGateway(spec(upstream.url, gateway), { 'words.py': words });
  return {
    upstream,
    client: openai(`${server.url}/v1`, { maxRetries: 2 }),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const ask = (content: string) => ({ model: 'm', messages: [{ role: 'user' as const, content }] });
const role = frame({ role: 'assistant', content: '' });
const stop = frame({}, { finish_reason: 'stop' });
const told = (text: string): OpenAiReply => ({
  stream: streamOf([role, ...cutText(text, 3).map((content) => frame({ content })), stop]).split(/(?<=\n\n)/),
});

const called = (args: string): OpenAiReply => ({
  stream: [
    streamOf([
      frame({ role: 'assistant', content: null }),
      frame({
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'mail', arguments: '' } }],
      }),
      ...cutText(args, 4).map((piece) =>
        frame({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
      ),
      frame({}, { finish_reason: 'tool_calls' }),
    ]),
  ],
});

async function readText({ client }: { readonly client: OpenAI }): Promise<{ text: string; error: unknown }> {
  let text = '';
  try {
    const stream = await client.chat.completions.create({ ...ask('x'), stream: true }, { maxRetries: 0 });
    for await (const chunk of stream) text += JSON.stringify(chunk.choices[0]?.delta ?? {});
  } catch (error) {
    return { text, error };
  }
  return { text, error: undefined };
}

const modes = ['{}', '{stream: windowed, window: 12}'];

describe.each(modes)('the SDK of OpenAI and hooks that decide, with %s', (gateway) => {
  test('gets one typed error for a denied request', async () => {
    await using opened = await open([{ body: {} }], gateway);
    const error: unknown = await opened.client.chat.completions
      .create(ask('FORBIDDEN'))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'content_filter', param: 'messages[0]' });
    expect(opened.upstream.seen).toEqual([]);
  });

  test('never sees a denied word in a stream, however it is split', async () => {
    await using opened = await open([told('a long enough beginning FORBIDDEN end')], gateway);
    const { text, error } = await readText(opened);
    expect(error).toMatchObject({ code: 'content_filter' });
    expect(text.includes('FORB')).toBe(false);
    expect(opened.upstream.seen).toHaveLength(1);
  });

  test('sees a stream with the words that hooks have changed', async () => {
    await using opened = await open([told('Dear Ann, this is long enough for Ann and me.')], gateway);
    const completion = await opened.client.chat.completions.stream(ask('x')).finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe(
      'Dear [NAME], this is long enough for [NAME] and me.',
    );
  });

  test('sees tool calls with the arguments that hooks have changed', async () => {
    await using opened = await open([called('{"to":"Ann","n":1.50}')], gateway);
    const completion = await opened.client.chat.completions.stream(ask('x')).finalChatCompletion();
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_1', type: 'function', function: { name: 'mail', arguments: '{"to":"[NAME]","n":1.5}' } },
    ]);
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('sends an upstream nothing that hooks removed, wherever it was', async () => {
    await using opened = await open(
      [
        {
          body: {
            choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
          },
        },
      ],
      gateway,
    );
    await opened.client.chat.completions.create({
      model: 'm',
      user: 'Ann',
      metadata: { of: 'Ann' },
      tools: [
        {
          type: 'function',
          function: { name: 'mail', description: 'to Ann', parameters: { enum: ['Ann'] } },
        },
      ],
      messages: [
        { role: 'system', content: 'Serve Ann.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'I am ' },
            { type: 'text', text: 'Ann.' },
          ],
          name: 'Ann',
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'mail', arguments: '{"to":"Ann"}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'sent to Ann' },
      ],
    });
    const sent = opened.upstream.seen[0]?.body ?? '';
    expect(sent).not.toContain('Ann');
    expect(sent.split('[NAME]')).toHaveLength(10);
  });

  test('gets what hooks leave of an upstream error', async () => {
    await using opened = await open(
      [{ status: 400, body: { error: { message: 'bad Ann', type: 'x', code: null } } }],
      gateway,
    );
    const error: unknown = await opened.client.chat.completions
      .create(ask('x'))
      .catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error) + String(error)).not.toContain('Ann');
    expect(error).toMatchObject({ status: 400 });
  });

  test('gets an error, and nothing that was held, when a stream breaks off', async () => {
    const frames = streamOf([role, frame({ content: 'held text' })]).replace('data: [DONE]\n\n', '');
    await using opened = await open([{ stream: [frames], after: 'cut' }], gateway);
    const { text, error } = await readText(opened);
    expect(error).toBeInstanceOf(Error);
    expect(text.includes('text')).toBe(false);
  });

  test('ends the upstream call when it disconnects', async () => {
    await using opened = await open(
      [
        {
          stream: [streamOf([role, frame({ content: 'and then' })]).replace('data: [DONE]\n\n', '')],
          after: 'hang',
        },
      ],
      gateway,
    );
    const leaving = new AbortController();
    const called = opened.client.chat.completions.create(
      { ...ask('x'), stream: true },
      { signal: leaving.signal },
    );
    await expect.poll(() => opened.upstream.seen.length, { timeout: 30_000 }).toBe(1);
    leaving.abort();
    await expect(called).rejects.toThrow(OpenAI.APIUserAbortError);
    await expect.poll(() => opened.upstream.connections(), { timeout: 30_000 }).toBe(0);
  });
});
