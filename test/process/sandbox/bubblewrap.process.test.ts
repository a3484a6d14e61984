import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isRunning, launchers, numberAfter, open, stderrOf } from '../harness.ts';
import { bindBoxed, makeFolder, noSandbox, processesWith, script, untilSoon } from './box.ts';

const folder = makeFolder();

async function say(lines: string, options: Partial<Parameters<typeof bindBoxed>[1]> = {}): Promise<string> {
  const { call } = await open(bindBoxed(script(folder, lines), { folder, ...options }));
  return await call();
}

describe.skipIf(noSandbox !== undefined)('in a sandbox of bubblewrap', () => {
  describe.each(launchers)('by the %s launcher', (launcher) => {
    const run = async (lines: string, options: Partial<Parameters<typeof bindBoxed>[1]> = {}) =>
      await open(bindBoxed(script(folder, lines), { folder, ...options }), { launcher });

    test('the standard streams can be opened by name [DS-BOX-06@oneshot]', async () => {
      const { call, events } = await run('cat /dev/stdin >/dev/stdout; echo late >/dev/stderr');
      expect(await call({ a: 1 })).toBe('{"args":{"a":1}}\n');
      expect(stderrOf(events)).toBe('late\n');
    });

    test('the exit code and the signal are those of the command [DS-BOX-06@oneshot]', async () => {
      const { transport } = await run('exit 7');
      expect(await transport.exchange({ method: '', body: '' })).toMatchObject({ exitCode: 7, signal: null });
      const killed = await run('kill -SEGV $$');
      const reply = await killed.transport.exchange({ method: '', body: '' });
      expect(reply).toMatchObject({ exitCode: null, signal: 'SIGSEGV' });
    });

    test('processes inside have the mark for cleaning up after a killed owner', async () => {
      const { call } = await run('echo "$SIGNALBOX_OWNER"');
      expect(await call()).toMatch(/^\d+\..+\.kill\n$/);
    });

    test('60 MB pass in both directions', async () => {
      const binding = { maxOutputBytes: 100_000_000, timeoutMs: 50_000 };
      const { call } = await run('exec cat', { binding });
      const text = 'x'.repeat(60_000_000);
      expect((await call({ text })).length).toBe(60_000_000 + '{"args":{"text":""}}\n'.length);
    });

    test('a command that handles SIGTERM gets the grace, and one that does not is killed [DS-BOX-06@oneshot]', async () => {
      const mark = join(folder, `ended-${launcher}`);
      writeFileSync(mark, '');
      const binding = { timeoutMs: 400, graceMs: 5_000 };
      const gives = await run(
        `trap 'echo yes > ${mark}; exit 0' TERM\necho up >&2\nwhile :; do sleep 0.05; done`,
        { write: [mark], binding: { ...binding, timeoutMs: 60_000 } },
      );
      const given = new AbortController();
      const failed = gives.fault({}, given.signal);
      await gives.event('stderr');
      given.abort();
      expect(await failed).toMatchObject({ code: 'ABORTED' });
      await gives.event('process.ended');
      expect(readFileSync(mark, 'utf8')).toBe('yes\n');
      const stays = await run("trap '' TERM\nwhile :; do sleep 0.05; done", {
        binding: { ...binding, graceMs: 100 },
      });
      expect(await stays.fault()).toMatchObject({ code: 'PROCESS_TIMEOUT' });
      expect(await stays.event('process.ended')).toMatchObject({ signal: 'SIGKILL' });
    });

    test('a daemon in its own session ends with the call, and at its timeout [DS-BOX-05@oneshot]', async () => {
      const inner = 'setsid sh -c "trap : TERM; while :; do sleep 0.05; done" >/dev/null 2>&1 </dev/null &';
      const name = `daemon-of-${launcher}-${process.pid}`;
      const binding = { env: { PATH: '/usr/bin:/bin', MARK: name } };
      const quick = await run(`${inner}\nsleep 0.1; echo '{}'`, { binding });
      expect(await quick.call()).toBe('{}\n');
      const slow = await run(`${inner}\nsleep 60`, { binding: { ...binding, timeoutMs: 400 } });
      expect(await slow.fault()).toMatchObject({ code: 'PROCESS_TIMEOUT' });
      await untilSoon(() => processesWith(`MARK=${name}`).length === 0, 'end of the daemons');
    });

    test('a missing command counts as not started', async () => {
      const missing = script(folder, 'true', '/no/such/interpreter');
      const { fault } = await open(bindBoxed(missing, { folder }), { launcher });
      expect(await fault()).toMatchObject({
        code: 'SANDBOX_FAILED',
        message: `"demo" was not run: the interpreter of ${missing}, /no/such/interpreter, does not exist`,
        details: { sandbox: { name: 'box', mode: 'bubblewrap' } },
      });
      const server = await open(bindBoxed(missing, { folder, binding: { mode: 'server' } }), { launcher });
      expect(await server.fault()).toMatchObject({ code: 'SANDBOX_FAILED' });
      const gone = await open(bindBoxed(join(folder, 'gone'), { folder }), { launcher });
      expect(await gone.fault()).toMatchObject({ code: 'PROCESS_START' });
    });
  });

  test('an abort during the setup of the sandbox leaves nothing', async () => {
    const env = { PATH: '/usr/bin:/bin', MARK: `early-${process.pid}` };
    const path = script(folder, 'sleep 60');
    for (let ms = 0; ms < 12; ms += 1) {
      const { fault } = await open(
        bindBoxed(path, { folder, binding: { env, timeoutMs: ms + 1, graceMs: 1 } }),
      );
      expect(await fault()).toMatchObject({ code: 'PROCESS_TIMEOUT' });
    }
    await untilSoon(() => processesWith(env.MARK).length === 0, 'end of what was begun');
  });

  test('there is no network unless configured [DS-BOX-01@oneshot]', async () => {
    const server = createServer((socket) => socket.end('reached'));
    onTestFinished(() => void server.close());
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve(portOf(server)));
    });
    const lines = `import socket
try:
    print(socket.create_connection(("127.0.0.1", ${port}), 5).recv(99).decode())
except OSError as error:
    print(error)`;
    const { call } = await open(bindBoxed(script(folder, lines, '/usr/bin/env python3'), { folder }));
    expect(await call()).toBe('[Errno 111] Connection refused\n');
    const path = script(folder, lines, '/usr/bin/env python3');
    const open2 = await open(bindBoxed(path, { folder, network: true }));
    expect(await open2.call()).toBe('reached\n');
  });

  test('a server reaches no network either [DS-BOX-01@server]', async () => {
    const lines = `import socket, sys, json
for line in sys.stdin:
    try:
        socket.create_connection(("192.0.2.1", 80), 5)
    except OSError as error:
        print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": str(error)}), flush=True)`;
    const path = script(folder, lines, '/usr/bin/env python3');
    const { call } = await open(bindBoxed(path, { folder, binding: { mode: 'server' } }));
    expect(await call()).toBe('"[Errno 101] Network is unreachable"');
  });

  test('only the named paths can be written [DS-BOX-02@oneshot]', async () => {
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    const outside = join(folder, 'outside');
    // A unique name, because /tmp has other files.
    const shared = `/tmp/file-${process.pid}`;
    const lines = `echo a > ${inside}/file && echo written
echo a > ${outside} || echo refused
echo a > /usr/file || echo refused
echo a > /file || echo refused
echo a > ${shared} && echo private`;
    expect(await say(lines, { write: [inside] })).toBe('written\nrefused\nrefused\nrefused\nprivate\n');
    expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('a\n');
    expect([outside, '/usr/file', '/file', shared].map(existsSync)).toEqual([false, false, false, false]);
  });

  test('only the system, the folder and named paths are visible; hidden ones stay hidden [DS-BOX-03@oneshot]', async () => {
    const [home, state] = [makeFolder(), join(folder, '.state')];
    for (const [path, file] of [
      [join(home, '.ssh'), 'id'],
      [state, 'state.db'],
    ] as const) {
      mkdirSync(path);
      writeFileSync(join(path, file), 'secret');
    }
    const key = join(folder, 'key');
    writeFileSync(key, 'secret');
    const lines = `cat ${home}/.ssh/id ${state}/state.db ${key} /etc/shadow /proc/1/environ
ls / | tr '\\n' ' '; ls -A ${home} ${state} /tmp /run | tr '\\n' ' '; echo x > "$HOME/x" && cat "$HOME/x"`;
    const env = { PATH: '/usr/bin:/bin', HOME: home, SECRET: 'secret' };
    const shown = await say(lines, { hide: [state, key], binding: { env } });
    expect(shown).toContain('x\n');
    expect(shown.match(/secret/g)).toEqual(['secret']); // bwrap passes on its own environment.
    expect(shown).not.toMatch(/id_|state\.db|\bid\b|run|home/);
    expect(existsSync(join(home, 'x'))).toBe(false);
  });

  test('a hidden path stays hidden under another name [DS-BOX-03@oneshot]', async () => {
    const [project, links] = [makeFolder(), makeFolder()];
    mkdirSync(join(project, '.state'));
    writeFileSync(join(project, '.state/state.db'), 'secret');
    symlinkSync(project, join(links, 'other'));
    const lines = `ls ${links}/other; cat ${links}/other/.state/state.db ${project}/.state/state.db; echo end`;
    const shown = await say(lines, { read: [join(links, 'other')], hide: [join(project, '.state')] });
    expect(shown).toBe('end\n');
  });

  test('other processes are neither visible nor reachable [DS-BOX-04@oneshot]', async () => {
    const shown = await say(`ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} || echo none`);
    expect(shown).toMatch(/^[2-6]\nnone\n$/);
  });

  test('no privileges can be gained [DS-BOX-04@oneshot]', async () => {
    const facts = await say(
      "grep -E '^(NoNewPrivs|CapEff|CapPrm|CapInh|CapAmb):' /proc/self/status | tr -d '\\t'",
    );
    const none = '0000000000000000';
    expect(facts.split('\n').sort()).toEqual(
      ['', `CapAmb:${none}`, `CapEff:${none}`, `CapInh:${none}`, `CapPrm:${none}`, 'NoNewPrivs:1'].sort(),
    );
  });

  test('no further namespaces can be created', async () => {
    expect(await say('unshare -U true 2>/dev/null || echo refused')).toBe('refused\n');
  });

  test('loader variables reach the command, not bwrap', async () => {
    const env = {
      PATH: '/usr/bin:/bin',
      LD_LIBRARY_PATH: '/no/such',
      GREETING: 'hello',
      TMPDIR: '/var/folders',
    };
    const lines = `echo "$LD_LIBRARY_PATH $GREETING $TMPDIR"; tr '\\0' '\\n' < /proc/1/environ | grep -c LD_`;
    expect(await say(lines, { binding: { env } })).toBe('/no/such hello /tmp\n0\n');
  });

  test('values of variables are on no command line', async () => {
    const env = { PATH: '/usr/bin:/bin', TOKEN: `canary-${process.pid}-of-the-box` };
    const binding = { env, timeoutMs: 5_000 };
    const { fault, event } = await open(bindBoxed(script(folder, 'sleep 60'), { folder, binding }));
    const failed = fault();
    await event('process.started');
    await untilSoon(() => processesWith(env.TOKEN).length === 4, 'processes of the sandbox');
    const lines = processesWith(env.TOKEN).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    expect(lines.filter((line) => line.includes(env.TOKEN))).toEqual([]);
    expect(await failed).toMatchObject({ code: 'PROCESS_TIMEOUT' });
  });

  test('a server answers many calls in one sandbox, and ends with it', async () => {
    const lines = `import sys, json
for line in sys.stdin:
    call = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": call["params"]}), flush=True)`;
    const path = script(folder, lines, '/usr/bin/env python3');
    const { call, events, transport } = await open(bindBoxed(path, { folder, binding: { mode: 'server' } }));
    expect(await Promise.all([call({ a: 1 }), call({ a: 2 })])).toEqual([
      '{"args": {"a": 1}}',
      '{"args": {"a": 2}}',
    ]);
    expect(events.filter(({ type }) => type === 'process.started')).toHaveLength(1);
    await transport.close();
    const [started] = events.flatMap((event) => (event.type === 'process.started' ? [event.pid] : []));
    expect(isRunning(started ?? 0)).toBe(false);
  });

  test('twenty run concurrently, each in its own sandbox', async () => {
    const { call } = await open(
      bindBoxed(script(folder, 'echo $$ > /tmp/me; sleep 0.05; ls /tmp; cat /tmp/me'), { folder }),
    );
    const said = await Promise.all(Array.from({ length: 20 }, () => call()));
    expect(new Set(said.map((text) => text.split('\n')[0]))).toEqual(new Set(['me']));
  });

  test('waiting processes wait in their sandboxes', async () => {
    const lines = 'touch /tmp/here; read -r line; ls /tmp/here; echo "$line"';
    const { call, event } = await open(bindBoxed(script(folder, lines), { folder, binding: { spares: 1 } }));
    expect(await call()).toBe('/tmp/here\n{"args":{}}\n');
    await event('process.started', 1);
    expect(await call()).toBe('/tmp/here\n{"args":{}}\n');
  });
});

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  return typeof address === 'object' && address !== null
    ? address.port
    : numberAfter('port', String(address));
}
