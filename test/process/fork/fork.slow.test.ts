import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Reply } from '../../../src/contract/exchange.ts';
import type { Binding } from '../../../src/process/binding.ts';
import { acquireWatcher } from '../../../src/process/launch/process-groups.ts';
import { allOf, bind, faultOf, isRunning, numberAfter, open, textOf, until } from '../harness.ts';
import { scripts } from './scripts.ts';

function scriptOf(text: string, head = '#!/usr/bin/python3'): string {
  const file = join(mkdtempSync(join(tmpdir(), 'fork-')), 'script.py');
  writeFileSync(file, `${head}\n${text}\n`, { mode: 0o755 });
  return file;
}

function writeBeside(file: string, name: string, text: string): void {
  const path = join(dirname(file), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function openForked(command: string, overrides: Partial<Binding> = {}) {
  const opened = await open(bind(command, { cwd: dirname(command), isForked: true, ...overrides }));
  const replies: Reply[] = [];
  const exchange = async (body = '{}') => {
    const reply = await opened.transport.exchange({ method: 'execute', body });
    replies.push(reply);
    return reply;
  };
  return { ...opened, replies, exchange, ask: async (body?: string) => textOf(await exchange(body)) };
}

async function tracesOf({ transport, events, replies }: Awaited<ReturnType<typeof openForked>>) {
  await transport.close();
  const pids = allOf(events, 'process.started').map(({ pid }) => pid);
  // The helper starts before the calls.
  return replies.map((reply, index) => {
    const pid = pids.at(index - replies.length);
    const stderr = allOf(events, 'stderr').flatMap((line) => (line.pid === pid ? [line.line] : []));
    const { exitCode, signal } = reply.via === 'process' ? reply : {};
    return { exitCode, signal, stdout: textOf(reply), stderr };
  });
}

function notesOf(events: readonly RuntimeEvent[]): string[] {
  return allOf(events, 'note').map(({ message }) => message);
}

const isLinux = process.platform === 'linux';

describe.runIf(isLinux)('a forked script behaves like a started one [DS-FORK-01@oneshot]', () => {
  test.each(Object.entries(scripts))('%s', async (title, text) => {
    const file = scriptOf(text);
    const how = { args: ['one', 'two words'] };
    const [started, forked] = [
      await openForked(file, { ...how, isForked: false }),
      await openForked(file, how),
    ];
    for (const opened of [started, forked, forked]) await opened.exchange('{"a": 1}');
    const [expectedTrace, ...traces] = [...(await tracesOf(started)), ...(await tracesOf(forked))];
    expect(traces).toEqual([expectedTrace, expectedTrace]);
    const expected = title === 'a syntax error' ? [expect.stringContaining('cannot be compiled')] : [];
    expect(notesOf(forked.events)).toEqual(expected);
  });

  test.each([
    { title: 'python3 script', command: '/usr/bin/python3', args: ['script.py', 'x'] },
    { title: 'python3 -u ./script', command: '/usr/bin/python3', args: ['-u', './script.py'] },
    {
      title: 'python3 -I -W error script',
      command: '/usr/bin/python3',
      args: ['-I', '-W', 'error', 'script.py'],
    },
    { title: 'a name on PATH', command: 'python3', args: ['script.py'] },
  ])('however it is started: $title', async ({ command, args }) => {
    const file = scriptOf(scripts['what it is'] ?? '');
    const where = { command, args, cwd: dirname(file) };
    const env = { PATH: '/usr/bin:/bin' };
    const started = await openForked('/x', { ...where, env, isForked: false });
    const forked = await openForked('/x', { ...where, env });
    expect(await forked.exchange()).toEqual(await started.exchange());
    expect(notesOf(forked.events)).toEqual([]);
  });

  test.each(['#!/usr/bin/env python3', '#!/usr/bin/env -S python3 -u -B', '#!/usr/bin/python3 -uB'])(
    'whatever its first line: %s',
    async (head) => {
      const target = scriptOf(scripts['what it is'] ?? '', head);
      const link = join(mkdtempSync(join(tmpdir(), 'fork-')), 'linked');
      symlinkSync(target, link);
      for (const file of [target, link]) {
        const env = { PATH: '/usr/bin:/bin' };
        const started = await openForked(file, { env, isForked: false });
        const forked = await openForked(file, { env });
        expect(await forked.exchange()).toEqual(await started.exchange());
        expect(notesOf(forked.events)).toEqual([]);
      }
    },
  );

  test('a module beside it takes precedence over the standard library, and its imports keep their order', async () => {
    const file = scriptOf(
      'import os, fractions, json\nimport gc\nprint(json.here, fractions.here, gc.isenabled())',
    );
    writeBeside(file, 'json.py', 'here = "json"');
    writeBeside(file, 'fractions.py', 'here = "fractions"');
    const forked = await openForked(file);
    expect(await forked.ask()).toBe('json fractions True\n');
    expect(notesOf(forked.events)).toEqual([]);
  });

  test.each([
    { title: 'a global', text: 'kept = open("kept.log", "w")\nkept.write("all of it")' },
    { title: 'a global, in bytes', text: 'kept = open("kept.log", "wb")\nkept.write(b"all of it")' },
    {
      title: 'an object in a circle',
      text: 'class Late: pass\nlate = Late()\nlate.itself = late\nlate.file = open("kept.log", "w")\nlate.file.write("all of it")',
    },
    {
      title: 'a module that was imported before',
      text: 'json.kept = open("kept.log", "w")\njson.kept.write("all of it")',
    },
  ])('a file that it never closes is written: $title', async ({ text }) => {
    const file = scriptOf(`import json\n${text}`);
    const { ask, events } = await openForked(file);
    await ask();
    expect(readFileSync(join(dirname(file), 'kept.log'), 'utf8')).toBe('all of it');
    expect(notesOf(events)).toEqual([]);
  });

  test('no two have the same random numbers', async () => {
    const { ask } = await openForked(
      scriptOf(
        'import random, uuid, secrets, tempfile\nprint(random.random(), uuid.uuid4(), tempfile.mktemp())',
      ),
    );
    const said = await Promise.all(Array.from({ length: 10 }, () => ask()));
    for (const index of [0, 1, 2]) expect(new Set(said.map((text) => text.split(' ')[index])).size).toBe(10);
  });

  test('imports after other code are done by each child', async () => {
    const file = scriptOf('import sys\nsys.path.insert(0, "late")\nimport words\nprint(words.said)');
    writeBeside(file, 'words.py', 'said = "early"');
    writeBeside(file, 'late/words.py', 'said = "late"');
    const { ask } = await openForked(file);
    expect(await ask()).toBe('late\n');
  });
});

const saysParent =
  'import json, os, sys\nrequest = sys.stdin.read()\nprint(os.getppid(), os.getpid(), request)';

describe.runIf(isLinux)('the forking process [DS-FORK-02@oneshot]', () => {
  test('gives each of many calls a child', async () => {
    const { ask, events } = await openForked(scriptOf(saysParent));
    const said = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(`${index} ${'x'.repeat(index * 500)}`)),
    );
    const words = said.map((text) => text.split(' '));
    expect(new Set(words.map(([parent]) => parent)).size).toBe(1);
    expect(new Set(words.map(([, own]) => own)).size).toBe(40);
    expect(words.map(([, , request]) => Number(request))).toEqual(
      Array.from({ length: 40 }, (_, index) => index),
    );
    expect(allOf(events, 'process.started')).toHaveLength(41);
  });

  test('passes on 20 MB, and empty input', async () => {
    const { ask } = await openForked(scriptOf('import sys\nprint(len(sys.stdin.buffer.read()))'));
    expect(await ask('x'.repeat(20_000_000))).toBe('20000001\n');
    expect(await ask('')).toBe('1\n');
  });

  test.each([
    { title: 'its script', name: 'script.py', text: '#!/usr/bin/python3\nprint("another")' },
    { title: 'a module beside it', name: 'words.py', text: 'said = "another"' },
    { title: 'a module of a package beside it', name: 'pack/inner.py', text: 'said = "another"' },
  ])('is replaced once $title has changed', async ({ name, text }) => {
    const file = scriptOf(
      'import words, pack.inner\nprint(words.said if words.said != "one" else pack.inner.said)',
    );
    writeBeside(file, 'words.py', 'said = "one"');
    writeBeside(file, 'pack/inner.py', 'said = "one"');
    const { ask, events } = await openForked(file);
    expect(await ask()).toBe('one\n');
    writeBeside(file, name, text);
    expect(await ask()).toBe('another\n');
    const [first] = allOf(events, 'process.started');
    await until(() => !isRunning(first?.pid ?? 0), 'end of the first helper');
    expect(notesOf(events)).toEqual([]);
  });

  test('lets calls in progress end when it is replaced', async () => {
    const file = scriptOf(
      'import sys, time\nprint("one", file=sys.stderr, flush=True)\ntime.sleep(1)\nprint("done")',
    );
    const { ask, event, events } = await openForked(file);
    const slow = ask();
    await event('stderr');
    writeFileSync(file, '#!/usr/bin/python3\nprint("quick")\n');
    expect(await ask()).toBe('quick\n');
    expect(await slow).toBe('done\n');
    const [first] = allOf(events, 'process.started');
    await until(() => !isRunning(first?.pid ?? 0), 'end of the first helper');
  });

  test('may be killed while idle', async () => {
    const { ask } = await openForked(scriptOf(saysParent));
    const parent = Number.parseInt(await ask(), 10);
    process.kill(parent, 'SIGKILL');
    await until(() => !isRunning(parent), 'end of the helper');
    await sleep(50);
    const next = Number.parseInt(await ask(), 10);
    expect(next).not.toBe(parent);
    expect(await ask()).toMatch(new RegExp(`^${next} `));
  });

  test.each(['kill', 'keep'] as const)(
    'fails calls in progress when it is killed, ends them, and is replaced, with leftovers: %s',
    async (leftovers) => {
      const file = scriptOf(
        'import json, os, subprocess, sys, time\nif "stay" in sys.stdin.read():\n  child = subprocess.Popen(["sleep", "60"])\n  print(f"parent {os.getppid()} own {os.getpid()} child {child.pid}", file=sys.stderr, flush=True)\n  time.sleep(60)\nprint("done")',
      );
      const { ask, exchange, event } = await openForked(file, { leftovers });
      const staying = exchange('stay');
      const { line } = await event('stderr');
      process.kill(numberAfter('parent', line), 'SIGKILL');
      expect(await staying).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
      await until(
        () => !isRunning(numberAfter('own', line)) && !isRunning(numberAfter('child', line)),
        'end of the child',
      );
      expect(await ask()).toBe('done\n');
    },
  );

  test('is ended by close(), with its calls in progress', async () => {
    // Keeps the watcher alive, because its end must not be what ends the processes.
    onTestFinished(acquireWatcher(() => {}));
    const file = scriptOf(
      'import os, subprocess, sys, time\nchild = subprocess.Popen(["sleep", "60"])\nprint(f"parent {os.getppid()} own {os.getpid()} child {child.pid}", file=sys.stderr, flush=True)\ntime.sleep(60)',
    );
    const { transport, exchange, event } = await openForked(file);
    const fault = faultOf(exchange());
    const { line } = await event('stderr');
    await transport.close();
    expect((await fault).code).toBe('ABORTED');
    expect(['parent', 'own', 'child'].map((word) => isRunning(numberAfter(word, line)))).toEqual([
      false,
      false,
      false,
    ]);
    expect((await faultOf(exchange())).code).toBe('RUNTIME_CLOSED');
  });

  test('starts with warm()', async () => {
    const { transport, event, ask } = await openForked(scriptOf(saysParent));
    transport.warm();
    const { pid } = await event('process.started');
    expect(Number.parseInt(await ask(), 10)).toBe(pid);
  });
});

