import { expect, test } from 'vitest';
import { answerJson } from '../upstream-server.ts';
import { type Answer, answerChat, ask, chunks, noting, open, path } from './open.ts';

const stream = (text: string, then: 'end' | 'cut' | 'hang'): Answer => {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (then === 'end') response.end();
      if (then === 'cut') response.destroy();
    });
  };
};

const begun = chunks({ role: 'assistant', content: '' });
const overloaded = 'data: {"error": {"type": "server_error", "message": "busy"}}\n\n';

interface Fault {
  readonly title: string;
  readonly main: Answer;
  readonly more?: string;
  /** Default: streamed and unstreamed. */
  readonly streams?: readonly boolean[];
  /** Behaves with hooks like another case, so it runs without them. */
  readonly isLikeAnother?: boolean;
}

const faults: readonly Fault[] = [
  ...[408, 409, 429, 500, 503, 529].map((status) => ({
    title: `answers with status ${status}`,
    main: answerJson({ error: { message: 'busy' } }, status),
    isLikeAnother: status !== 503,
  })),
  { title: 'hangs up', main: (_request, response) => void response.destroy() },
  { title: 'is silent', main: () => {}, more: 'request_timeout: 300ms,' },
  {
    title: 'breaks a whole answer off',
    main: (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"id"', () => response.destroy());
    },
    streams: [false],
  },
  { title: 'breaks a stream off before it begins', main: stream(begun, 'cut'), streams: [true] },
  { title: 'ends a stream before it begins', main: stream(begun, 'end'), streams: [true] },
  {
    title: 'does not begin its stream in time',
    main: stream(begun, 'hang'),
    more: 'request_timeout: 300ms,',
    streams: [true],
  },
  {
    title: 'tells in its stream that it is overloaded',
    main: stream(begun + overloaded, 'end'),
    streams: [true],
  },
];

test.each(faults)(
  'where an upstream $title, the next one answers [DS-UPSTREAM-01]',
  async ({ main, more, streams = [false, true], isLikeAnother = false }) => {
    const judged = isLikeAnother ? [] : [noting(), `${noting()}\ngateway: {stream: windowed}`];
    for (const spec of ['', ...judged]) {
      const opened = await open({
        ...{ main, spec: `state_store: {type: memory}\n${spec}` },
        ...(more && { more }),
      });
      for (const isStream of streams) {
        const body = JSON.stringify({ ...ask, stream: isStream });
        const response = await opened.gateway.post(path, body);
        expect([response.status, await response.text()]).toEqual([
          200,
          expect.stringContaining('from the second'),
        ]);
        expect(opened.warnings().at(-1)).toMatch(/^main: .*; "second" is called instead$/);
      }
      expect([opened.main.seen.length, opened.second.seen.length]).toEqual([streams.length, streams.length]);
      if (spec === '') continue;
      expect(opened.asked().slice(0, 3)).toEqual([
        ['before_call', 'main', 'm', 1],
        ['before_call', 'second', 'n', 1],
        ['after_call', 'second', 'n', 1],
      ]);
    }
  },
);

test('an unreachable upstream, or one without capacity, falls back to the next [DS-UPSTREAM-01]', async () => {
  const gone = await open({});
  await gone.main[Symbol.asyncDispose]();
  expect(await (await gone.gateway.post(path, ask)).text()).toContain('from the second');
  const full = await open({
    main: answerChat('from the first'),
    more: 'rate_limit: {requests_per_minute: 6}, request_timeout: 200ms,',
  });
  const texts = [];
  for (let call = 0; call < 2; call++) texts.push(await (await full.gateway.post(path, ask)).text());
  expect(texts).toEqual([
    expect.stringContaining('from the first'),
    expect.stringContaining('from the second'),
  ]);
});

test('the client gets the last upstream’s error when all fail', async () => {
  const opened = await open({ second: answerJson({ error: { message: 'the last word' } }, 502) });
  const response = await opened.gateway.post(path, ask);
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('the last word')]);
});

test('an upstream that fails three times in a row is skipped for a while', async () => {
  const opened = await open();
  for (let call = 0; call < 5; call++) await (await opened.gateway.post(path, ask)).text();
  expect([opened.main.seen.length, opened.second.seen.length]).toEqual([3, 5]);
  expect(opened.warnings()).toContainEqual(expect.stringContaining('3 times in a row'));
});

