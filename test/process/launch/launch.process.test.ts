import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import koffi from 'koffi';
import { describe, expect, test } from 'vitest';
import { closeEnv, hostEnv } from '../../../src/process/env.ts';
import type { ExitStatus, Launcher, LaunchRequest, Output } from '../../../src/process/launch/launch.ts';
import {
  closeAll,
  createNativeLauncher,
  openLauncher,
  openPipes,
} from '../../../src/process/launch/native.ts';
import { POLLHUP, requireLibc } from '../../../src/process/launch/system/libc.ts';
import { createOutputReader, streamOutput } from '../../../src/process/launch/system/outputs.ts';
import { findSurvivors, settle } from '../../leaks.ts';
import { fixture, isRunning, launchers, until, waitFor } from '../harness.ts';

const hasProc = process.platform === 'linux';
const env = closeEnv([], hostEnv()).variables;

interface Run {
  readonly pid: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly ended: ExitStatus;
}

function request(command: string, overrides: Partial<LaunchRequest> = {}): LaunchRequest {
  return { command, args: [], cwd: tmpdir(), env, input: new Uint8Array(), ...overrides };
}

function script(text: string, overrides: Partial<LaunchRequest> = {}): LaunchRequest {
  return request('/bin/sh', { args: ['-c', text], ...overrides });
}

function textInput(cwd: string): Partial<LaunchRequest> {
  return { cwd, input: Buffer.from(`${cwd}\n`) };
}

async function run(launch: Launcher, what: LaunchRequest): Promise<Run> {
  const { pid, stdin, stdout, stderr, ended } = await launch(what);
  const [out, err, end] = await Promise.all([listen(stdout), listen(stderr), ended]);
  stdin?.destroy();
  return { pid, stdout: out, stderr: err.toString(), ended: end };
}

function listen(output: Output): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    output.listen({
      onData: (chunk) => chunks.push(chunk),
      onClose: () => resolve(Buffer.concat(chunks)),
    });
  });
}

async function launchStreams(launch: Launcher, what: LaunchRequest) {
  const { stdout, stderr, ...rest } = await launch(what);
  return { ...rest, stdout: stdout.stream(), stderr: stderr.stream() };
}

function asStreams(launch: Launcher): Launcher {
  return async (what, watch) => {
    const { stdout, stderr, ...rest } = await launch(what, watch);
    return { ...rest, stdout: streamOutput(stdout.stream()), stderr: streamOutput(stderr.stream()) };
  };
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'close');
  return Buffer.concat(chunks);
}

async function says(launch: Launcher, what: LaunchRequest): Promise<string> {
  const { stdout, stderr, ended } = await run(launch, what);
  return `${stdout}${stderr === '' ? '' : `[stderr] ${stderr}`}${ended.exitCode === 0 ? '' : JSON.stringify(ended)}`;
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [`${fd} ${readlinkSync(`/proc/self/fd/${fd}`)}`];
    } catch {
      return []; // The descriptor that listed the folder is already closed.
    }
  });
}

/** Descriptors that the test runner inherited. Only the native launcher stops them. */
const inherited = hasProc ? readdirSync('/proc/self/fdinfo').map(Number).filter(isHandedDown) : [];

function isHandedDown(fd: number): boolean {
  try {
    const [, flags] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return fd > 2 && (Number.parseInt(flags ?? '0', 8) & 0o2000000) === 0;
  } catch {
    return false;
  }
}

const clean = { exitCode: 0, signal: null };

const variants = [
  ...launchers.map((name) => ({ title: `the ${name} launcher`, open: () => openLauncher(name) })),
  ...(hasProc
    ? [
        {
          title: 'the native launcher in this thread',
          open: async () => requireLauncher(createNativeLauncher(false)),
        },
        {
          title: 'the native launcher with streams',
          open: async () => asStreams(await openLauncher('native')),
        },
      ]
    : []),
];

function requireLauncher(launch: Launcher | undefined): Launcher {
  if (launch === undefined) throw new Error('there is no native launcher here');
  return launch;
}