const saysParentFirst = `import os, sys, time
request = sys.stdin.read()
print(f"{request.strip()} parent {os.getppid()}", file=sys.stderr, flush=True)
if "stay" in request: time.sleep(1)
print(os.getppid(), request)`;

/** Calls until several processes fork. */
async function openBusy() {
  const file = scriptOf(saysParentFirst);
  const opened = await openForked(file, { concurrency: 32 });
  const parents = new Set<number>();
  const call = async () => void parents.add(Number.parseInt(await opened.ask(), 10));
  while (parents.size < 2) await Promise.all(Array.from({ length: 100 }, call));
  return { ...opened, file, parents: [...parents] };
}

describe.runIf(isLinux && availableParallelism() > 1)(
  'several forking processes [DS-FORK-06@oneshot]',
  () => {
    test('answer each of 1,000 calls once, and there are at most as many as cores', async () => {
      const { ask, events } = await openForked(scriptOf(saysParent), { concurrency: 32 });
      const indexes = Array.from({ length: 1_000 }, (_, index) => index);
      const said = await Promise.all(indexes.map((index) => ask(String(index))));
      const words = said.map((text) => text.trim().split(' ').map(Number));
      expect(words.map(([, , request]) => request)).toEqual(indexes);
      expect(new Set(words.map(([, own]) => own)).size).toBe(1_000);
      const parents = new Set(words.map(([parent]) => parent));
      expect(parents.size).toBeGreaterThan(1);
      expect(parents.size).toBeLessThanOrEqual(availableParallelism());
      const others = allOf(events, 'process.started').filter(({ pid }) =>
        words.every(([, own]) => own !== pid),
      );
      expect(others.length).toBeLessThanOrEqual(availableParallelism());
      expect(notesOf(events)).toEqual([]);
    });

    test('start only where one is too slow', async () => {
      const { ask, events } = await openForked(scriptOf(saysParent));
      for (let index = 0; index < 30; index++) await ask();
      await Promise.all(Array.from({ length: 10 }, () => ask()));
      expect(allOf(events, 'process.started')).toHaveLength(1 + 40);
    });

    test('are as few as the entry may have calls', async () => {
      const { ask, events } = await openForked(scriptOf(saysParent), { concurrency: 1 });
      await Promise.all(Array.from({ length: 300 }, () => ask()));
      expect(allOf(events, 'process.started')).toHaveLength(1 + 300);
    });

    test('do not fail together: a killed one ends its calls alone', async () => {
      const { exchange, ask, parents, events } = await openBusy();
      const marks = Array.from({ length: 16 }, (_, index) => `stay-${index}`);
      const replies = marks.map((mark) => exchange(mark));
      const parentOf = (mark: string) => {
        const line = allOf(events, 'stderr').find((each) => each.line.startsWith(`${mark} `))?.line;
        return line === undefined ? undefined : numberAfter('parent', line);
      };
      await until(() => marks.every(parentOf), 'start of all calls');
      const [killed = 0] = parents;
      process.kill(killed, 'SIGKILL');
      const ended = (await Promise.all(replies)).map((reply) => 'signal' in reply && reply.signal);
      expect(ended).toEqual(marks.map((mark) => (parentOf(mark) === killed ? 'SIGKILL' : null)));
      expect(new Set(ended).size).toBe(2);
      expect(Number.parseInt(await ask(), 10)).not.toBe(killed);
      expect(notesOf(events)).toEqual([]);
    });

    test.each([
      { title: 'prints', text: 'print("second")' },
      { title: 'crashes', text: 'os.abort()' },
      { title: 'hangs', text: 'import time; time.sleep(600)' },
    ])('take no call from the first if their import $title', async ({ text }) => {
      const file = scriptOf('import helper, os, sys\nprint(os.getppid())');
      // The stamp of the script does not cover this file.
      const log = join(dirname(file), 'imports.log');
      const count = `open(${JSON.stringify(log)}, "a").write("x") and os.path.getsize(${JSON.stringify(log)})`;
      writeBeside(file, 'helper.py', `import os\nif ${count} > 1: ${text}\n`);
      const { ask, transport, events } = await openForked(file, { concurrency: 32 });
      const parents = new Set<string>();
      const call = async () => void parents.add(await ask());
      while (!existsSync(log) || readFileSync(log).length < 2)
        await Promise.all(Array.from({ length: 100 }, call));
      await Promise.all(Array.from({ length: 100 }, call));
      expect(parents.size).toBe(1);
      expect(notesOf(events)).toEqual([]);
      await transport.close();
      expect(allOf(events, 'process.started').filter(({ pid }) => isRunning(pid))).toEqual([]);
    });

    test('are all replaced once the script has changed, and ended by close()', async () => {
      const { ask, transport, parents, file, events } = await openBusy();
      writeFileSync(file, '#!/usr/bin/python3\nimport os, sys\nprint(os.getppid(), "changed")\n');
      const said = await Promise.all(Array.from({ length: 20 }, () => ask()));
      expect(said.filter((text) => !text.endsWith(' changed\n'))).toEqual([]);
      await until(() => !parents.some(isRunning), 'end of the first helpers');
      const later = await openBusy();
      await Promise.all([transport.close(), later.transport.close()]);
      expect([...later.parents, ...said.map((text) => Number.parseInt(text, 10))].filter(isRunning)).toEqual(
        [],
      );
      expect(notesOf(events)).toEqual([]);
    });
  },
);

