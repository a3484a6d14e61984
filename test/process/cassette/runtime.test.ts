import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type Runtime, type RuntimeOptions } from '../../../src/index.ts';
import { linesOf } from './bench.ts';

const secret = 'topsecret-"value"/1';

const yaml = `
apiVersion: signalbox/v1
kind: RuntimeConfig
metadata: {name: desk}
spec:
  tools:
    sentiment: {exec: {command: ./bin/tool, env: [API_KEY]}}
    clock: {exec: {command: ./bin/server, runtime: server, warm: true}}
  evals:
    length: {command: ./bin/eval}
  hooks:
    guard: {hook: tool, phases: [before_execution], command: ./bin/guard}
    diary: {hook: tool, mode: observe, command: ./bin/guard}
    marks: {hook: eval, mode: observe, command: ./bin/guard}
  providers:
    - {id: main, type: mock, model: scripted, additional_config: {responses: [{text: REPLY}]}}
`;

const pipeline = `
apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: talk}
spec:
  runtime: ./runtime.yaml
  steps:
    - {id: mood, tool: sentiment, args: {text: fine}}
    - {id: answer, chat: {provider: main, messages: "My key is \${steps.mood.result.key}.", tools: [clock]}}
  output: {reply: "\${steps.answer.text}"}
`;

/** Each program leaves a mark when it starts. */
const programs: Readonly<Record<string, string>> = {
  tool: `cat >/dev/null; echo "key $API_KEY" >&2; printf '{"result":{"n":12345678901234567890,"key":"%s"}}' "$(printf %s "$API_KEY" | sed 's/"/\\\\"/g')"`,
  server: `n=0; while read -r line; do n=$((n + 1)); id=\${line#*'"id":'}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "\${id%%,*}" "$n"; done`,
  eval: `cat >/dev/null; echo '{"score": 0.25, "detail": "short"}'`,
  guard: `case $(cat) in *forbidden*) echo '{"allow": false, "reason": "no"}';; *) echo '{"allow": true}';; esac`,
};

