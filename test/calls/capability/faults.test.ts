import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ErrorCode, type Fault, RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { meetsThreshold, runEval } from '../../../src/calls/capability/eval.ts';
import { askHook } from '../../../src/calls/capability/hook.ts';
import { runTool } from '../../../src/calls/tool-call/call.ts';
import { unscored } from '../../../src/contract/eval.ts';
import { allow } from '../../../src/contract/hook.ts';
import { onTransports } from '../../cite.ts';
import { call, event, request, sayEval, sayHook, sayTool } from '../../dialects/verdicts.ts';
import { callEval, callHook, callTool } from './asking.ts';
import { type Bench, type Entry, openBench } from './bench.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly runs: Entry['runs'];
  readonly entry?: Partial<Entry>;
  readonly code: ErrorCode;
}

const brief = { timeoutMs: 300 };
const small = { maxOutputBytes: 64 * 1024 };

const oneshot: readonly Row[] = [
  {
    title: 'crashes',
    cites: 'PK-6-32@oneshot PK-7-10@oneshot',
    runs: ['crash.sh'],
    code: 'PROCESS_EXIT',
  },
  {
    title: 'crashes after a good reply',
    cites: 'PK-6-32@oneshot PK-7-10@oneshot',
    runs: ['crash-after-reply.sh'],
    code: 'PROCESS_EXIT',
  },
  {
    title: 'exits non-zero after a clean verdict',
    cites: 'PK-6-32@oneshot PK-7-10@oneshot',
    runs: ['prints.sh', '{"allow": true, "result": 1, "score": 1}', '1'],
    code: 'PROCESS_EXIT',
  },
  {
    title: 'is ended by a signal',
    cites: 'PK-6-33@oneshot PK-7-11@oneshot',
    runs: ['killed-by-signal.sh'],
    code: 'PROCESS_SIGNAL',
  },
  {
    title: 'is ended by a signal after a good reply',
    cites: 'PK-6-33@oneshot PK-7-11@oneshot',
    runs: ['killed-after-reply.sh'],
    code: 'PROCESS_SIGNAL',
  },
  {
    title: 'hangs',
    cites: 'PK-6-34@oneshot PK-7-12@oneshot',
    runs: ['hang.sh'],
    entry: brief,
    code: 'PROCESS_TIMEOUT',
  },
  {
    title: 'hangs after a good reply',
    cites: 'PK-6-34@oneshot PK-7-12@oneshot',
    runs: ['hang-after-reply.sh'],
    entry: brief,
    code: 'PROCESS_TIMEOUT',
  },
  {
    title: 'floods stdout',
    cites: 'PK-6-35@oneshot PK-7-13@oneshot',
    runs: ['flood.sh'],
    entry: small,
    code: 'OUTPUT_LIMIT',
  },
  {
    title: 'is missing',
    cites: 'PK-6-36@oneshot PK-7-14@oneshot',
    runs: ['no-such-file.sh'],
    code: 'PROCESS_START',
  },
  {
    title: 'has no #! line',
    cites: 'PK-6-36@oneshot PK-7-14@oneshot',
    runs: ['noshebang'],
    code: 'PROCESS_START',
  },
  {
    title: 'needs an interpreter that is missing',
    cites: 'PK-6-36@oneshot PK-7-14@oneshot',
    runs: ['missing-interpreter'],
    code: 'PROCESS_START',
  },
  {
    title: 'must never start',
    cites: 'PK-6-36@oneshot PK-7-14@oneshot',
    runs: ['allow.sh'],
    entry: { refused: 'its sandbox cannot be had' },
    code: 'PROCESS_START',
  },
  {
    title: 'prints garbage',
    cites: 'PK-6-31@oneshot PK-3-15@oneshot PK-3-16@oneshot',
    runs: ['garbage.sh'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'prints nothing',
    cites: 'PK-6-31@oneshot PK-3-15@oneshot PK-3-16@oneshot',
    runs: ['silent.sh'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'prints two objects',
    cites: 'PK-6-31@oneshot PK-3-15@oneshot PK-3-16@oneshot',
    runs: ['two-objects.sh'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'prints a banner first',
    cites: 'PK-6-31@oneshot PK-3-15@oneshot PK-3-16@oneshot',
    runs: ['banner.sh'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'prints its reply in an array',
    cites: 'PK-6-31@oneshot PK-3-15@oneshot PK-3-16@oneshot',
    runs: ['top-level-array.sh'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'prints what is not UTF-8',
    cites: 'PK-6-31@oneshot PK-3-15@oneshot PK-3-16@oneshot',
    runs: ['invalid-utf8.sh'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'says {"ack": true}',
    cites: 'PK-6-30@oneshot PK-3-15@oneshot PK-3-16@oneshot PK-6-31@oneshot',
    runs: ['ack.sh'],
    code: 'REPLY_MALFORMED',
  },
];

const server: readonly Row[] = [
  {
    title: 'dies with an exit code',
    cites: 'PK-6-38@server PK-7-16@server',
    runs: ['server', 'dies-during'],
    code: 'SERVER_EXIT',
  },
  {
    title: 'exits 0 instead of answering',
    cites: 'PK-6-38@server PK-7-16@server',
    runs: ['server', 'dies-during', '0'],
    code: 'SERVER_EXIT',
  },
  {
    title: 'is ended by a signal',
    cites: 'PK-6-38@server PK-7-16@server',
    runs: ['server', 'killed-by-signal'],
    code: 'SERVER_EXIT',
  },
  {
    title: 'dies before it reads',
    cites: 'PK-6-38@server PK-7-16@server',
    runs: ['server', 'dies-at-start'],
    code: 'SERVER_EXIT',
  },
  {
    title: 'closes its stdout',
    cites: 'PK-6-38@server PK-7-16@server',
    runs: ['server', 'closes-stdout'],
    code: 'SERVER_EXIT',
  },
  {
    title: 'never answers',
    cites: 'PK-6-34@server PK-7-12@server',
    runs: ['hang.sh'],
    entry: brief,
    code: 'PROCESS_TIMEOUT',
  },
  {
    title: 'answers over several lines',
    cites: 'PK-6-34@server PK-7-12@server',
    runs: ['server-prints', '{\n  "id": ID,\n  "result": {"allow": true}\n}'],
    entry: brief,
    code: 'PROCESS_TIMEOUT',
  },
  {
    title: 'floods stdout',
    cites: 'PK-6-35@server PK-7-13@server',
    runs: ['server-prints', `{"id":ID,"result":"${'x'.repeat(70_000)}"}`],
    entry: small,
    code: 'OUTPUT_LIMIT',
  },
  {
    title: 'is missing',
    cites: 'PK-6-36@server PK-7-14@server',
    runs: ['no-such-file'],
    code: 'PROCESS_START',
  },
  {
    title: 'must never start',
    cites: 'PK-6-36@server PK-7-14@server',
    runs: ['server'],
    entry: { refused: 'its sandbox cannot be had' },
    code: 'PROCESS_START',
  },
  {
    title: 'answers with an error',
    cites: 'PK-6-37@server PK-7-15@server',
    runs: ['server-prints', '{"id":ID,"error":{"code":-32001,"message":"city not found"}}'],
    code: 'TOOL_ERROR',
  },
  {
    title: 'answers with an error beside a result',
    cites: 'PK-6-37@server PK-7-15@server',
    runs: ['server-prints', '{"id":ID,"result":{"allow":true},"error":{"message":"city not found"}}'],
    code: 'TOOL_ERROR',
  },
  {
    title: 'answers with an error that is text',
    cites: 'PK-6-31@server PK-3-15@server PK-3-16@server',
    runs: ['server-prints', '{"id":ID,"result":{"allow":true},"error":"city not found"}'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'answers with neither result nor error',
    cites: 'PK-6-31@server PK-3-15@server PK-3-16@server',
    runs: ['server-prints', '{"id":ID,"allow":true,"score":1}'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'answers another id',
    cites: 'PK-6-31@server PK-3-15@server PK-3-16@server',
    runs: ['server-prints', '{"id":"ID","result":{"allow":true,"score":1}}'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'answers without an id',
    cites: 'PK-6-31@server PK-3-15@server PK-3-16@server',
    runs: ['server-prints', '{"result":{"allow":true,"score":1},"of":ID}'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'answers in an array',
    cites: 'PK-6-31@server PK-3-15@server PK-3-16@server',
    runs: ['server-prints', '[{"id":ID,"result":{"allow":true,"score":1}}]'],
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'answers with what is not UTF-8',
    cites: 'PK-6-31@server PK-3-15@server PK-3-16@server',
    runs: ['server', 'invalid-utf8'],
    code: 'REPLY_MALFORMED',
  },
];

test.each(onTransports([...oneshot, ...server]))(
  '$title has failed, is unscored, denies',
  async ({ on, runs, entry, code }) => {
    const bench = openBench();
    await expectFault(bench, { ...entry, on, runs }, code);
  },
);

/** Runs the entry as tool, eval and hook. None throws, and each names the fault and the entry. */
async function expectFault(bench: Bench, entry: Entry, code: ErrorCode): Promise<void> {
  const [tool, evaluation, answer] = await Promise.all([
    callTool(bench, entry),
    callEval(bench, entry),
    callHook(bench, { ...entry, name: 'guard' }),
  ]);
  const text = expect.stringMatching(/./);
  const error = { code, message: text, hint: text };
  expect(tool).toMatchObject({ status: 'failed', error });
  // Evals have a separate code for errors that a peer reports.
  const reported = code === 'TOOL_ERROR' ? 'EVAL_ERROR' : code;
  expect(evaluation).toMatchObject({ status: 'unscored', error: { ...error, code: reported } });
  expect(evaluation).toEqual(unscored(faultOf(evaluation)?.message ?? '', faultOf(evaluation)));
  const bounds = [{}, { min_score: 0 }, { max_score: 1 }];
  expect(bounds.map((threshold) => meetsThreshold(evaluation, threshold))).toEqual([false, false, false]);
  const what = code === 'REPLY_MALFORMED' ? 'gave no verdict' : 'failed';
  expect(answer).toMatchObject({ verdict: 'deny', enforced: false, metadata: { text: '{}' }, error });
  expect(answer.reason).toBe(`hook "guard" ${what}: ${faultOf(answer)?.message}`);
}

function faultOf(outcome: object): Fault | undefined {
  return 'error' in outcome ? (outcome.error as Fault) : undefined;
}

const onlyVerdicts = onTransports([
  { title: '"true"', cites: 'PK-6-30@oneshot', runs: ['allow-string.sh'] as const },
  { title: '1', cites: 'PK-6-30@oneshot', runs: ['allow-one.sh'] as const },
  { title: 'true twice', cites: 'PK-3-13@oneshot', runs: ['allow-twice.sh'] as const },
  { title: 'true beside Allow', cites: 'PK-3-14@oneshot', runs: ['allow-cased.sh'] as const },
  { title: 'true with a misspelt replace', cites: 'PK-6-47@oneshot', runs: ['modify-misspelt.sh'] as const },
]);

test.each(onlyVerdicts)('a filter that says $title denies', async ({ runs }) => {
  const answer = await callHook(openBench(), { runs, name: 'guard' });
  expect(answer).toMatchObject({
    verdict: 'deny',
    reason: expect.stringMatching(/^hook "guard" gave no verdict: ./),
    error: { code: 'REPLY_MALFORMED' },
  });
});

const clean = onTransports([
  {
    title: 'a grandchild that holds stdout',
    cites: 'PK-2-32@oneshot',
    runs: ['grandchild-holds-stdout.sh'] as const,
  },
  {
    title: 'a grandchild that holds nothing',
    cites: 'PK-2-32@oneshot',
    runs: ['grandchild-quiet.sh'] as const,
  },
  { title: 'stdin unread', cites: 'PK-2-11@oneshot', runs: ['never-reads.sh'] as const },
  { title: 'a byte order mark', cites: 'PK-3-01@oneshot', runs: ['bom.sh'] as const },
]);

test.each(clean)('a clean reply with $title is no fault', async ({ runs }) => {
  const bench = openBench();
  const tool = await callTool(bench, { runs });
  expect(tool.status).toBe('ok');
  expect(sayEval(await callEval(bench, { runs }))).toBe('scored 1 "" -');
  expect(sayHook(await callHook(bench, { runs }))).toBe('allow "" {}');
});

test('an open circuit fails, leaves unscored and denies, at once [PK-6-38@server PK-7-16@server]', async () => {
  const bench = openBench();
  const restart = { firstDelayMs: 1, maxDelayMs: 1, circuitDeaths: 2, circuitPauseMs: 60_000 };
  const entry = { on: 'server', runs: ['server', 'dies-at-start'], restart } as const;
  const [tool, evaluation, guard] = [bench.tool(entry), bench.evaluation(entry), bench.filter(entry)];
  const askAll = async () => [
    sayTool(await runTool(tool, { input: call, call: 'c' })),
    sayEval((await runEval(evaluation, { input: request, call: 'c' })).outcome),
    sayHook(await askHook(guard, { input: event, call: 'c' })),
  ];
  const dead = ['failed SERVER_EXIT', 'unscored SERVER_EXIT', 'deny SERVER_EXIT'];
  const left = ['failed SERVER_CIRCUIT_OPEN', 'unscored SERVER_CIRCUIT_OPEN', 'deny SERVER_CIRCUIT_OPEN'];
  expect([await askAll(), await askAll(), await askAll()]).toEqual([dead, dead, left]);
  expect(bench.started()).toHaveLength(6);
});

test('a server that recovers answers correctly again', async () => {
  const file = join(tmpdir(), 'broken');
  writeFileSync(file, '');
  const guard = openBench().filter({ on: 'server', runs: ['server', 'dies-while', file] });
  const ask = async () => sayHook(await askHook(guard, { input: event, call: 'c' }));
  expect(await ask()).toBe('deny SERVER_EXIT');
  rmSync(file);
  expect(await ask()).toBe('allow "" {}');
});

test('the data of a JSON-RPC error keeps its text [PK-3-23@server PK-5-29@server]', async () => {
  const outcome = await callTool(openBench(), { on: 'server', runs: ['server', 'rpc-error'] });
  expect(outcome).toMatchObject({
    status: 'failed',
    error: {
      message: 'city not found',
      details: {
        rpc: { text: '{"code": -32001, "message": "city not found", "data": {"id": 12345678901234567890}}' },
      },
    },
  });
});

const unbuildable = (() => {
  const metadata: Record<string, unknown> = {};
  metadata['itself'] = metadata;
  return metadata;
})();

test('a filter whose request cannot be built denies [PK-6-39@oneshot]', async () => {
  const bench = openBench();
  const request = {
    provider_id: '',
    model: '',
    messages: [],
    system_prompt: '',
    round: 1,
    metadata: unbuildable,
  };
  const answer = await callHook(
    bench,
    { runs: ['allow.sh'], name: 'guard' },
    {
      hook: 'provider',
      phase: 'before_call',
      request,
    },
  );
  expect(answer).toMatchObject({
    verdict: 'deny',
    reason: expect.stringMatching(/^hook "guard" failed: ./),
    error: { code: 'NESTING_TOO_DEEP' },
  });
  expect(bench.started()).toEqual([]);
});

test('a caller that aborts is denied', async () => {
  const bench = openBench();
  const port = bench.filter({ runs: ['hang.sh'], name: 'guard' });
  const answer = await askHook(port, { input: event, call: 'c', signal: AbortSignal.abort() });
  expect(answer).toMatchObject({ verdict: 'deny', error: { code: 'ABORTED' } });
});

test('an affirmative answer that is not accepted denies, and is reported as a denial', async () => {
  const bench = openBench();
  const seen: unknown[] = [];
  const accept = (affirmed: unknown) => {
    seen.push(affirmed);
    throw new RuntimeError('REPLY_MALFORMED', 'it does not fit');
  };
  const port = bench.filter({ runs: ['allow.sh'], name: 'guard' });
  const answer = await askHook(port, { input: event, call: 'c', accept });
  expect(seen).toEqual([allow('', new Json('{}'))]);
  expect(answer).toMatchObject({ verdict: 'deny', reason: 'hook "guard" gave no verdict: it does not fit' });
  expect(bench.events.at(-1)).toMatchObject({ type: 'decision', verdict: 'deny', reason: answer.reason });
});