describe.runIf(isLinux)('a forked process has the usual limits [DS-FORK-03@oneshot]', () => {
  test('is ended with its group at the deadline, and the helper survives', async () => {
    const file = scriptOf(
      'import os, signal, subprocess, sys, time\nif "stay" in sys.stdin.read():\n  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n  child = subprocess.Popen(["sleep", "60"])\n  print(f"own {os.getpid()} child {child.pid}", file=sys.stderr, flush=True)\n  time.sleep(60)\nprint(os.getppid())',
    );
    const { ask, exchange, event } = await openForked(file, { timeoutMs: 1_000 });
    const parent = Number(await ask());
    const { code, details } = await faultOf(exchange('stay'));
    expect({ code, details }).toMatchObject({
      code: 'PROCESS_TIMEOUT',
      details: { stderr: expect.stringContaining('own') },
    });
    const { line } = await event('stderr');
    expect(await event('process.ended', 1)).toMatchObject({ signal: 'SIGKILL' });
    await until(() => !isRunning(numberAfter('child', line)), 'end of the child');
    expect(Number(await ask())).toBe(parent);
  });

  test('that floods its output ends with OUTPUT_LIMIT', async () => {
    const { exchange, event } = await openForked(
      scriptOf('import sys\nwhile True: sys.stdout.write("x" * 65536)'),
    );
    expect((await faultOf(exchange())).code).toBe('OUTPUT_LIMIT');
    expect(await event('process.ended')).toMatchObject({ signal: 'SIGTERM' });
  });

  test('leaves processes in its group, which are killed or kept', async () => {
    const file = scriptOf(
      'import subprocess, sys\nprint(subprocess.Popen(["sleep", "60"], stdin=-3, stdout=-3, stderr=-3).pid)',
    );
    const killing = await openForked(file);
    const killed = Number(await killing.ask());
    await killing.transport.close();
    await until(() => !isRunning(killed), 'end of what was left');
    const keeping = await openForked(file, { leftovers: 'keep' });
    const kept = Number(await keeping.ask());
    await keeping.transport.close();
    expect(isRunning(kept)).toBe(true);
    process.kill(kept, 'SIGKILL');
  });

  test('answers at once when its caller aborts, also while the imports hang, and nothing runs after', async () => {
    const file = scriptOf('import slow\nopen("effect", "w")');
    writeBeside(file, 'slow.py', 'import time\ntime.sleep(2)');
    const { transport, exchange } = await openForked(file, { timeoutMs: 300 });
    expect((await faultOf(exchange())).code).toBe('PROCESS_TIMEOUT');
    await sleep(2_500);
    expect(existsSync(join(dirname(file), 'effect'))).toBe(false);
    await transport.close();
  });

  test('close() does not wait for imports that hang', async () => {
    const file = scriptOf('import slow\nopen("effect", "w")');
    writeBeside(file, 'slow.py', 'import time\ntime.sleep(600)');
    const { transport, exchange, event } = await openForked(file);
    const fault = faultOf(exchange());
    const { pid } = await event('process.started');
    await transport.close();
    expect(['ABORTED', 'RUNTIME_CLOSED']).toContain((await fault).code);
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(join(dirname(file), 'effect'))).toBe(false);
  });
});

