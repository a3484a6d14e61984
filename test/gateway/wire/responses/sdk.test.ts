import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, streamText, type ToolSet } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveTestGateway, type TestServer } from '../../http/serve-gateway.ts';
import { openaiProvider } from '../../open-gateway.ts';
import type { UpstreamServer } from '../../upstream-server.ts';
import {
  called,
  type ResponsesReply,
  said,
  startResponsesUpstream,
  thought,
} from '../../upstreams/responses-upstream.ts';

const allow = `#!/bin/sh
cat >/dev/null
echo '{"allow": true}'
`;

const replies: Readonly<Record<string, ResponsesReply>> = {
  plain: { output: [said('Hello from upstream, with "quotes" and é.')] },
  refusal: { output: [said('', { content: [{ type: 'refusal', refusal: 'I cannot do that.' }] })] },
  reasoning: { output: [thought('Let me think about it.'), said('Forty-two.')] },
  tools: { output: [called('weather', { city: 'Ulm' })] },
  parallel: {
    output: [
      said('Two things.'),
      called('weather', { city: 'Ulm' }, 1),
      called('weather', '{"city": "Bonn", "n": 1.0}', 2),
    ],
  },
  structured: { output: [said('{"city":"Ulm","degrees":12}')] },
  search: {
    output: [
      { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'ulm' } },
      said('Ulm is old.', {
        content: [
          {
            type: 'output_text',
            text: 'Ulm is old.',
            logprobs: [],
            annotations: [
              {
                type: 'url_citation',
                url: 'https://ulm.example/',
                title: 'Ulm',
                start_index: 0,
                end_index: 3,
              },
            ],
          },
        ],
      }),
    ],
  },
  custom: {
    output: [
      {
        id: 'ctc_1',
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_9',
        name: 'patch',
        input: '*** Begin Patch',
      },
    ],
  },
  incomplete: {
    output: [said('Cut off', { status: 'incomplete' })],
    more: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  },
  failed: {
    output: [],
    more: { status: 'failed', error: { code: 'server_error', message: 'The model broke.' } },
  },
};

function replyTo(body: Readonly<Record<string, unknown>>): ResponsesReply {
  const name = String(body['user']);
  const status = /^status (\d+)$/.exec(name)?.[1];
  if (status === undefined) return replies[name] ?? { output: [said('?')] };
  const error = {
    message: `It is a ${status}.`,
    type: 'invalid_request_error',
    param: null,
    code: `code_${status}`,
  };
  return { status: Number(status), error: { error }, headers: { 'x-should-retry': 'false' } };
}

let upstream: UpstreamServer;
let gateway: TestServer;

const spec = (url: string, more = '') => `
state_store: {type: memory}
providers: [${openaiProvider(url)}]
hooks:
  reads: {command: ./allow.sh, hook: provider}
${more}`;

