import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RuntimeEvent } from '../../../src/index.ts';
import { openTestGateway, type TestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream, type UpstreamServer } from '../upstream-server.ts';

export type Answer = Parameters<typeof startUpstream>[0];

export const path = '/v1/chat/completions';
export const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

export const answerChat =
  (text: string): Answer =>
  (request, response) => {
    if (!request.body.includes('"stream":true')) return answerJson(chatAnswer(text))(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(chunks({ role: 'assistant', content: '' }, { content: text }, 'stop'));
  };

/** The frames of a streamed chat. A string is the finish reason. */
export function chunks(...deltas: readonly (Readonly<Record<string, string>> | string)[]): string {
  const frames = deltas.map((delta) => ({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [
      typeof delta === 'string'
        ? { index: 0, delta: {}, finish_reason: delta }
        : { index: 0, delta, finish_reason: null },
    ],
  }));
  const texts = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
  return texts.join('') + (deltas.some((delta) => typeof delta === 'string') ? 'data: [DONE]\n\n' : '');
}

const hook = `#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)
request = event["request"]
line = [event["phase"], request["provider_id"], request["model"], len(request["messages"])]
open(os.path.join(os.path.dirname(__file__), "asked"), "a").write(json.dumps(line) + "\\n")
denied = sys.argv[1:] == line[:2]
print(json.dumps({"allow": not denied, "reason": "no"}))
`;

/** `spec.hooks` with a hook that logs its requests, and denies the phase and provider in `words`. */
export const noting = (words = '') =>
  `hooks: {noting: {command: ./noting.py, hook: provider, args: [${words}]}}`;

interface Opened {
  readonly gateway: TestGateway;
  readonly main: UpstreamServer;
  readonly second: UpstreamServer;
  /** The hook's requests: phase, provider, model, number of messages. */
  asked(): unknown[];
  warnings(): string[];
}

interface Options {
  readonly main?: Answer;
  readonly second?: Answer;
  readonly types?: readonly [string, string];
  /** Further YAML members of the providers `main` and `second`. */
  readonly more?: string;
  readonly other?: string;
  readonly spec?: string;
}

const busy = answerJson({ error: { message: 'busy', type: 'server_error' } }, 503);

export async function open(options: Options = {}): Promise<Opened> {
  const { types = ['openai-compatible', 'openai-compatible'], more = '', other = '' } = options;
  const main = await startUpstream(options.main ?? busy);
  const second = await startUpstream(options.second ?? answerChat('from the second'));
  onTestFinished(async () => {
    await Promise.all([main, second].map((server) => server[Symbol.asyncDispose]()));
  });
  const entry = (id: string, model: string, type: string | undefined, url: string) =>
    `id: ${id}, type: ${type}, model: ${model}, base_url: "${url}/v1", credential: {api_key: key-of-${id}}, headers: {x-team-token: header-of-${id}}`;
  const spec = `providers:
  - {${entry('main', 'm', types[0], main.url)}, ${more} fallback: [second]}
  - {${entry('second', 'n', types[1], second.url)}, ${other}}
${options.spec ?? 'state_store: {type: memory}'}`;
  const events: RuntimeEvent[] = [];
  const onEvent = (event: RuntimeEvent) => void events.push(event);
  const gateway = await openTestGateway(spec, { 'noting.py': hook }, { onEvent });
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return {
    ...{ gateway, main, second },
    asked: () =>
      readFileSync(join(gateway.folder, 'asked'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    warnings: () =>
      events.flatMap((event) =>
        event.type === 'note' && event.level === 'warn' ? [`${event.name}: ${event.message}`] : [],
      ),
  };
}
