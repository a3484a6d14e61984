import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openPath } from '../../../src/process/sandbox/bubblewrap/start.ts';
import { open } from '../harness.ts';
import { type BoxOptions, bindBoxed, makeFolder, noSandbox, script } from './box.ts';

/** Visible both when read and when run. */
const secret = '#!/bin/sh\necho PRIVATE KEY\n';

/** A project with a writable folder, and a home folder that the config does not mention. */
function makeWorld() {
  const root = makeFolder();
  const [project, home, work] = [join(root, 'project'), join(root, 'home'), join(root, 'project/work')];
  mkdirSync(join(home, 'deep'), { recursive: true });
  mkdirSync(work, { recursive: true });
  for (const file of ['key', 'deep/key']) writeFileSync(join(home, file), secret, { mode: 0o755 });
  return { root, project, home, work };
}

const tool = `for each in key deep/key; do cat "$1/$each" "$2/$each" "$2" 2>/dev/null; done
echo planted 2>/dev/null > "$1/planted"; echo planted 2>/dev/null > "$2/planted"; echo end`;

/** How a sandboxed process turns its folder into a way out, and the config key that then uses it. */
const plots = fc.record({
  names: fc.array(fc.constantFrom('a', 'b', 'c d', '\u00e9', '-x'), { minLength: 1, maxLength: 4 }),
  linkAt: fc.nat(3),
  isRelative: fc.boolean(),
  target: fc.constantFrom('', 'deep', 'key'),
  key: fc.constantFrom('cwd', 'read', 'write', 'script', 'command', 'hide'),
  // Whether the same sandbox or another one writes the folder.
  isOwn: fc.boolean(),
});

describe.skipIf(noSandbox !== undefined)('a planted link of a sandboxed process', () => {
  test('leads nowhere, whichever key of the config names it', async () => {
    await fc.assert(
      fc.asyncProperty(plots, async ({ names, linkAt, isRelative, target, key, isOwn }) => {
        const { root, project, home, work } = makeWorld();
        const at = Math.min(linkAt, names.length - 1);
        const path = join(work, ...names);
        const link = join(work, ...names.slice(0, at + 1));
        const goal = join(home, target);
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(isRelative ? relative(dirname(link), goal) : goal, link);
        const command = script(project, tool);
        const options: BoxOptions = {
          folder: project,
          ...(isOwn ? { write: [work] } : { writtenElsewhere: [work] }),
          ...((key === 'read' || key === 'cwd') && { read: [path] }),
          ...(key === 'write' && { write: [path] }),
          ...(key === 'hide' && { hide: [path] }),
        };
        const bound = bindBoxed(key === 'command' ? path : command, options);
        // The folder must exist in the sandbox, empty, for the link to resolve.
        const env = { ...bound.env, HOME: home };
        const args = key === 'script' ? [path] : [home, path];
        const { transport } = await open({
          ...{ ...bound, env, args },
          ...(key === 'cwd' && { cwd: path }),
          ...(key === 'script' && { command: '/bin/sh' }),
        });
        const reply = await transport.exchange({ method: '', body: '' }).catch((error: unknown) => error);
        await transport.close();
        const seen =
          reply instanceof Object && 'stdout' in reply ? String(reply.stdout) : JSON.stringify(reply);
        expect(Buffer.from(seen).toString()).not.toContain('PRIVATE KEY');
        expect(readdirSync(home).sort()).toEqual(['deep', 'key']);
        expect(readFileSync(join(home, 'key'), 'utf8')).toBe(secret);
        rmSync(root, { recursive: true });
      }),
      { numRuns: 120, seed: 26 },
    );
  }, 200_000);

  test('a person’s link outside of writable folders is followed as usual', async () => {
    const { root, project, home } = makeWorld();
    symlinkSync(home, join(root, 'link'));
    const { call } = await open(
      bindBoxed(script(project, `cat ${root}/link/key`), { folder: project, read: [join(root, 'link')] }),
    );
    expect(await call()).toBe(secret);
  });

  test('a script written inside selects no interpreter outside', async () => {
    const { project, home, work } = makeWorld();
    const planted = script(work, 'anything', join(home, 'key'));
    const { transport } = await open(bindBoxed(planted, { folder: project, write: [work] }));
    await expect(transport.exchange({ method: '', body: '' })).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
    });
  });

  test('the state folder is created before anything inside could create it', async () => {
    const { project } = makeWorld();
    const state = join(project, '.state');
    const line = `mkdir ${state}/x 2>/dev/null || echo refused`;
    const { call } = await open(
      bindBoxed(script(project, line), { folder: project, write: [project], hide: [state] }),
    );
    expect(await call()).toBe('refused\n');
    expect(readdirSync(state)).toEqual([]);
  });
});

test('a path is opened step by step, without following links below a writable folder', () => {
  const { project, home, work } = makeWorld();
  symlinkSync('../../home', join(work, 'out'));
  symlinkSync(work, join(project, 'in'));
  expect(openPath(join(project, 'in'), [work])).toMatchObject({ real: work, isFolder: true });
  expect(openPath(join(home, 'key'), [work])).toMatchObject({ isFolder: false });
  expect(() => openPath(join(project, 'in/out/key'), [work])).toThrow(`${work}/out is a link`);
  expect(() => openPath(join(work, 'none'), [work])).toThrow(`${work}/none does not exist`);
  symlinkSync('loop', join(project, 'loop'));
  expect(() => openPath(join(project, 'loop'), [])).toThrow('too many links');
});

