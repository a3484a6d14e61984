import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject } from '../../../../src/base/json/json.ts';
import { serveTestGateway, type TestServer } from '../../http/serve-gateway.ts';
import type { SeenRequest } from '../../upstream-server.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../../upstreams/openai-upstream.ts';
import { aiScenes, openaiScenes, otherScenes, type Scene } from './sdk-scenes.ts';

const allow = '#!/bin/sh\ncat > /dev/null\necho \'{"allow": true}\'\n';

const spec = (url: string, more: string) => `
state_store: {type: memory}
providers: [{id: main, type: openai-compatible, model: m, base_url: "${url}/v1", credential: {api_key: sk-upstream}}]
${more}`;

const hooks = 'hooks: {allow: {command: ./allow.sh, hook: provider}}\n';
const modes: Readonly<Record<string, string>> = {
  'without hooks': '',
  held: hooks,
  windowed: `${hooks}gateway: {stream: windowed, window: 3}`,
};

let upstream: OpenAiUpstream;
const direct = new Map<Scene, unknown>();

beforeAll(async () => {
  upstream = await startOpenAiUpstream();
});
afterAll(() => upstream[Symbol.asyncDispose]());

async function play({ replies, run }: Scene, url: string) {
  upstream.reply(replies);
  const result = await run(`${url}/v1`).then(
    (value) => ({ value: plain(value) }),
    (error: unknown) => ({ thrown: tellError(error) }),
  );
  return { result, seen: upstream.seen.map(tellRequest) };
}

async function playDirect(scene: Scene): Promise<unknown> {
  const known = direct.get(scene) ?? (await play(scene, upstream.url));
  direct.set(scene, known);
  return known;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

function tellError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  const told = plain(error);
  const members = isObject(told) ? Object.entries(told) : [];
  return { name, message, ...Object.fromEntries(members.filter(([key]) => !ofTransport.has(key))) };
}

/** Members of errors that contain the address or all headers. */
const ofTransport = new Set(['url', 'headers', 'responseHeaders', 'requestBodyValues', 'stack']);

/** Without the headers of the connection and the provider's credential. */
function tellRequest({ method, url, headers, body }: SeenRequest) {
  const told = Object.entries(headers).filter(([name]) => !ownHeaders.has(name));
  return { method, url, body, headers: Object.fromEntries(told.toSorted()) };
}

const ownHeaders = new Set([
  ...[
    'host',
    'connection',
    'content-length',
    'transfer-encoding',
    'accept',
    'accept-encoding',
    'accept-language',
  ],
  ...['sec-fetch-mode', 'authorization'],
]);

describe.each(Object.entries(modes))('through a gateway %s, as without one', (_, mode) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await serveTestGateway(spec(upstream.url, mode), { 'allow.sh': allow });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each([...openaiScenes, ...aiScenes, ...otherScenes])('$title', async (scene) => {
    expect(await play(scene, server.url)).toEqual(await playDirect(scene));
  });
});