describe.each(variants)('$title', async ({ open }) => {
  const launch = await open();

  test.runIf(hasProc)('starts a process that leads its own group', async () => {
    const { pid, stdout } = await run(launch, script('cut -d" " -f5 /proc/$$/stat'));
    expect(Number(stdout.toString())).toBe(pid);
  });

  test('lets a signal to the group reach a child’s child', async () => {
    const { pid, stdout, stderr, ended } = await launchStreams(launch, script('sleep 60 & echo $!; wait'));
    const [line] = await once(stdout, 'data');
    process.kill(-pid, 'SIGKILL');
    expect(await ended).toEqual({ exitCode: null, signal: 'SIGKILL' });
    await until(() => !isRunning(Number(line)), 'end of the child’s child');
    for (const stream of [stdout, stderr]) stream.destroy();
  });

  test.runIf(hasProc)('gives every signal its default action, and blocks none', async () => {
    const status = request('/bin/grep', { args: ['-E', '^Sig(Blk|Ign)', '/proc/self/status'] });
    const masks = (await says(launch, status)).matchAll(/(\w+):\t(\w+)/g);
    // glibc reserves 32 and 33 and never sends them.
    const signals = [...masks].map(([, kind, mask]) => [kind, BigInt(`0x${mask}`) & ~0x180000000n]);
    expect(signals).toEqual([
      ['SigBlk', 0n],
      ['SigIgn', 0n],
    ]);
  });

  test('lets a pipeline end by SIGPIPE', async () => {
    const endless = 'sh -c "while :; do echo y || exit 3; done; exit 4" | head -n 1';
    expect(await says(launch, script(endless))).toBe('y\n');
  });

  test('passes on only the closed environment', async () => {
    const variables = { A: '1', B: 'x=y', EMPTY: '', TEXT: 'grün, ☂ and\nnewline' };
    const { stdout } = await run(launch, request('/usr/bin/env', { args: ['-0'], env: variables }));
    expect(stdout.toString().split('\0').sort()).toEqual([
      '',
      'A=1',
      'B=x=y',
      'EMPTY=',
      'TEXT=grün, ☂ and\nnewline',
    ]);
  });

  test('passes on arguments unchanged', async () => {
    const args = ['', ' two  words ', '$HOME', '*', '"quoted"', "it's", 'a\nb', 'grün', '--', '\\'];
    const { stdout } = await run(launch, request('/usr/bin/printf', { args: ['%s\\0', ...args] }));
    expect(stdout.toString().split('\0')).toEqual([...args, '']);
  });

  test('starts each process with its own folder and streams, whatever the previous one had', async () => {
    const folders = [realpathSync(tmpdir()), '/', '/usr', '/'].flatMap((folder) => [folder, folder]);
    for (const cwd of folders) {
      const both = [cwd, '/'].map((one) => says(launch, script('read -r a; pwd; echo "$a"', textInput(one))));
      expect(await Promise.all(both)).toEqual([`${cwd}\n${cwd}\n`, '/\n/\n']);
    }
  });

  test.each([2049, 4097])('reads a pipe that writes of %i bytes fill', async (bytes) => {
    const pieces = `i=0; while [ $i -lt 60 ]; do i=$((i + 1)); printf '%0${bytes}d' 0; done; echo done >&2`;
    const { stdout, stderr, ended } = await run(launch, script(pieces));
    expect([stdout.length, stderr, ended]).toEqual([60 * bytes, 'done\n', clean]);
  });

  test('starts in the requested folder', async () => {
    const { stdout } = await run(launch, request('/bin/pwd', { args: ['-P'], cwd: fixture('..') }));
    expect(stdout.toString()).toBe(`${realpathSync(fixture('..'))}\n`);
  });

  test.each([
    { how: 'exit 0', end: clean },
    { how: 'exit 7', end: { exitCode: 7, signal: null } },
    { how: 'exit 255', end: { exitCode: 255, signal: null } },
    { how: 'kill -9 $$', end: { exitCode: null, signal: 'SIGKILL' } },
    { how: 'kill -15 $$', end: { exitCode: null, signal: 'SIGTERM' } },
    { how: 'kill -11 $$', end: { exitCode: null, signal: 'SIGSEGV' } },
    { how: 'kill -13 $$', end: { exitCode: null, signal: 'SIGPIPE' } },
  ])('reports how a process ended: $how', async ({ how, end }) => {
    expect((await run(launch, script(how))).ended).toEqual(end);
  });

  test.each([0, 1, 4095, 4096, 4097, 65_536, 65_537, 1024 * 1024])(
    'writes %d bytes and ends stdin',
    async (size) => {
      const input = randomBytes(size);
      const { stdout, ended } = await run(launch, request('/bin/cat', { input }));
      expect(stdout.equals(input)).toBe(true);
      expect(ended).toEqual(clean);
    },
  );

  test('ignores a child that never reads 1 MiB', async () => {
    const input = Buffer.alloc(1024 * 1024, 'x');
    expect(await says(launch, script('echo unread', { input }))).toBe('unread\n');
  });

  test('ignores a child that closes stdin early', async () => {
    const input = Buffer.alloc(1024 * 1024, 'x');
    const text = 'head -c 3; exec 0<&-; sleep 0.1; echo; echo over';
    expect(await says(launch, script(text, { input }))).toBe('xxx\nover\n');
  });

  test('leaves stdin open as a stream if no input is given', async () => {
    const { stdin, stdout, stderr, ended } = await launchStreams(
      launch,
      request('/bin/cat', { input: null }),
    );
    const echoed: string[] = [];
    stdout.on('data', (chunk: Buffer) => echoed.push(chunk.toString()));
    for (const line of ['one\n', 'two\n', 'three\n']) {
      stdin?.write(line);
      await until(() => echoed.join('').endsWith(line), `echo of ${line}`);
    }
    stdin?.end();
    expect(await ended).toEqual(clean);
    expect(echoed.join('')).toBe('one\ntwo\nthree\n');
    stderr.destroy();
  });

  test('lets a stream be written after its reader has gone', async () => {
    const { stdin, stdout, stderr, ended } = await launchStreams(launch, script('exit 0', { input: null }));
    expect(await ended).toEqual(clean);
    stdin?.write('nobody reads this\n');
    await waitFor(() => stdin?.destroyed || undefined, 'end of stdin');
    for (const stream of [stdout, stderr]) stream.destroy();
  });

  test.each([
    { stream: '/dev/stdin, at once', text: 'cat /dev/stdin', output: 'request\n' },
    { stream: '/dev/stdin, late', text: 'sleep 0.2; cat /dev/stdin', output: 'request\n' },
    {
      stream: '/dev/stdin again, after its end',
      text: 'cat /dev/stdin; cat /dev/stdin >/dev/null; echo over',
      output: 'request\nover\n',
    },
    {
      stream: '/dev/stdout twice',
      text: 'echo one >/dev/stdout; echo two >/dev/stdout; echo three',
      output: 'one\ntwo\nthree\n',
    },
    {
      stream: '/dev/stdout late, for appending',
      text: 'echo one; sleep 0.2; echo two >>/dev/stdout',
      output: 'one\ntwo\n',
    },
    {
      stream: '/dev/stderr twice',
      text: 'echo one >/dev/stderr; sleep 0.1; echo two >/dev/stderr',
      output: '[stderr] one\ntwo\n',
    },
    { stream: '/proc/self/fd/1', text: 'echo one >/proc/self/fd/1', output: 'one\n' },
  ])('lets a child open $stream', async ({ text, output }) => {
    expect(await says(launch, script(text, { input: Buffer.from('request\n') }))).toBe(output);
  });

  test('lets a child open /dev/stdin while it is a stream, late too', async () => {
    const text = 'sleep 0.2; while read -r line; do echo "<$line>"; done </dev/stdin';
    const { stdin, stdout, stderr, ended } = await launchStreams(launch, script(text, { input: null }));
    const output = readAll(stdout);
    stdin?.write('one\n');
    stdin?.write('two\n');
    await once(stdout, 'data');
    stdin?.end();
    expect((await output).toString()).toBe('<one>\n<two>\n');
    expect(await ended).toEqual(clean);
    stderr.destroy();
  });

  test('reports the end of a process whose child holds all its streams', async () => {
    const { pid, stdout, stderr, ended } = await launchStreams(launch, script('sleep 60 & exit 0'));
    expect(await ended).toEqual(clean);
    expect([stdout.readableEnded, stderr.readableEnded]).toEqual([false, false]);
    process.kill(-pid, 'SIGKILL');
    for (const stream of [stdout, stderr]) stream.destroy();
  });

  test.each([
    { title: 'a command that is not there', what: request('/no/such/program'), says: /ENOENT/ },
    { title: 'a file that is not executable', what: request('/etc/passwd'), says: /EACCES/ },
    {
      title: 'a script whose interpreter is not there',
      what: request(fixture('missing-interpreter')),
      says: /ENOENT/,
    },
    { title: 'a folder that is not there', what: script(':', { cwd: '/no/such/folder' }), says: /ENOENT/ },
    {
      title: 'an argument that is too long',
      what: script(':', { args: ['x'.repeat(1024 * 1024)] }),
      says: /E2BIG/,
    },
  ])('refuses $title with the system’s error', async ({ what, says: word }) => {
    await expect(launch(what)).rejects.toThrow(word);
  });

  test('starts a hundred processes at once', async () => {
    const starts = Array.from({ length: 100 }, (_, index) => run(launch, script(`cat; echo ${index}`)));
    const outputs = (await Promise.all(starts)).map(({ stdout }) => stdout.toString());
    expect(outputs).toEqual(Array.from({ length: 100 }, (_, index) => `${index}\n`));
  });

  test.runIf(hasProc)('leaves no descriptor and no zombie after 200 starts', async () => {
    const children = (): string[] => findSurvivors(tmpdir()).map(({ command }) => command);
    await run(launch, script(':'));
    const before = openFiles();
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          index % 5 === 0
            ? expect(launch(request('/no/such/program'))).rejects.toThrow()
            : run(launch, request('/bin/true', { input: Buffer.alloc(index % 2 ? 10 : 100_000) })),
        ),
      );
    }
    expect(await settle(() => openFiles().filter((file) => !before.includes(file)), 2_000)).toEqual([]);
    expect(await settle(children, 2_000)).toEqual([]);
  });

  test.runIf(hasProc)('passes on only the three standard descriptors', async () => {
    const server = await launch(request('/bin/cat', { input: null }));
    const file = openSync('/etc/passwd', 'r');
    const listing = request('/bin/ls', { args: ['/proc/self/fd'] });
    const listed = (await says(launch, listing)).trim().split('\n').map(Number);
    // Descriptor 3 is the listed folder itself.
    expect(listed.filter((fd) => !inherited.includes(fd))).toEqual([0, 1, 2, 3]);
    closeSync(file);
    server.stdin?.end();
    expect(await server.ended).toEqual(clean);
    for (const stream of [server.stdout, server.stderr]) stream.destroy();
  });

  test('ends a stream’s reader when the stream ends, whatever else was started meanwhile', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => launch(request('/bin/cat', { input: null }))));
    const [first] = servers;
    first?.stdin?.end();
    expect(await first?.ended).toEqual(clean);
    for (const { stdin, stdout, stderr, ended } of servers) {
      stdin?.end();
      await ended;
      for (const stream of [stdout, stderr]) stream.destroy();
    }
  });
});