describe.skipIf(noSandbox !== undefined)('a secret file', () => {
  const world = () => {
    const { root, project } = makeWorld();
    for (const name of ['.env', 'data', 'keys/main.key', 'keys/note']) {
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), name.endsWith('.key') || name === '.env' ? secret : 'open');
    }
    symlinkSync('data', join(project, 'link'));
    return { root, project, secrets: [join(project, '.env'), join(project, 'keys/main.key')] };
  };
  const look = `cat .env keys/main.key data link keys/note; ls -A . keys | tr '\\n' ' '`;

  test('stays hidden when a rename puts another file in its place', async () => {
    const { project, secrets } = world();
    const server = `import sys, json, os
for line in sys.stdin:
    said = os.popen("cd '${project}'; cat .env keys/main.key data link keys/note 2>&1").read()
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": said}), flush=True)`;
    const path = script(project, server, '/usr/bin/env python3');
    const { call } = await open(bindBoxed(path, { folder: project, secrets, binding: { mode: 'server' } }));
    const before = await call();
    expect(before).toContain('openopen');
    for (const file of secrets) {
      writeFileSync(`${file}.new`, secret);
      renameSync(`${file}.new`, file);
    }
    expect(await call()).toBe(before);
    expect(before).not.toContain(secret);
  });

  test('is absent, while its siblings are visible, and cannot be created there', async () => {
    const { project, secrets } = world();
    const { transport } = await open(
      bindBoxed(script(project, `${look}; echo x > .env; echo x > other`), { folder: project, secrets }),
    );
    const reply = await transport.exchange({ method: '', body: '' });
    const said = reply.via === 'process' ? Buffer.from(reply.stdout).toString() : '';
    expect(said).toMatch(/^openopenopen/);
    expect(said).not.toMatch(/PRIVATE|\.env|main\.key/);
    expect(existsSync(join(project, 'other'))).toBe(false);
  });

  test.each([
    {
      title: 'its folder may be written',
      write: '.',
      says: 'a file that takes its place would be visible',
    },
    { title: 'a folder far above it may be written', write: '..', says: 'so move what is hidden' },
  ])('is refused where $title', async ({ write, says }) => {
    const { project, secrets } = world();
    const [, key = ''] = secrets;
    const { fault } = await open(
      bindBoxed(script(project, 'true'), {
        folder: project,
        ...{ write: [join(project, write)], secrets: write === '.' ? secrets : [key] },
      }),
    );
    expect(await fault()).toMatchObject({ code: 'SANDBOX_FAILED', message: expect.stringContaining(says) });
  });
});

describe.skipIf(noSandbox !== undefined)('the host', () => {
  const run = async (lines: string, options: Partial<BoxOptions> = {}) => {
    const folder = makeFolder();
    const { call } = await open(
      bindBoxed(script(folder, lines, '/usr/bin/env python3'), { folder, ...options }),
    );
    return JSON.parse(await call());
  };

  test.each([{ read: [] }, { read: ['/'] }])(
    'nothing in /proc and /sys can be written, also by root: read $read',
    async ({ read }) => {
      const lines = `import os, json
can = []
for root in ['/proc', '/sys']:
    for folder, folders, files in os.walk(root):
        if folder == '/proc': folders[:] = [each for each in folders if not each.isdigit() or each == str(os.getpid())]
        if folder.startswith('/proc/%d/' % os.getpid()): folders[:] = []
        for file in [] if folder.endswith('/fd') else files:
            try: os.close(os.open(folder + '/' + file, os.O_WRONLY | os.O_NONBLOCK)); can.append(folder + '/' + file)
            except OSError: pass
secrets = [name for name in os.listdir('/proc') if not name.isdigit() and not os.stat('/proc/' + name).st_mode & 4]
print(json.dumps({"can": can, "secrets": secrets, "uid": os.getuid(), "sys": os.path.exists('/sys') and os.listdir('/sys')}))`;
      const { can, secrets, uid, sys } = await run(lines, { read });
      expect(can).toEqual([]);
      expect(sys === false || sys.length === 0).toBe(true);
      // Even root sees no file that only root may read.
      expect([secrets.length === 0 || process.getuid?.() !== 0, uid]).toEqual([
        true,
        process.getuid?.() === 0 ? 65534 : process.getuid?.(),
      ]);
    },
  );

  test.runIf(process.arch === 'x64')('no keyring is accessible', async () => {
    const lines = `import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    return 0 if libc.syscall(*args) != -1 else ctypes.get_errno()
print(json.dumps([call(250, 0, -3, 1), call(248, b"user", b"x", b"y", 1, -3), call(249, b"user", b"x", None, 0),
  call(0x40000000 + 250, 0, -3, 1), call(39)]))`;
    expect(await run(lines)).toEqual([1, 1, 1, 1, 0]);
  });
});
