import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Reply } from '../../../src/contract/exchange.ts';
import type { Binding } from '../../../src/process/binding.ts';
import { acquireWatcher, signalProcess } from '../../../src/process/launch/process-groups.ts';
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

  test('what an import does to its process is so in each child', async () => {
    const file = scriptOf(
      'import helper, os, resource, signal, sys\nprint(os.getcwd(), os.environ["WORD"], os.umask(0), signal.pthread_sigmask(0, []), signal.getsignal(15), resource.getrlimit(resource.RLIMIT_NOFILE), sys.getrecursionlimit())',
    );
    writeBeside(
      file,
      'helper.py',
      'import os, resource, signal, sys\nos.chdir("/")\nos.umask(0o27)\nos.environ["WORD"] = "one"\nsignal.pthread_sigmask(0, [10, 15, 17])\nsignal.signal(15, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))\nsys.setrecursionlimit(150)',
    );
    const [started, forked] = [await openForked(file, { isForked: false }), await openForked(file)];
    const expected = await started.exchange();
    expect([await forked.exchange(), await forked.exchange()]).toEqual([expected, expected]);
    expect(notesOf(forked.events)).toEqual([]);
  });

  test('imports after other code are done by each child', async () => {
    const file = scriptOf('import sys\nsys.path.insert(0, "late")\nimport words\nprint(words.said)');
    writeBeside(file, 'words.py', 'said = "early"');
    writeBeside(file, 'late/words.py', 'said = "late"');
    const { ask } = await openForked(file);
    expect(await ask()).toBe('late\n');
  });
});

/** Writes without a change of size or time of change that the writer could hide. */
function writeHidden(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  utimesSync(path, 1_000_000, 1_000_000);
}