beforeAll(async () => {
  upstream = await startResponsesUpstream(replyTo);
  gateway = await serveTestGateway(spec(upstream.url), { 'allow.sh': allow });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Does the same work with the upstream and through the gateway; also returns the requests that the upstream got. */
async function both(work: (baseURL: string) => Promise<unknown>) {
  const results: { result: unknown; sent: string[] }[] = [];
  for (const url of [upstream.url, gateway.url]) {
    const before = upstream.seen.length;
    const result = await work(`${url}/v1`).catch(describeError);
    results.push({ result, sent: upstream.seen.slice(before).map(({ body }) => body) });
  }
  const [direct, guarded] = results;
  return { direct, guarded };
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  return {
    name,
    message,
    status: Reflect.get(error, 'status'),
    code: Reflect.get(error, 'code'),
    type: Reflect.get(error, 'type'),
    requestId: Reflect.get(error, 'requestID'),
  };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

const weather = {
  type: 'function',
  name: 'weather',
  description: 'Tells the weather',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;
const format = { type: 'json_schema', name: 'weather', strict: true, schema: { type: 'object' } } as const;

const names = Object.keys(replies);
const statuses = [400, 401, 403, 404, 409, 422, 429, 500, 503];

describe('the openai package', () => {
  const client = (baseURL: string) => new OpenAI({ apiKey: 'sk-client', baseURL, maxRetries: 0 });
  const params = (user: string) => ({
    model: 'm',
    instructions: 'Be kind.',
    input: [{ role: 'user' as const, content: 'Hi' }],
    tools: [weather],
    text: { format },
    user,
    metadata: { team: 'blue' },
  });

  it.each(names)('reads the same response from an answer with %s', async (name) => {
    const { direct, guarded } = await both(async (url) => {
      const { data, response, request_id } = await client(url).responses.create(params(name)).withResponse();
      return { data, status: response.status, request_id };
    });
    expect(plain(guarded)).toEqual(plain(direct));
  });

  it.each(names)('reads the same events from a streamed answer with %s', async (name) => {
    const { direct, guarded } = await both(async (url) => {
      const events: unknown[] = [];
      for await (const event of await client(url).responses.create({ ...params(name), stream: true }))
        events.push(event);
      return events;
    });
    expect(plain(guarded)).toEqual(plain(direct));
  });

  it.each(names)('assembles the same response from a streamed answer with %s', async (name) => {
    const { direct, guarded } = await both((url) =>
      client(url).responses.stream(params(name)).finalResponse(),
    );
    expect(plain(guarded)).toEqual(plain(direct));
  });

  it.each(statuses)('throws the same for status %s', async (status) => {
    for (const stream of [false, true]) {
      const { direct, guarded } = await both((url) =>
        client(url).responses.create({ ...params(`status ${status}`), stream }),
      );
      expect(plain(guarded)).toEqual(plain(direct));
    }
  });

  it('retries the same number of times', async () => {
    let count = 0;
    await using flaky = await startResponsesUpstream(() =>
      count++ % 3 < 2
        ? { status: 503, error: { error: { message: 'busy' } }, headers: { 'retry-after-ms': '1' } }
        : { output: [said('At last.')] },
    );
    await using own = await serveTestGateway(spec(flaky.url), { 'allow.sh': allow });
    for (const url of [flaky.url, own.url]) {
      const retrying = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 2 });
      expect((await retrying.responses.create({ model: 'm', input: 'x' })).output_text).toBe('At last.');
    }
    expect(count).toBe(6);
  });

  it('ends the upstream’s answer when it disconnects', async () => {
    const open =
      'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}\n\n';
    await using endless = await startResponsesUpstream(() => ({ open }));
    await using own = await serveTestGateway(spec(endless.url), { 'allow.sh': allow });
    const stop = new AbortController();
    const asked = client(`${own.url}/v1`).responses.create(
      { model: 'm', input: 'x', stream: true },
      { signal: stop.signal },
    );
    await expect.poll(() => endless.seen.length, { timeout: 20_000 }).toBe(1);
    stop.abort();
    await asked
      .then(async (events) => {
        for await (const _ of events);
      })
      .catch(() => {});
    await expect.poll(() => endless.connections(), { timeout: 20_000 }).toBe(0);
  });
});

const tools: ToolSet = {
  weather: {
    description: 'Tells the weather',
    inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
  },
};

describe('the provider of the AI SDK', () => {
  const model = (baseURL: string) => createOpenAI({ apiKey: 'sk-client', baseURL }).responses('m');
  const options = (user: string) => ({
    prompt: 'Hi',
    system: 'Be kind.',
    maxRetries: 0,
    tools,
    providerOptions: { openai: { user, store: false } },
  });

  it.each(names)('reads the same from an answer with %s', async (name) => {
    const { direct, guarded } = await both(async (url) => {
      const { content, finishReason, usage } = await generateText({ model: model(url), ...options(name) });
      return { content: content.map(withoutOwn), finishReason, usage };
    });
    expect(plain(guarded)).toEqual(plain(direct));
  });

  it.each(names)('reads the same from a streamed answer with %s', async (name) => {
    const { direct, guarded } = await both(async (url) => {
      const parts: unknown[] = [];
      const { fullStream } = streamText({ model: model(url), ...options(name), onError: () => {} });
      for await (const part of fullStream) parts.push(withoutOwn(part));
      return parts;
    });
    expect(plain(guarded)).toEqual(plain(direct));
  });
});

/** Without what differs from call to call. */
function withoutOwn(part: object): unknown {
  if ('type' in part && (part.type === 'start-step' || part.type === 'finish-step'))
    return { type: part.type };
  if ('type' in part && part.type === 'error' && 'error' in part) return describeError(part.error);
  // The package makes the id.
  return 'type' in part && part.type === 'source' ? { ...part, id: '' } : part;
}

describe('the model of LangChain', () => {
  const model = (baseURL: string, user: string) =>
    new ChatOpenAI({
      model: 'm',
      apiKey: 'sk-client',
      configuration: { baseURL },
      maxRetries: 0,
      useResponsesApi: true,
      user,
    });

  it.each(names)('reads the same message from an answer with %s', async (name) => {
    const { direct, guarded } = await both(async (url) => plain(await model(url, name).invoke('Hi')));
    expect(guarded).toEqual(direct);
  });

  it.each(names)('reads the same chunks from a streamed answer with %s', async (name) => {
    const { direct, guarded } = await both(async (url) => {
      const chunks: unknown[] = [];
      for await (const chunk of await model(url, name).stream('Hi')) chunks.push(plain(chunk));
      return chunks;
    });
    expect(guarded).toEqual(direct);
  });
});