test.runIf(hasProc)('the native launcher passes on no descriptor that this process inherited', async () => {
  const launch = await openLauncher('native');
  // Unlike Node's own descriptors, this one has no close-on-exec flag.
  const fd: number = koffi.load('libc.so.6').func('int dup(int fd)')(0);
  const listing = await says(launch, request('/bin/ls', { args: ['/proc/self/fd'] }));
  closeSync(fd);
  expect(listing).toBe('0\n1\n2\n3\n');
});

test.runIf(hasProc)(
  'the output of a quick process is complete when it has ended, without a stream',
  async () => {
    const launch = await openLauncher('native');
    const lengths = new Set<string>();
    const run = async () => {
      const { stdout, stderr, ended } = await launch(
        request('/bin/cat', { input: Buffer.alloc(60_000, 'x') }),
      );
      const outputs = [listen(stdout), listen(stderr)];
      await ended;
      // A stream ends in a later turn of the event loop.
      const isClosed = [stdout.isClosed, stderr.isClosed];
      lengths.add((await Promise.all(outputs)).map(({ length }) => length).join());
      return isClosed;
    };
    // After 2 ms, an output of this length is read by a stream. A busy machine seldom runs a process that fast.
    await expect.poll(run).toEqual([true, true]);
    expect([...lengths]).toEqual(['60000,0']);
  },
);

