import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiProvider } from '../open-gateway.ts';
import { chatAnswer } from '../upstream-server.ts';
import { type Serving, serve } from './serving.ts';

/** Every upstream answer contains it. No client may see it unless a hook has allowed it. */
const secret = 'QUETZALCOATL';

const scripts = {
  allow: `#!/bin/sh\ncat > /dev/null; echo '{"allow": true}'\n`,
  deny: `#!/bin/sh\nif grep -q ${secret}; then echo '{"allow": false}'; else echo '{"allow": true}'; fi\n`,
};
const limits = 'limits: {upstream_ms: 2000, idle_ms: 2000, answer_bytes: 1000000, held_bytes: 1000000}';

type Talk = (socket: Socket) => void | Promise<void>;

const json = JSON.stringify(chatAnswer(secret));
const fine = JSON.stringify(chatAnswer('Hello'));
const head = (status: string, ...headers: readonly string[]) =>
  `HTTP/1.1 ${status}\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n`;
const jsonHead = (length: number, ...more: readonly string[]) =>
  head('200 OK', 'content-type: application/json', `content-length: ${length}`, ...more);
const streamHead = head('200 OK', 'content-type: text/event-stream', 'connection: close');
const chunk = (content: string, finish: string | null = null) => {
  const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: finish };
  return `data: ${JSON.stringify({ ...base, choices: [choice] })}\n\n`;
};

