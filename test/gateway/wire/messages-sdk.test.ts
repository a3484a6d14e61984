import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { serveTestGateway } from '../http/serve-gateway.ts';
import type { SeenRequest } from '../upstream-server.ts';
import { type MessagesReply, message, startMessagesUpstream, text } from '../upstreams/messages-upstream.ts';
import { messageScenes, type Scene } from './messages-scenes.ts';

const allow = '#!/bin/sh\ncat > /dev/null\necho \'{"allow": true}\'\n';

const spec = (url: string, gateway: string) => `
state_store: {type: memory}
providers: [{id: main, type: anthropic, model: claude-test, base_url: "${url}", credential: {api_key: sk-ant-test}}]
hooks:
  allow: {command: ./allow.sh, hook: provider}
gateway: ${gateway}`;

const modes = {
  held: '{opaque: [image, file]}',
  windowed: '{opaque: [image, file], stream: windowed}',
};

async function play({ replies, run }: Scene, gateway: string | undefined) {
  let given: readonly MessagesReply[] = replies;
  await using upstream = await startMessagesUpstream(() => {
    const [next = { message: message([text('no more replies')]) }, ...rest] = given;
    given = rest;
    return next;
  });
  await using server =
    gateway === undefined
      ? undefined
      : await serveTestGateway(spec(upstream.url, gateway), { 'allow.sh': allow });
  const client = new Anthropic({
    baseURL: server?.url ?? upstream.url,
    apiKey: 'sk-ant-test',
    maxRetries: 0,
    logLevel: 'off',
  });
  const result = await run(client).then(
    (value) => ({ value: plain(value) }),
    (error: unknown) => ({ thrown: tellError(error) }),
  );
  return { result, seen: upstream.seen.map(tellRequest) };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

function tellError(error: unknown): unknown {
  if (!(error instanceof Anthropic.APIError)) return String(error);
  const { name, message: said, status, type, requestID, error: body } = error;
  return { name, said, status, type, requestID, body };
}

/** Without the headers of the connection and the provider's credential. */
function tellRequest({ method, url, headers, body }: SeenRequest) {
  const told = Object.entries(headers).filter(([name]) => !ownHeaders.has(name));
  return { method, url, body, headers: Object.fromEntries(told.toSorted()) };
}

const ownHeaders = new Set([
  ...['host', 'connection', 'content-length', 'accept', 'accept-encoding', 'accept-language'],
  ...['sec-fetch-mode', 'user-agent', 'authorization', 'x-api-key'],
]);

describe.each(Object.entries(modes))('the SDK of Anthropic, streams %s', (_, gateway) => {
  test.each(messageScenes)('behaves through a gateway as it does directly: $title', async (scene) => {
    const direct = await play(scene, undefined);
    expect(await play(scene, gateway)).toEqual(direct);
  });
});