test.runIf(hasProc)('an output that is written while poll looks at its pipe is read', async () => {
  const libc = requireLibc();
  if (libc === undefined) throw new Error('this machine has no glibc');
  const [stdout, stderr, unused] = openPipes(libc);
  closeAll(libc, [stderr.write, unused.read, unused.write]);
  // The kernel looks at the bytes before the write, and at the writers after the close.
  const poll = (fds: Int32Array): number => {
    libc.write(stdout.write, Buffer.from('late'), 4);
    libc.close(stdout.write);
    const events = new Int16Array(fds.buffer);
    [events[3], events[7]] = [POLLHUP, POLLHUP];
    return 2;
  };
  const reader = createOutputReader({
    ...libc,
    poll: Object.assign(poll, { info: libc.poll.info, async: libc.poll.async }),
  });
  const outputs = reader.open(stdout.read, stderr.read);
  const said = Promise.all([listen(outputs.stdout), listen(outputs.stderr)]);
  reader.settle(outputs);
  expect((await said).map(String)).toEqual(['late', '']);
});

test.runIf(hasProc)('the native launcher starts each of 300 processes in its own folder, twice', async () => {
  const launch = await openLauncher('native');
  const folders = Array.from({ length: 300 }, () => realpathSync(mkdtempSync(join(tmpdir(), 'own-'))));
  for (let round = 0; round < 2; round++) {
    const said = folders.map((cwd) => says(launch, request('/bin/pwd', { args: ['-P'], cwd })));
    expect(await Promise.all(said)).toEqual(folders.map((folder) => `${folder}\n`));
  }
});

