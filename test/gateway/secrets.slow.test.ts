import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Serving, serve } from './hostile/serving.ts';
import { openaiProvider } from './open-gateway.ts';
import { chatAnswer, type SeenRequest, startUpstream } from './upstream-server.ts';

/** Must not be in any log, row, file or answer. Each is in one place of the calls below. */
const seeded = {
  prompt: 'Xanthippe-Zwiebel <xanthippe@zwiebel.example>',
  system: 'IBAN DE89370400440532013000',
  toolArgs: 'card 4929 7226 5379 7141',
  toolResult: 'passport K0098123Q7',
  answer: 'Hermenegildo Quijano, 555-0147-882',
  error: 'Wolfhart-Birkensee',
  header: 'header-Ludmilla-Trautwein',
  query: 'query-Ottokar-Fensterbusch',
  model: 'model-Kunigunde-Apfelstrudel',
  user: 'user-Balthasar-Morgenroth',
  member: 'member-Philippine-Silberzahn',
  broken: 'broken-Gottlieb-Hagebutten',
  path: 'path-Friedegunde-Ehrenpreis',
};

const upstreamKey = 'sk-kY7wQ2vT9zR4mXb3';
const clientKey = 'client-9f8e7d6c5b4a39281706f5e4d3c2b1a0';

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.max(1, text.length - 7) }, (_, at) => text.slice(at, at + 8));
}

/** The seeds of which the text has a piece, and the piece. Pieces that every text has do not count. */
function foundIn(text: string, seeds: Readonly<Record<string, string>>): string[] {
  return Object.entries(seeds).flatMap(([name, seed]) => {
    const piece = piecesOf(seed).find((each) => text.includes(each));
    return piece === undefined ? [] : [`${name}: ${JSON.stringify(piece)}`];
  });
}

function keptBy({ folder }: Serving): string {
  const kept = join(folder, '.signalbox');
  return readdirSync(kept)
    .map((name) => readFileSync(join(kept, name)))
    .map((bytes) => `${bytes.toString('latin1')}\n${bytes.toString('utf8')}`)
    .join('\n');
}

const scripts = {
  allow: `#!/bin/sh\ncat > /dev/null; echo '{"allow": true}'\n`,
  deny: `#!/bin/sh\ncat > /dev/null; echo '{"allow": false, "reason": "not here"}'\n`,
  redact: `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
response = event.get("response")
if response is None: print('{"allow": true}')
else: print(json.dumps({"allow": True, "replace": {"message": {"role": "assistant", "content": "gone"}}}))
`,
  'crash with what it read': `#!/bin/sh\ncat >&2; exit 3\n`,
  'babble what it read': `#!/bin/sh\ncat\n`,
  'quote what it read in no verdict': `#!/usr/bin/env python3
import json, sys
print(json.dumps({"verdict": sys.stdin.read()}))
`,
  hang: `#!/bin/sh\ncat; sleep 30\n`,
  none: '',
};

async function callAll({ url }: Serving): Promise<string> {
  const messages = [
    { role: 'system', content: seeded.system },
    { role: 'user', content: seeded.prompt },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'pay', arguments: JSON.stringify({ a: seeded.toolArgs }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: seeded.toolResult },
  ];
  const whole = { model: 'm', messages, user: seeded.user, extra: { member: seeded.member } };
  const headers = {
    authorization: `Bearer ${clientKey}`,
    'x-extra': seeded.header,
    'x-session-id': 'session-1',
  };
  const told: string[] = [];
  const send = async (path: string, body: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const request = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: text,
    };
    const response = await fetch(`${url}${path}`, { ...request, signal: AbortSignal.timeout(20_000) });
    const answer = await response.text().catch((error: unknown) => `cut ${error}`);
    told.push(`${response.status} ${JSON.stringify([...response.headers])} ${answer}`);
  };
  const chat = '/v1/chat/completions';
  await send(chat, whole);
  await send(chat, { ...whole, stream: true });
  await send(chat, { ...whole, user: 'fail' });
  await send(chat, { ...whole, user: 'cut' });
  await send(chat, { ...whole, user: 'cut', stream: true });
  await send(chat, { ...whole, user: 'nonsense' });
  await send(chat, { ...whole, model: seeded.model });
  await send(chat, `{"model": "m", "messages": [{"role": "user", "content": "${seeded.broken}`);
  await send(chat, { ...whole, messages: [{ role: seeded.broken, content: [{ type: seeded.broken }] }] });
  await send(`${chat}?${encodeURIComponent(seeded.query)}=${seeded.query}`, whole);
  await send(`/v1/${seeded.path}`, whole);
  await send('/v1/embeddings', { model: 'm', input: [seeded.prompt] });
  await send('/v1/responses', { model: 'm', input: seeded.prompt });
  return told.join('\n');
}

