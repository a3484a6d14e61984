import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Binding } from '../../../src/process/binding.ts';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { acquireWatcher } from '../../../src/process/launch/process-groups.ts';
import { openWarmOneshot } from '../../../src/process/open.ts';
import type { SpareLimits } from '../../../src/process/spare/spares.ts';
import { allOf, bind, faultOf, isRunning, launchers, numberAfter, textOf, until } from '../harness.ts';

const answers = 'request=$(cat); printf "%s %s" $$ "$request"';

function scriptOf(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'spare-')), 'script.sh');
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

async function open(
  command: string,
  overrides: Partial<Binding> = {},
  limits?: Partial<SpareLimits>,
  launcher = launchers[0],
) {
  const events: RuntimeEvent[] = [];
  const context = {
    launch: await openLauncher(launcher ?? 'auto'),
    emit: (event: RuntimeEvent) => void events.push(event),
  };
  const binding = bind(command, { cwd: dirname(command), spares: 2, ...overrides });
  const all = { hasRoom: () => true, maxAgeMs: 60_000, sweepMs: 60_000, ...limits };
  const transport = openWarmOneshot(binding, context, all);
  const releaseWatcher = acquireWatcher(() => {});
  onTestFinished(async () => {
    await transport.close();
    await releaseWatcher();
  });
  const started = () => allOf(events, 'process.started').map(({ pid }) => pid);
  const ended = () => allOf(events, 'process.ended').map(({ pid }) => pid);
  const waiting = () => started().filter((pid) => !ended().includes(pid));
  return {
    transport,
    events,
    waiting,
    started,
    notes: (level: 'debug' | 'warn') =>
      allOf(events, 'note').flatMap((note) => (note.level === level ? [note.message] : [])),
    filled: () => until(() => waiting().length === binding.spares, 'spares'),
    exchange: (body: string) => transport.exchange({ method: 'execute', body }),
    ask: async (body: string) => textOf(await transport.exchange({ method: 'execute', body })),
  };
}

describe.each(launchers)('spares of the %s launcher', (launcher) => {
  test('a link to itself beside the script does no harm', async () => {
    const script = scriptOf(answers);
    symlinkSync('loop', join(dirname(script), 'loop'));
    const bench = await open(script, { spares: 1 }, {}, launcher);
    bench.transport.warm();
    await bench.filled();
    const [waiting] = bench.waiting();
    expect(await bench.ask('hello')).toBe(`${waiting} hello`);
  });

  test('a waiting process serves a call, and another takes its place [DS-WARM-01@oneshot]', async () => {
    const { transport, ask, filled, waiting, started } = await open(scriptOf(answers), {}, {}, launcher);
    expect(started()).toEqual([]);
    transport.warm();
    await filled();
    const before = waiting();
    const pid = Number.parseInt(await ask('one'), 10);
    expect(before).toContain(pid);
    await filled();
    expect(waiting()).not.toContain(pid);
    expect(started()).toHaveLength(3);
  });

  test('no process serves two requests, however many arrive at once [DS-WARM-01@oneshot]', async () => {
    const { transport, ask, filled } = await open(scriptOf(answers), { spares: 3 }, {}, launcher);
    transport.warm();
    await filled();
    const bodies = Array.from({ length: 20 }, (_, index) => `request ${index}`);
    const replies = await Promise.all(bodies.map(ask));
    expect(replies.map((reply) => reply.replace(/^\d+ /, ''))).toEqual(bodies);
    expect(new Set(replies.map((reply) => Number.parseInt(reply, 10))).size).toBe(20);
  });

  test('a request of 20 MB reaches it completely', async () => {
    const { transport, ask, filled } = await open(scriptOf('wc -c'), {}, {}, launcher);
    transport.warm();
    await filled();
    expect(Number(await ask('x'.repeat(20_000_000)))).toBe(20_000_001);
  });

  test('one that was killed while it waited is replaced, and no call fails [DS-WARM-03@oneshot]', async () => {
    const { transport, ask, filled, waiting, notes } = await open(scriptOf(answers), {}, {}, launcher);
    transport.warm();
    await filled();
    const before = waiting();
    for (const pid of before) process.kill(-pid, 'SIGKILL');
    await until(() => before.every((pid) => !waiting().includes(pid)), 'end of the spares');
    await filled();
    expect(waiting()).toContain(Number.parseInt(await ask('one'), 10));
    expect(notes('debug').toSorted()).toEqual(
      before.map((pid) => `process ${pid} ended before it received a request`).toSorted(),
    );
    expect(notes('warn')).toEqual([]);
  });

  test('one that died unnoticed, just before its request, causes a cold start and no failure [DS-WARM-03@oneshot]', async () => {
    const { transport, ask, filled, waiting } = await open(scriptOf(answers), {}, {}, launcher);
    transport.warm();
    await filled();
    const before = waiting();
    for (const pid of before) process.kill(-pid, 'SIGKILL');
    // They are dead before this thread does anything else.
    block(300);
    const reply = await ask('one');
    expect(reply).toMatch(/^\d+ one$/);
    expect(before).not.toContain(Number.parseInt(reply, 10));
  });

  test('close() kills waiting processes with their group, without ending their stdin [DS-WARM-05@oneshot]', async () => {
    const file = scriptOf('sleep 60 & echo child $! >&2; cat; touch effect');
    const { transport, events, filled, waiting } = await open(file, {}, {}, launcher);
    transport.warm();
    await filled();
    await until(() => allOf(events, 'stderr').length === 2, 'children');
    const pids = [...waiting(), ...allOf(events, 'stderr').map(({ line }) => numberAfter('child', line))];
    await transport.close();
    await until(() => !pids.some(isRunning), 'end of the spares');
    expect(existsSync(join(dirname(file), 'effect'))).toBe(false);
    expect(allOf(events, 'process.ended').map(({ signal }) => signal)).toEqual(['SIGKILL', 'SIGKILL']);
  });
});