test.runIf(hasProc)('the portable launcher survives the removal of its temporary folder', async () => {
  const launch = await openLauncher('portable');
  expect(await says(launch, script('echo before'))).toBe('before\n');
  const folders = readdirSync(tmpdir()).filter((entry) =>
    readdirSync(join(tmpdir(), entry)).some((file) => file.startsWith('pipe-')),
  );
  expect(folders).toHaveLength(1);
  for (const folder of folders) rmSync(join(tmpdir(), folder), { recursive: true });
  expect(await says(launch, script('echo after'))).toBe('after\n');
});

test.runIf(hasProc)('a worker thread starts processes like the main thread', async () => {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  const [told] = await once(worker, 'message');
  await once(worker, 'exit');
  expect(told).toEqual({
    answered: { stdout: 'fifo\n', exitCode: 0, signal: null },
    failed: { stdout: '', exitCode: 7, signal: null },
    killed: { stdout: '', exitCode: null, signal: 'SIGKILL' },
    many: Array(50).fill({ stdout: 'x', exitCode: 0, signal: null }),
    portable: { stdout: 'regular file\n', exitCode: 0, signal: null },
    warnings: [],
  });
});

test.runIf(hasProc)('the native launcher is the default', async () => {
  const launch = await openLauncher('auto');
  const kind = request('/usr/bin/stat', { args: ['-L', '-c', '%F', '/dev/stdin'] });
  expect(await says(launch, kind)).toBe('fifo\n');
});

test.runIf(hasProc)('on one core, only the first start of a program needs a thread of its own', async () => {
  const core = /Cpus_allowed_list:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const program = [process.execPath, join(import.meta.dirname, 'one-core.ts')];
  const options = { env: { ...process.env, UV_THREADPOOL_SIZE: '1' }, timeout: 50_000 };
  const { stdout } = await promisify(execFile)('taskset', ['-c', core, ...program], options);
  const ended = (exitCode: number) => ({ exitCode, signal: null });
  expect(JSON.parse(stdout)).toEqual([ended(0), ended(0), 'the thread is free', ended(1), 200]);
});