function desk(reply = 'Paid.'): string {
  const folder = mkdtempSync(join(tmpdir(), 'cassette-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'started'));
  writeFileSync(join(folder, 'runtime.yaml'), yaml.replace('REPLY', reply));
  writeFileSync(join(folder, 'talk.yaml'), pipeline);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n: >'${folder}/started/${name}'\n${text}\n`, {
      mode: 0o755,
    });
  }
  return folder;
}

async function use<T>(
  folder: string,
  cassette: RuntimeOptions['cassette'],
  work: (runtime: Runtime) => Promise<T>,
  env: Readonly<Record<string, string>> = { API_KEY: secret },
): Promise<T> {
  const host = { PATH: process.env['PATH'], ...env };
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false, cassette, env: host });
  onTestFinished(() => runtime.close());
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** Calls everything once. Generated ids are left out. */
async function work(runtime: Runtime) {
  return {
    tools: [
      await runtime.tools.call('sentiment', { text: 'fine' }),
      await runtime.tools.call('sentiment', { text: 'forbidden' }),
      await runtime.tools.call('clock', { at: 1 }),
      await runtime.tools.call('clock', { at: 1 }),
    ],
    eval: await runtime.evals.call('length', { content: 'text' }),
    fired: await runtime.hooks.fire({
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'sentiment', args: { text: 'forbidden' } },
    }),
  };
}

const hidden = (documents: unknown) =>
  JSON.parse(JSON.stringify(documents).replaceAll(JSON.stringify(secret).slice(1, -1), '[redacted]'));

test('a replay of a runtime gives the same documents, and starts no process', async () => {
  const folder = desk();
  const record = join(folder, 'run.jsonl');
  const recorded = await use(folder, { record }, work);
  expect(recorded.tools.map(({ status }) => status)).toStrictEqual(['ok', 'denied', 'ok', 'ok']);
  expect(readdirSync(join(folder, 'started')).toSorted()).toStrictEqual(['eval', 'guard', 'server', 'tool']);

  const other = desk();
  for (const replay of [record, record]) {
    const documents = await use(other, { replay }, work, { API_KEY: 'another value altogether' });
    expect(documents).toStrictEqual(hidden(recorded));
  }
  expect(readdirSync(join(other, 'started'))).toStrictEqual([]);
  rmSync(join(other, 'bin'), { recursive: true });
  expect(await use(other, { replay: record }, work, {})).toStrictEqual(hidden(recorded));
});

test('the file contains no secret of a process, and only its owner may read it', async () => {
  const folder = desk();
  const record = join(folder, 'run.jsonl');
  await use(folder, { record }, async (runtime) => {
    await work(runtime);
    await runtime.tools.call('sentiment', { text: `my key is ${secret}, in Base64 ${btoa(`u:${secret}`)}` });
  });
  const text = readFileSync(record, 'utf8');
  expect(text).toContain('my key is [redacted]');
  for (const form of [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    btoa(`u:${secret}`),
  ]) {
    expect(text).not.toContain(form);
    expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
  }
  expect((statSync(record).mode & 0o777).toString(8)).toBe('600');
});

test('a live entry runs for real besides the replayed rest', async () => {
  const folder = desk();
  const record = join(folder, 'run.jsonl');
  await use(folder, { record }, work);
  const other = desk();
  writeFileSync(
    join(other, 'bin/guard'),
    `#!/bin/sh\n: >'${other}/started/guard'\ncat >/dev/null\necho '{"allow": true}'\n`,
  );
  const documents = await use(other, { replay: record, live: ['guard'] }, work);
  expect(documents.tools.map(({ status }) => status)).toStrictEqual(['ok', 'failed', 'ok', 'ok']);
  expect(documents.tools[1]).toMatchObject({
    error: {
      code: 'REPLAY_MISS',
      message:
        'the cassette has no reply to this request of tool "sentiment": its one recorded exchange is for other requests; the nearest request differs at args.text',
      hint: 'Record again with `--record FILE`, or let it run for real with `--live sentiment`.',
    },
  });
  expect(documents.fired.verdict).toBe('allow');
  expect(readdirSync(join(other, 'started'))).toStrictEqual(['guard']);
});

test('a replay can be recorded again, with its live parts', async () => {
  const folder = desk();
  const [first, second] = [join(folder, 'first.jsonl'), join(folder, 'second.jsonl')];
  const recorded = await use(folder, { record: first }, work);
  await use(folder, { replay: first, record: second, live: ['length'] }, work);
  const other = desk();
  expect(await use(other, { replay: second }, work)).toStrictEqual(hidden(recorded));
  const kept = (file: string) =>
    linesOf(file)
      .flatMap(({ key }) => key ?? [])
      .toSorted();
  expect(kept(second)).toStrictEqual(kept(first));
});

test('model calls are in the same file, and secrets of processes are hidden there too', async () => {
  const folder = desk();
  const record = join(folder, 'run.jsonl');
  const talk = (of: string) => async (runtime: Runtime) => {
    const { status, output } = await runtime.run(join(of, 'talk.yaml'));
    return { status, output };
  };
  const recorded = await use(folder, { record }, talk(folder));
  expect(recorded).toStrictEqual({ status: 'completed', output: { reply: 'Paid.' } });
  expect(readFileSync(record, 'utf8')).toContain('My key is [redacted].');
  expect(readFileSync(record, 'utf8')).not.toContain(JSON.stringify(JSON.stringify(secret)).slice(3, -3));
  const other = desk('Never said.');
  expect(await use(other, { replay: record }, talk(other), {})).toStrictEqual(recorded);
  const live = await use(other, { replay: record, live: ['main'] }, talk(other), {});
  expect(live.output).toStrictEqual({ reply: 'Never said.' });
  expect(readdirSync(join(other, 'started'))).toStrictEqual([]);
});