const ownHelper = (file: string, text: string) => {
  writeBeside(file, 'helper.py', text);
  return file;
};

describe('a script that cannot be forked says why, once, and runs one-shot [DS-FORK-04@oneshot]', () => {
  test.runIf(isLinux).each([
    {
      why: 'threads',
      helper: 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
      says: 'its imports start threads',
    },
    { why: 'a print', helper: 'print("{}", end="")', says: 'its imports print to stdout' },
    { why: 'a read of stdin', helper: 'import sys\nsys.stdin.readline()', says: 'its imports read stdin' },
    {
      why: 'a connection',
      helper: 'import socket\nkept = socket.socketpair()',
      says: 'files or connections open',
    },
    { why: 'a file', helper: 'kept = open(__file__)', says: 'files or connections open' },
    {
      why: 'a process',
      helper: 'import subprocess\nkept = subprocess.Popen(["sleep", "60"], stdin=-3, stdout=-3, stderr=-3)',
      says: 'its imports start processes',
    },
  ])('$why at import', async ({ helper, says }) => {
    const file = ownHelper(scriptOf('import helper\nprint("answered")'), helper);
    const { ask, events } = await openForked(file);
    expect(await ask()).toMatch(/answered\n$/);
    expect(await ask()).toMatch(/answered\n$/);
    expect(notesOf(events)).toEqual([expect.stringContaining(says)]);
    await until(() => allOf(events, 'process.ended').length === 3, 'end of the helper');
  });

  test.each([
    { title: 'a shell script', head: '#!/bin/sh', text: 'echo answered' },
    { title: 'a script of Node', head: `#!${process.execPath}`, text: 'console.log("answered")' },
  ])('$title', async ({ head, text }) => {
    const { ask, events } = await openForked(scriptOf(text, head));
    expect([await ask(), await ask()]).toEqual(['answered\n', 'answered\n']);
    expect(notesOf(events)).toEqual([expect.stringContaining('only Python scripts can be forked')]);
  });

  test.each([
    { title: 'a binary', command: '/bin/echo', args: ['answered'], says: 'is not a script' },
    {
      title: 'a line of Python',
      command: 'python3',
      args: ['-c', 'print("answered")'],
      says: 'runs no script file',
    },
  ])('$title', async ({ command, args, says }) => {
    const { ask, events } = await openForked('/x', { command, args, cwd: tmpdir() });
    expect(await ask()).toBe('answered\n');
    expect(notesOf(events)).toEqual([expect.stringContaining(says)]);
  });

  test('a script with a missing Python fails as usual', async () => {
    const { exchange } = await openForked(scriptOf('print(1)', '#!/opt/no-such/python3'));
    expect((await faultOf(exchange())).code).toBe('PROCESS_START');
  });

  test('a call with its own variables', async () => {
    const file = scriptOf('import os\nprint(os.environ.get("WORD"))');
    const { transport, ask, events } = await openForked(file);
    const reply = await transport.exchange({ method: 'execute', body: '', env: { WORD: 'mine' } });
    expect(textOf(reply)).toBe('mine\n');
    expect(await ask()).toBe('None\n');
    expect(notesOf(events)).toEqual([expect.stringContaining('variables of its own')]);
  });

  test.runIf(isLinux)(
    'a script that kills its forking process: each call fails, finally without a fork',
    async () => {
      const file = scriptOf(
        'import os, sys\nos.kill(os.getppid(), 9)\nprint("x", file=open("calls.log", "a"))\nimport time; time.sleep(60)',
      );
      const { exchange } = await openForked(file, { timeoutMs: 5_000 });
      expect(await exchange()).toMatchObject({ signal: 'SIGKILL' });
      expect(await exchange()).toMatchObject({ signal: 'SIGKILL' });
      // A call may end before it writes.
      const log = join(dirname(file), 'calls.log');
      expect(existsSync(log) ? readFileSync(log, 'utf8').length : 0).toBeLessThanOrEqual(4);
    },
  );
});