test.each([400, 401, 403, 404, 422])(
  'status %i is a fault of the request, and no other upstream is tried [DS-UPSTREAM-03]',
  async (status) => {
    for (const spec of ['', noting()]) {
      const main = answerJson({ error: { message: 'not so' } }, status);
      const opened = await open({ main, spec: `state_store: {type: memory}\n${spec}` });
      const response = await opened.gateway.post(path, ask);
      expect([response.status, await response.text()]).toEqual([status, expect.stringContaining('not so')]);
      expect(opened.second.seen).toEqual([]);
    }
  },
);

test('a redirect is not followed, and an error in a stream that the request causes is forwarded [DS-UPSTREAM-03]', async () => {
  const moved = await open({ main: answerJson('', 307, { location: 'http://127.0.0.1:1/' }) });
  expect((await moved.gateway.post(path, ask)).status).toBe(502);
  const invalid = 'data: {"error": {"type": "invalid_request_error", "message": "not so"}}\n\n';
  const told = await open({ main: stream(begun + invalid, 'end') });
  expect(await (await told.gateway.post(path, { ...ask, stream: true })).text()).toContain('not so');
  expect([moved.second.seen, told.second.seen]).toEqual([[], []]);
});

test.each(['hold', 'windowed'])(
  'a stream that has begun to answer stays with its upstream [DS-UPSTREAM-03]: %s',
  async (mode) => {
    const main = stream(begun + chunks({ content: 'begun, but' }), 'cut');
    for (const spec of ['', noting()]) {
      const opened = await open({
        main,
        spec: `state_store: {type: memory}\ngateway: {stream: ${mode}, window: 1}\n${spec}`.replace(
          mode === 'hold' ? ', window: 1' : '',
          '',
        ),
      });
      const text = await opened.gateway
        .post(path, { ...ask, stream: true })
        .then((response) => response.text())
        .catch(() => '');
      expect(text).not.toContain('from the second');
      expect([opened.main.seen.length, opened.second.seen.length]).toEqual([1, 0]);
    }
  },
);

test.each([
  { words: 'before_call, main', asked: [0, 0] },
  { words: 'before_call, second', asked: [1, 0] },
  { words: 'after_call, second', asked: [1, 1] },
])('a denial is final: $words [DS-UPSTREAM-03, DS-UPSTREAM-04]', async ({ words, asked }) => {
  const opened = await open({ spec: `state_store: {type: memory}\n${noting(words)}` });
  const response = await opened.gateway.post(path, ask);
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: expect.objectContaining({ code: 'content_filter' }) },
  ]);
  expect([opened.main.seen.length, opened.second.seen.length]).toEqual(asked);
});

test('no other upstream is tried after a denial of the first one’s answer [DS-UPSTREAM-03]', async () => {
  const opened = await open({
    main: answerChat('from the first'),
    spec: `state_store: {type: memory}\n${noting('after_call, main')}`,
  });
  for (const stream of [false, true]) {
    expect((await opened.gateway.post(path, { ...ask, stream })).status).toBe(400);
  }
  expect(opened.second.seen).toEqual([]);
});

test('a text that a hook of `judge: new` allowed for one upstream is judged whole before a fallback gets it [DS-UPSTREAM-04]', async () => {
  const spec = `state_store: {type: memory}\n${noting()}\ngateway: {judge: {noting: new}}`;
  const opened = await open({ spec });
  const messages = ['one', 'two', 'three'].map((content) => ({ role: 'user', content }));
  await (await opened.gateway.post(path, { ...ask, messages })).text();
  await (await opened.gateway.post(path, { ...ask, messages })).text();
  const before = opened.asked().filter((line) => Array.isArray(line) && line[0] === 'before_call');
  expect(before.filter((line) => Array.isArray(line) && line[1] === 'second')).toEqual([
    ['before_call', 'second', 'n', 3],
    ['before_call', 'second', 'n', 3],
  ]);
});

test('the call ends when the client disconnects, and no other upstream is tried [DS-UPSTREAM-03]', async () => {
  const { promise: isAsked, resolve } = Promise.withResolvers<void>();
  const opened = await open({ main: () => resolve(), more: 'request_timeout: 500ms,' });
  const leaving = new AbortController();
  const request = new Request(`http://127.0.0.1${path}`, {
    ...{ method: 'POST', body: JSON.stringify(ask), signal: leaving.signal },
    headers: { 'content-type': 'application/json' },
  });
  const answer = opened.gateway.gateway.fetch(request).catch(() => undefined);
  await isAsked;
  leaving.abort();
  await answer;
  await new Promise((done) => setTimeout(done, 700));
  expect(opened.second.seen).toEqual([]);
  expect(opened.warnings().filter((text) => text.includes('instead'))).toEqual([]);
});