async function startLoudUpstream() {
  return await startUpstream(({ body }: SeenRequest, response) => {
    const json = { 'content-type': 'application/json', 'x-request-id': 'req-1', 'x-loud': seeded.error };
    if (body.includes('"user":"fail"')) {
      response.writeHead(400, json);
      response.end(JSON.stringify({ error: { message: `${seeded.error} ${body}`, code: seeded.error } }));
    } else if (body.includes('"user":"nonsense"')) {
      response.writeHead(200, json);
      response.end(`<html>${seeded.answer} ${body}`);
    } else if (body.includes('"user":"cut"')) {
      response.writeHead(200, {
        'content-type': body.includes('"stream":true') ? 'text/event-stream' : 'application/json',
      });
      response.write(`data: ${JSON.stringify(chatAnswer(seeded.answer))}\n\n`);
      setTimeout(() => response.destroy(), 50);
    } else if (body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
      const choice = {
        index: 0,
        delta: { role: 'assistant', content: seeded.answer },
        finish_reason: 'stop',
      };
      response.end(`data: ${JSON.stringify({ ...base, choices: [choice] })}\n\ndata: [DONE]\n\n`);
    } else {
      response.writeHead(200, json);
      response.end(JSON.stringify(chatAnswer(seeded.answer)));
    }
  });
}

describe.each(Object.entries(scripts))('with a hook that would %s', (title, script) => {
  const hooks =
    script === '' ? '' : 'hooks: {guard: {command: ./guard.sh, hook: provider, timeout_ms: 1500}}';

  test('keys and personal data are in no log, no file and no error', async () => {
    await using upstream = await startLoudUpstream();
    await using served = await serve(
      `providers: [${openaiProvider(upstream.url).replace('credential_env: DESK_KEY', `api_key: ${upstreamKey}`)}]\ngateway: {audit: {head: {stdout: true, every: 1s}}}\n${hooks}`,
      { 'guard.sh': script },
    );
    const told = await callAll(served);
    expect(upstream.seen.length).toBeGreaterThan(title === 'allow' || title === 'none' ? 4 : -1);
    expect(await served.stop()).toBe(0);
    const secrets = { ...seeded, upstreamKey, clientKey };
    // What a hook writes to stderr is logged on purpose.
    const logged = title === 'crash with what it read' ? {} : seeded;
    expect(foundIn(served.printed(), { ...logged, upstreamKey, clientKey })).toEqual([]);
    expect(foundIn(keptBy(served), secrets)).toEqual([]);
    const { model, ...untold } = secrets;
    // A client may see what it sent itself, such as an unknown model, and what a hook has allowed.
    const passes = title === 'allow' || title === 'none';
    expect(passes ? [] : foundIn(told, { answer: untold.answer, error: untold.error })).toEqual([]);
    expect(foundIn(told, { upstreamKey, clientKey, header: untold.header })).toEqual([]);
    expect(model).not.toBe('');
  });
});

test('a defect that ends the process reveals nothing of the calls in progress', async () => {
  await using upstream = await startUpstream(() => {});
  const crash = "process.on('SIGUSR2', () => { throw new Error('a defect'); })";
  await using served = await serve(
    `providers: [${openaiProvider(upstream.url).replace('credential_env: DESK_KEY', `api_key: ${upstreamKey}`)}]\ngateway: {audit: {}}\nhooks: {guard: {command: ./guard.sh, hook: provider}}`,
    { 'guard.sh': scripts.allow },
    { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crash)}` } },
  );
  const calls = callAll(served).catch(() => {});
  await expect.poll(() => upstream.seen.length, { timeout: 30_000 }).toBeGreaterThan(0);
  process.kill(served.pid, 'SIGUSR2');
  await calls;
  expect(served.printed()).toContain('a defect');
  expect(foundIn(served.printed(), { ...seeded, upstreamKey, clientKey })).toEqual([]);
  expect(foundIn(keptBy(served), { ...seeded, upstreamKey, clientKey })).toEqual([]);
});