const modulePlaces: Record<string, { script: string; put: (folder: string, said: string) => void }> = {
  ...Object.fromEntries(
    ['', 'a.', 'a.b.c.d.', 'node_modules.', 'a.node_modules.b.'].map((prefix) => [
      `${prefix}words beside it`,
      {
        script: `from ${prefix}words import said\nprint(said)`,
        put: (folder: string, said: string) =>
          writeHidden(join(folder, `${prefix.replaceAll('.', '/')}words.py`), `said = "${said}"\n`),
      },
    ]),
  ),
  'a folder on PYTHONPATH': {
    script: 'import words\nprint(words.said)',
    put: (folder, said) => writeHidden(`${folder}-path/words.py`, `said = "${said}"\n`),
  },
  'a package that is a link': {
    script: 'import pack.words\nprint(pack.words.said)',
    put: (folder, said) => {
      writeHidden(`${folder}-elsewhere/words.py`, `said = "${said}"\n`);
      if (!existsSync(join(folder, 'pack'))) symlinkSync(`${folder}-elsewhere`, join(folder, 'pack'));
    },
  },
  'a link to another file': {
    script: 'import words\nprint(words.said)',
    put: (folder, said) => {
      writeHidden(`${folder}-elsewhere/${said}.py`, `said = "${said}"\n`);
      rmSync(join(folder, 'words.py'), { force: true });
      symlinkSync(`${folder}-elsewhere/${said}.py`, join(folder, 'words.py'));
    },
  },
  'only its bytecode': {
    script: 'import words\nprint(words.said)',
    put: (folder, said) => {
      writeHidden(`${folder}-elsewhere/words.py`, `said = "${said}"\n`);
      const compile = 'import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2])';
      execFileSync('python3', ['-c', compile, `${folder}-elsewhere/words.py`, join(folder, 'words.pyc')]);
    },
  },
  'an archive': {
    script: 'import words\nprint(words.said)',
    put: (folder, said) => {
      const pack = 'import zipfile, sys; zipfile.ZipFile(sys.argv[1], "w").writestr("words.py", sys.argv[2])';
      execFileSync('python3', ['-c', pack, `${folder}-path`, `said = "${said}"\n`]);
    },
  },
};

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

  test.each(Object.keys(modulePlaces))('is replaced once a module has changed: %s', async (place) => {
    const file = scriptOf(modulePlaces[place]?.script ?? '');
    const env = { PATH: '/usr/bin:/bin', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: `${dirname(file)}-path` };
    const { ask, events } = await openForked(file, { env });
    const put = (said: string) => modulePlaces[place]?.put(dirname(file), said);
    put('one');
    expect(await ask()).toBe('one\n');
    for (const said of ['two', 'six', 'ten']) {
      put(said);
      expect(await ask()).toBe(`${said}\n`);
    }
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

  test.each([
    { title: 'held by a process that its import has left', stops: false, started: 'import' },
    { title: 'stopped, with a call that it has not started', stops: true, started: 'none' },
  ])('is ended by close() while it is $title', async ({ stops, started }) => {
    const file = scriptOf('import helper, os\nprint(os.getppid(), helper.left)');
    const leave =
      'import os, time\nr, w = os.pipe()\nif os.fork() == 0:\n  os.setsid()\n  left = os.fork()\n  if left == 0:\n    os.close(r)\n    time.sleep(60)\n  os.write(w, str(left).encode())\n  os._exit(0)\nos.wait()\nleft = int(os.read(r, 20))\nos.close(r)\nos.close(w)';
    writeBeside(file, 'helper.py', started === 'import' ? leave : 'left = 0');
    const { ask, exchange, transport, events } = await openForked(file);
    const [parent = 0, left = 0] = (await ask()).split(' ').map(Number);
    if (stops) process.kill(parent, 'SIGSTOP');
    const waiting = stops ? faultOf(exchange()).then(({ code }) => code) : await ask();
    await sleep(100);
    await transport.close();
    expect(await waiting).toBe(stops ? 'ABORTED' : `${parent} ${left}\n`);
    expect(isRunning(parent)).toBe(false);
    if (left !== 0) process.kill(left, 'SIGKILL');
    expect(allOf(events, 'process.ended')).toHaveLength(allOf(events, 'process.started').length);
  });

  test('is replaced once it has been stopped for long, and its waiting calls run once', async () => {
    const { ask, events } = await openForked(scriptOf(`${logsCall}\nprint(os.getppid())`), {
      timeoutMs: 60_000,
    });
    const parent = Number(await ask('first'));
    process.kill(parent, 'SIGSTOP');
    const later = await Promise.all(['second', 'third'].map(ask));
    expect(later).not.toContain(`${parent}\n`);
    expect(isRunning(parent)).toBe(false);
    expect(await ask('fourth')).not.toBe(`${parent}\n`);
    expect(notesOf(events)).toEqual([]);
  });

  test('forks no call that has ended before its turn', async () => {
    const file = scriptOf(`${logsCall}\nprint(os.getppid())`);
    const { ask, transport } = await openForked(file);
    const parent = Number(await ask('0'));
    process.kill(parent, 'SIGSTOP');
    const message = { method: 'execute', body: '1', timeoutMs: 1_000 } as const;
    const faults = await Promise.all(Array.from({ length: 200 }, () => faultOf(transport.exchange(message))));
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(['PROCESS_TIMEOUT']));
    process.kill(parent, 'SIGCONT');
    expect(Number(await ask('2'))).toBe(parent);
    // Those that it has already received start, and are ended at once.
    expect(callsOf(file).length).toBeLessThanOrEqual(2 + 64);
  });

  test('runs each call at most once, wherever it is killed', async () => {
    const file = scriptOf(`${logsCall}\nprint(os.getppid(), request)`);
    const { exchange, events } = await openForked(file, { concurrency: 16, timeoutMs: 60_000 });
    const outcomes: Reply[] = [];
    const ids = Array.from({ length: 400 }, (_, index) => `call-${index}`);
    const kill = () => {
      const pids = allOf(events, 'process.started').map(({ pid }) => pid);
      const helper = pids.findLast(isForking);
      if (helper !== undefined) signalProcess(helper, 'SIGKILL');
    };
    const work = async () => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        if (ids.length % 40 === 0) setTimeout(kill, Math.random() * 20);
        outcomes.push(await exchange(id));
      }
    };
    await Promise.all(Array.from({ length: 32 }, work));
    const calls = callsOf(file);
    expect(calls).toHaveLength(new Set(calls).size);
    const done = outcomes.filter((reply) => 'exitCode' in reply && reply.exitCode === 0);
    const answered = done.map((reply) => textOf(reply).trim().split(' ')[1] ?? '');
    expect(new Set(answered).size).toBe(done.length);
    expect(calls).toEqual(expect.arrayContaining(answered));
    expect(outcomes.filter((reply) => !done.includes(reply))).toEqual(
      outcomes.filter((reply) => 'signal' in reply && reply.signal === 'SIGKILL'),
    );
    expect(outcomes).toHaveLength(400);
  });

  test('may be killed while it starts', async () => {
    const file = scriptOf('import helper, os\nprint(os.getppid())');
    const once = 'if not os.path.exists("once.log"): open("once.log", "w").close(); os.kill(os.getpid(), 9)';
    writeBeside(file, 'helper.py', `import os\n${once.replace(': ', ':\n  ').replace('; ', '\n  ')}`);
    const { ask, events } = await openForked(file);
    const parent = Number(await ask());
    expect(Number(await ask())).toBe(parent);
    expect(notesOf(events)).toEqual([]);
  });

  test('starts with warm()', async () => {
    const { transport, event, ask } = await openForked(scriptOf(saysParent));
    transport.warm();
    const { pid } = await event('process.started');
    expect(Number.parseInt(await ask(), 10)).toBe(pid);
  });
});

const logsCall =
  'import os, sys\nrequest = sys.stdin.read().strip()\nlog = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)\nos.write(log, (request + "\\n").encode())';

function callsOf(file: string): string[] {
  return readFileSync(join(dirname(file), 'calls.log'), 'utf8')
    .trim()
    .split('\n');
}

function isForking(pid: number): boolean {
  try {
    const isHelper = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fork-helper');
    return isHelper && readFileSync(`/proc/${pid}/status`, 'utf8').includes(`PPid:\t${process.pid}\n`);
  } catch {
    return false;
  }
}

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
      why: 'shared memory',
      helper: 'import mmap\nkept = mmap.mmap(-1, 4096)',
      says: 'its imports map memory',
    },
    {
      why: 'a lock of several processes',
      helper: 'import multiprocessing\nkept = multiprocessing.Lock()',
      says: 'its imports map memory',
    },
    { why: 'a timer', helper: 'import signal\nsignal.alarm(60)', says: 'its imports start a timer' },
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

  test.runIf(isLinux)('a limit that leaves no descriptor to fork with', async () => {
    const file = ownHelper(
      scriptOf('import helper\nprint("answered")'),
      'import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))',
    );
    const { ask, events } = await openForked(file);
    expect([await ask(), await ask()]).toEqual(['answered\n', 'answered\n']);
    expect(notesOf(events)).toEqual([expect.stringContaining('could not be forked: Too many open files')]);
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