describe('a waiting process', () => {
  test('is not used once its script has changed [DS-WARM-02@oneshot]', async () => {
    const file = scriptOf('cat >/dev/null; echo old');
    const { transport, ask, filled } = await open(file);
    transport.warm();
    await filled();
    writeFileSync(file, '#!/bin/sh\ncat >/dev/null; echo new\n');
    expect(await ask('')).toBe('new\n');
    await filled();
    expect(await ask('')).toBe('new\n');
  });

  test.each([
    { title: 'beside it', name: 'words.sh' },
    { title: 'in a folder beside it', name: 'lib/words.sh' },
  ])(
    'is not used once a file $title has changed, of the same length and at once [DS-WARM-02@oneshot]',
    async ({ name }) => {
      const file = scriptOf(`. ./${name}; cat >/dev/null; echo $word`);
      const part = join(dirname(file), name);
      writeFile(part, 'word=one');
      const { transport, ask, filled, waiting } = await open(file);
      transport.warm();
      await filled();
      writeFileSync(part, 'word=two');
      expect(await ask('')).toBe('two\n');
      // The change above may be reported late, which replaces a spare process once more.
      await vi.waitFor(async () => {
        await filled();
        const before = waiting();
        // Files that the program writes for itself do not count as changes.
        writeFile(join(dirname(file), '__pycache__/x.pyc'), '1');
        writeFile(join(dirname(file), 'calls.log'), '1');
        await ask('');
        expect(waiting().filter((pid) => before.includes(pid))).toHaveLength(1);
      }, 10_000);
    },
  );

  test('is checked again if the interpreter is the command and the script an argument [DS-WARM-02@oneshot]', async () => {
    const file = scriptOf('cat >/dev/null; echo old');
    const { transport, ask, filled } = await open('/bin/sh', { args: ['script.sh'], cwd: dirname(file) });
    transport.warm();
    await filled();
    writeFileSync(file, 'cat >/dev/null; echo new');
    expect(await ask('')).toBe('new\n');
  });

  test('is ended when it is old, and another takes its place [DS-WARM-04@oneshot]', async () => {
    const { transport, filled, started, waiting } = await open(
      scriptOf(answers),
      {},
      { maxAgeMs: 300, sweepMs: 50 },
    );
    transport.warm();
    await filled();
    const before = waiting();
    await until(() => started().length >= 4 && !before.some(isRunning), 'new spares');
    expect(before).toHaveLength(2);
  });

  test('is ended when memory is short, and returns with it; calls work without [DS-WARM-04@oneshot]', async () => {
    let hasRoom = true;
    const { transport, ask, filled, waiting } = await open(
      scriptOf(answers),
      {},
      { hasRoom: () => hasRoom, sweepMs: 30 },
    );
    transport.warm();
    await filled();
    hasRoom = false;
    await until(() => waiting().length === 0, 'end of the spares');
    expect(await ask('one')).toMatch(/^\d+ one$/);
    expect(waiting()).toEqual([]);
    hasRoom = true;
    await filled();
  });

  test('that has read its request and then dies fails its call, which is made once [DS-WARM-03@oneshot]', async () => {
    const file = scriptOf('read -r line; echo "$line" >>effects.log; kill -9 $$');
    const { transport, exchange, filled } = await open(file);
    transport.warm();
    await filled();
    expect(await exchange('pay')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    expect(readFileSync(join(dirname(file), 'effects.log'), 'utf8')).toBe('pay\n');
  });

  test('that closed its stdin answers without the request, like a cold one', async () => {
    const { transport, ask, filled } = await open(scriptOf('exec </dev/null; sleep 1; echo done'), {
      spares: 1,
    });
    transport.warm();
    await filled();
    expect(await ask('one')).toBe('done\n');
  });

  test('is ended with its group at the deadline of its call, which reports its earlier output', async () => {
    const file = scriptOf('echo imported >&2; sleep 60 & echo child $! >&2; cat >/dev/null; wait');
    const { transport, exchange, events, filled } = await open(file, { timeoutMs: 300, spares: 1 });
    transport.warm();
    await filled();
    await until(() => allOf(events, 'stderr').length === 2, 'words');
    const fault = await faultOf(exchange('one'));
    expect(fault).toMatchObject({
      code: 'PROCESS_TIMEOUT',
      details: { stderr: expect.stringMatching(/^imported\nchild/) },
    });
    const child = numberAfter('child', fault.message);
    await until(() => !isRunning(child), 'end of the child');
  });

  test('is not used by a call with its own environment', async () => {
    const { transport, filled, waiting } = await open(scriptOf('cat >/dev/null; echo $WORD; echo $$ >&2'));
    transport.warm();
    await filled();
    const before = waiting();
    const reply = await transport.exchange({ method: 'execute', body: '', env: { WORD: 'mine' } });
    expect(textOf(reply)).toBe('mine\n');
    expect(waiting()).toEqual(before);
  });
});

test('a program that does not wait is started only five times, until its files change [DS-WARM-03@oneshot]', async () => {
  const file = scriptOf('echo x >>starts.log; echo "{}"');
  const { transport, ask, notes, started } = await open(file);
  transport.warm();
  await until(() => notes('warn').length === 1, 'note');
  const before = started().length;
  expect(before).toBeLessThanOrEqual(6);
  expect(await ask('')).toBe('{}\n');
  expect(await ask('')).toBe('{}\n');
  expect(started()).toHaveLength(before + 2);
  expect(notes('warn')).toEqual([expect.stringContaining('ends before it receives a request')]);
  appendFileSync(file, 'sleep 60');
  transport.warm();
  await until(() => started().length === before + 4, 'new spares');
});

test('a program that cannot be started is reported by the call, not by the spare', async () => {
  const { transport, exchange, events } = await open(join(tmpdir(), 'no-such-program'));
  transport.warm();
  expect((await faultOf(exchange('one'))).code).toBe('PROCESS_START');
  expect(events.filter(({ type }) => type !== 'note')).toEqual([]);
});

test('close() in the middle of the first start leaves nothing', async () => {
  const { transport, exchange, waiting } = await open(scriptOf(answers), { spares: 8 });
  transport.warm();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await transport.close();
  await transport.close();
  expect(waiting()).toEqual([]);
  expect((await faultOf(exchange('one'))).code).toBe('RUNTIME_CLOSED');
});

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