const endlessly =
  (start: string, again: string): Talk =>
  async (socket) => {
    socket.write(start);
    while (!socket.destroyed) {
      if (!socket.write(again.repeat(64))) await drained(socket);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

async function drained(socket: Socket): Promise<void> {
  while (socket.writableNeedDrain && !socket.destroyed)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

const say =
  (text: string | Uint8Array): Talk =>
  (socket) =>
    void socket.end(text);

const sayAndWait =
  (text: string): Talk =>
  (socket) =>
    void socket.write(text);

interface Case {
  readonly title: string;
  readonly talk: Talk;
}

const broken: readonly Case[] = [
  { title: 'nothing at all', talk: say('') },
  { title: 'what is no HTTP', talk: say(`${secret}\r\n\r\n`) },
  { title: 'silence', talk: () => {} },
  { title: 'a status line and silence', talk: sayAndWait('HTTP/1.1 200 OK\r\n') },
  { title: 'a body that is cut off', talk: say(jsonHead(json.length + 10) + json) },
  { title: 'a body that stops', talk: sayAndWait(jsonHead(json.length + 10) + json) },
  {
    title: 'a chunk that is cut off',
    talk: say(
      `${head('200 OK', 'content-type: application/json', 'transfer-encoding: chunked')}ff\r\n${secret}`,
    ),
  },
  {
    title: 'a compressed body',
    talk: say(
      Buffer.concat([Buffer.from(jsonHead(gzipSync(json).length, 'content-encoding: gzip')), gzipSync(json)]),
    ),
  },
  {
    title: 'a redirect',
    talk: say(head('307 Temporary Redirect', `location: http://127.0.0.1:1/${secret}`, 'content-length: 0')),
  },
  {
    title: 'a permanent redirect',
    talk: say(head('301 Moved', `location: /${secret}`, 'content-length: 0')),
  },
  { title: 'not modified', talk: say(head('304 Not Modified', `etag: "${secret}"`)) },
  {
    title: 'another protocol',
    talk: sayAndWait(head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket')),
  },
  { title: 'endless headers', talk: endlessly('HTTP/1.1 200 OK\r\n', `x-a: ${secret}\r\n`) },
  { title: 'a huge header', talk: say(head('200 OK', `x-a: ${'x'.repeat(500_000)}`)) },
  {
    title: 'two lengths',
    talk: say(
      head('200 OK', 'content-type: application/json', 'content-length: 5', 'content-length: 600') + json,
    ),
  },
  {
    title: 'an endless body',
    talk: endlessly(head('200 OK', 'content-type: application/json', 'connection: close'), secret),
  },
];

const unreadable: readonly Case[] = [
  {
    title: 'HTML',
    talk: say(`${head('200 OK', 'content-type: text/html', 'connection: close')}<h1>${secret}</h1>`),
  },
  { title: 'an empty body', talk: say(jsonHead(0)) },
  { title: 'no content', talk: say(head('204 No Content')) },
  { title: 'half a document', talk: say(jsonHead(50) + json.slice(0, 50)) },
  { title: 'two documents', talk: say(jsonHead(json.length * 2) + json + json) },
  {
    title: 'Latin-1',
    talk: say(
      Buffer.concat([Buffer.from(jsonHead(json.length)), Buffer.from(json.replace('Q', '\u00e9'), 'latin1')]),
    ),
  },
  {
    title: 'a document of another API',
    talk: say(withBody({ type: 'message', content: [{ type: 'text', text: secret }] })),
  },
  { title: 'a key twice', talk: say(withText(json.replace('{"index"', '{"index":0,"index"'))) },
  {
    title: 'choices that are no list',
    talk: say(withBody({ ...chatAnswer(secret), choices: { message: secret } })),
  },
  {
    title: 'an unknown member with text of a kind that nobody knows',
    talk: say(
      withBody({
        ...chatAnswer('a'),
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: [{ type: 'hologram', text: secret }] },
            finish_reason: 'stop',
          },
        ],
      }),
    ),
  },
];

/** The upstream's comments keep a windowed stream open for as long as the client waits. */
const comments: Case = { title: 'of comments without end', talk: endlessly(streamHead, `: ${secret}\n\n`) };

const streams: readonly Case[] = [
  { title: 'that stop', talk: sayAndWait(streamHead + chunk(secret)) },
  { title: 'that end too early', talk: say(streamHead + chunk(secret)) },
  { title: 'without an event', talk: say(streamHead) },
  { title: 'of comments only', talk: say(`${streamHead}: ${secret}\n\n`) },
  { title: 'of what is no JSON', talk: say(`${streamHead}data: ${secret}\n\ndata: [DONE]\n\n`) },
  {
    title: 'with a chunk of another API',
    talk: say(`${streamHead}event: message_start\ndata: {"type":"message_start","x":"${secret}"}\n\n`),
  },
  {
    title: 'with an error in the middle',
    talk: say(`${streamHead}${chunk('a')}data: {"error":{"message":"${secret}"}}\n\n`),
  },
  {
    title: 'of bytes that are no UTF-8',
    talk: say(
      Buffer.concat([Buffer.from(streamHead), Buffer.from(chunk(secret).replace('Q', '\u00e9'), 'latin1')]),
    ),
  },
  { title: 'with an event that never ends', talk: endlessly(streamHead, `data: ${secret}`) },
  { title: 'with a line that never ends', talk: endlessly(`${streamHead}data: "`, secret) },
  { title: 'of text without end', talk: endlessly(streamHead, chunk(secret)) },
  { title: 'that are cut off in an event', talk: say(streamHead + chunk(secret).slice(0, 60)) },
  {
    title: 'that are compressed',
    talk: say(
      `${head('200 OK', 'content-type: text/event-stream', 'content-encoding: br', 'connection: close')}${secret}`,
    ),
  },
];

function withText(text: string): string {
  return jsonHead(Buffer.byteLength(text)) + text;
}

function withBody(value: unknown): string {
  return withText(JSON.stringify(value));
}

let server: Server;
let talk: Talk = say('');
const sockets = new Set<Socket>();
let served: Serving;

describe.each([
  { kind: 'hold', verdict: 'allow', gateway: '' },
  { kind: 'hold', verdict: 'deny', gateway: '' },
  { kind: 'windowed', verdict: 'allow', gateway: 'stream: windowed, ' },
  { kind: 'windowed', verdict: 'deny', gateway: 'stream: windowed, ' },
] as const)(
  'a gateway whose streams are $kind and whose hook would $verdict',
  ({ kind, gateway, verdict }) => {
    beforeAll(async () => {
      server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {}).on('close', () => sockets.delete(socket));
        socket.once('data', () => void talk(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      served = await serve(
        `providers: [${openaiProvider(`http://127.0.0.1:${port}`)}]\ngateway: {${gateway}audit: {}, ${limits}}\nhooks: {guard: {command: ./guard.sh, hook: provider}}`,
        { 'guard.sh': scripts[verdict] },
      );
    });

    afterAll(async () => {
      await served[Symbol.asyncDispose]();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });

    async function ask(isStream: boolean) {
      const response = await fetch(`${served.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: isStream }),
        signal: AbortSignal.timeout(25_000),
      });
      let text = '';
      try {
        for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
      } catch (error) {
        if (error instanceof Error && error.name === 'TimeoutError') throw error;
        text += '[cut]';
      }
      return { status: response.status, headers: JSON.stringify([...response.headers]), text };
    }

    test.each([...broken, ...unreadable])(
      '$title is an error with a code, and none of it is forwarded',
      async (one) => {
        talk = one.talk;
        const { status, headers, text } = await ask(false);
        expect(status).toBeGreaterThanOrEqual(500);
        expect(JSON.parse(text).error).toMatchObject({
          code: expect.any(String),
          message: expect.any(String),
        });
        expect(text + headers).not.toContain(secret);
      },
    );

    test.each([...broken, ...streams, ...(kind === 'hold' ? [comments] : [])])(
      '$title, where a stream is asked for, ends in an error',
      async (one) => {
        talk = one.talk;
        const { status, headers, text } = await ask(true);
        expect(headers).not.toContain(secret);
        if (status === 200) expect(text).toMatch(/"error"|\[cut\]/);
        expect(text).not.toContain('[DONE]');
        if (verdict === 'deny') expect(text).not.toContain(secret);
      },
    );

    test('an error with the status of success is judged as an answer', async () => {
      const error = withBody({ error: { message: secret } });
      talk = say(error);
      const { status, text } = await ask(false);
      if (verdict === 'deny')
        expect({ status, isTold: text.includes(secret) }).toEqual({ status: 400, isTold: false });
      else expect({ status, isTold: error.endsWith(text) }).toEqual({ status: 200, isTold: true });
    });

    test('early hints and 100 Continue are not taken for the answer', async () => {
      talk = say(`${head('103 Early Hints', `link: <${secret}>`)}${head('102 Processing')}${withText(fine)}`);
      const { status, text, headers } = await ask(false);
      expect({ status, text }).toEqual({ status: 200, text: fine });
      expect(headers).not.toContain(secret);
    });

    test('response headers reveal nothing that no hook has seen', async () => {
      const loud = [
        `x-request-id: ${secret} and more @`,
        `set-cookie: a=${secret}`,
        `server: ${secret}`,
        `openai-x: <${secret}>`,
      ];
      talk = say(jsonHead(fine.length, ...loud) + fine);
      const { status, headers } = await ask(false);
      expect(status).toBe(200);
      expect(headers).not.toContain(secret);
    });

    test('an unreachable upstream and one that resets are reported by a code', async () => {
      talk = (socket) => void socket.resetAndDestroy();
      const { status, text } = await ask(false);
      expect({ status, code: JSON.parse(text).error.code }).toEqual({
        status: 502,
        code: 'upstream_unreachable',
      });
    });

    test('the gateway still works afterwards, holds no connection, and has leaked nothing', async () => {
      talk = say(withText(fine));
      expect(await ask(false)).toMatchObject({ status: 200, text: fine });
      await expect.poll(() => sockets.size, { timeout: 30_000 }).toBeLessThanOrEqual(2);
      await expect.poll(() => served.children().length, { timeout: 30_000 }).toBeLessThanOrEqual(1);
      expect(await served.stop()).toBe(0);
      expect(served.printed()).not.toContain(secret);
      expect(served.printed()).not.toMatch(/unhandled|uncaught|\bat .+:\d+:\d+/i);
    });
  },
);
