import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { anySample } from '../../json-texts.ts';
import { bind, bindPuppet, bindQuick, open } from '../harness.ts';
import { ask, linesOf, neverOpened, newFile, openTape, record, replay } from './bench.ts';

/** The same binding with a command that cannot start. */
const gone = (binding: ReturnType<typeof bind>) => ({ ...binding, command: '/nowhere/at/all', args: [] });

test('any output and any end of a process is replayed byte for byte', async () => {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const text = fc.string({ unit: 'binary' }).map((words) => new TextEncoder().encode(words));
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), text);
  const runs = fc.array(fc.record({ stdout: bytes, stderr: bytes, code: fc.nat(255) }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(runs, async (all) => {
      const file = newFile();
      const recorded: unknown[] = [];
      const messages = all.map((_, index) => ask({ index }));
      for (const [index, { stdout, stderr, code }] of all.entries()) {
        const args = [base64(stdout), base64(stderr), String(code)];
        const binding = bind('says.sh', { args });
        recorded.push(...(await record(file, binding, [ask({ index })])));
        expect(recorded[index]).toMatchObject({ exitCode: code, stdout: Buffer.from(stdout) });
      }
      expect(await replay(file, gone(bind('says.sh')), messages)).toStrictEqual(recorded);
    }),
    { numRuns: 6 },
  );
});

test('any JSON that a server answers is replayed byte for byte', async () => {
  const results = fc.sample(
    anySample.map(({ text }) => text.replaceAll(/[\r\n]/g, ' ')),
    40,
  );
  const messages = results.map((result, index) =>
    ask({ index, write: `{"jsonrpc":"2.0","id":%ID,"result":${result}}\n` }),
  );
  const file = newFile();
  const recorded = await record(file, bindPuppet(), messages);
  expect(recorded).toStrictEqual(results.map((result) => ({ via: 'rpc', result, error: undefined })));
  expect(await replay(file, gone(bindPuppet({ warm: true })), messages)).toStrictEqual(recorded);
});

const ends = [
  {
    title: 'an end by a signal',
    binding: bind('killed-by-signal.sh'),
    shape: { signal: 'SIGKILL', exitCode: null },
  },
  { title: 'a timeout', binding: bind('hang.sh', { timeoutMs: 100 }), shape: { code: 'PROCESS_TIMEOUT' } },
  {
    title: 'too much output',
    binding: bind('flood.sh', { maxOutputBytes: 1000 }),
    shape: { code: 'OUTPUT_LIMIT' },
  },
  { title: 'a process that does not start', binding: bind('/nowhere'), shape: { code: 'PROCESS_START' } },
  { title: 'the death of a server', binding: bindQuick(), args: { die: 3 }, shape: { code: 'SERVER_EXIT' } },
  {
    title: 'an error of a server',
    binding: bindPuppet(),
    args: { write: '{"jsonrpc":"2.0","id":%ID,"error":{"code": -1, "message": "no"}}\n' },
    shape: { error: '{"code": -1, "message": "no"}' },
  },
];

test.each(ends)('$title is replayed', async ({ binding, args = {}, shape }) => {
  const file = newFile();
  const recorded = await record(file, binding, [ask(args)]);
  expect(recorded).toMatchObject([shape]);
  expect(await replay(file, gone(binding), [ask(args)])).toStrictEqual(recorded);
});

test('equal requests get their replies in the recorded order, each once', async () => {
  const file = newFile();
  const pid = ask({ pid: 1 });
  const recorded = await record(file, bindQuick(), [pid, ask({ x: 1 }), pid, pid]);
  expect(new Set(recorded.map((each) => JSON.stringify(each))).size).toBe(4);
  const again = await replay(file, gone(bindQuick()), [pid, pid, pid, ask({ x: 1 }), pid]);
  expect(again).toMatchObject([
    recorded[0],
    recorded[2],
    recorded[3],
    recorded[1],
    {
      code: 'REPLAY_MISS',
      message:
        'the cassette has no reply to this request of tool "demo": it was recorded 3 times, and each recorded reply is used once',
    },
  ]);
});

test('concurrent requests are answered in the order in which they began', async () => {
  const file = newFile();
  const cassette = await openTape({ record: file });
  const { transport } = await open(bindPuppet());
  const wrapped = cassette.wrap(bindPuppet(), () => transport);
  const first = wrapped.exchange(ask({ same: 1 }));
  const second = wrapped.exchange(ask({ same: 1 }));
  const write = '{"jsonrpc":"2.0","id":2,"result":"second"}\n{"jsonrpc":"2.0","id":1,"result":"first"}\n';
  const third = wrapped.exchange(ask({ write: `${write}{"jsonrpc":"2.0","id":3,"result":"third"}\n` }));
  await Promise.all([first, second, third]);
  await cassette.close();
  expect(linesOf(file).flatMap(({ number }) => number ?? [])).toStrictEqual([2, 1, 3]);
  const again = await replay(file, gone(bindPuppet()), [ask({ same: 1 }), ask({ same: 1 })]);
  expect(again).toMatchObject([{ result: '"first"' }, { result: '"second"' }]);
});

test('an aborted request is not recorded, and its replay is not answered', async () => {
  const file = newFile();
  const cassette = await openTape({ record: file });
  const { transport } = await open(bind('hang.sh'));
  const wrapped = cassette.wrap(bind('hang.sh'), () => transport);
  const caller = new AbortController();
  const call = wrapped.exchange(ask({}), caller.signal);
  caller.abort();
  await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  await cassette.close();
  const again = await openTape({ replay: file });
  const silent = again.wrap(bind('hang.sh'), neverOpened);
  await expect(silent.exchange(ask({}), caller.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(again.misses()).toBe(0);
  await expect(silent.exchange(ask({}))).rejects.toMatchObject({
    code: 'REPLAY_MISS',
    message: 'the cassette has no reply to this request of tool "demo": none of its exchanges is recorded',
  });
  expect(again.misses()).toBe(1);
  await silent.close();
  await expect(silent.exchange(ask({}))).rejects.toBeInstanceOf(RuntimeError);
});
