import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { socketPlace } from '../../src/base/files/socket-place.ts';
import { versionOf } from '../../src/base/version.ts';
import { type Judge, openResident } from '../../src/cli/resident/resident.ts';
import { clientOnly, socketFolder } from '../dialects/inbound/resident.ts';
import { textOf } from '../leaks.ts';
import { folderOf, type Ran, run, signalbox, start, until } from './command-line.ts';

const guard = (word: string) => `#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    text = json.dumps(message["params"])
    if "sleep" in text:
        import time; time.sleep(3)
    denied = "${word}" in text or os.environ.get("FORBIDDEN", "-") in text
    result = {"allow": not denied, "reason": "${word}" if denied else ""}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`;
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks:
    words: {command: ./guard.py, runtime: server, hook: tool, phases: [before_execution], env: [FORBIDDEN]}
`;

interface Project {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly place: ReturnType<typeof socketPlace>;
}

/** With a folder for sockets of its own. */
function openProject(): Project {
  const folder = folderOf({ 'runtime.yaml': config, 'guard.py': guard('rm -rf') });
  const env = { XDG_RUNTIME_DIR: socketFolder(), FORBIDDEN: 'nothing' };
  onTestFinished(async () => void (await run('agents down', { cwd: folder, env, binary: true })));
  return { folder, env, place: socketPlace([join(folder, 'runtime.yaml')], env) };
}

const event = (command: string) =>
  JSON.stringify({
    ...{ hook_event_name: 'PreToolUse', session_id: 's1', cwd: '/project', tool_use_id: 'u1' },
    ...{ tool_name: 'Bash', tool_input: { command } },
  });
const line = ['hook', 'claude', '--log-level', 'silent'];

const ask = async (
  { folder, env }: Project,
  command: string,
  more: Record<string, string> = {},
): Promise<Ran> =>
  await run(line, { cwd: folder, env: { ...env, ...more }, stdin: event(command), binary: true });

/** Undefined if the resident leaves the event to the command. */
const askResident = async ({ folder, env }: Project, command: string, more: Record<string, string> = {}) => {
  const circumstances = { cwd: folder, env: { ...env, ...more }, stdin: event(command) };
  const ran = await start(line, circumstances, [process.execPath, clientOnly()]).ran;
  return ran.stderr.includes('ERR_MODULE_NOT_FOUND') ? undefined : ran;
};

/** Starts a resident in the foreground. */
async function beResident({ folder, env, place }: Project) {
  const { child, ran } = start(['agents', 'up', '--foreground'], { cwd: folder, env });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ran;
  });
  await until(() => existsSync(place.socket));
  return { child, ran };
}

const allowed: Ran = { code: 0, stdout: '', stderr: '' };
const denied = (reason: string) => ({
  code: 2,
  stdout: expect.stringContaining('"permissionDecision":"deny"'),
  stderr: `"words": ${reason}\n`,
});

const settings = JSON.stringify({
  hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }] },
});

describe('a resident compares at each event', () => {
  test('the config', async () => {
    const project = openProject();
    await beResident(project);
    expect(await askResident(project, 'ls')).toEqual(allowed);
    writeFileSync(join(project.folder, 'runtime.yaml'), config.replace('guard.py', 'other.py'));
    writeFileSync(join(project.folder, 'other.py'), guard('ls'), { mode: 0o755 });
    expect(await askResident(project, 'ls')).toEqual(denied('ls'));
    writeFileSync(join(project.folder, 'runtime.yaml'), 'spec: [');
    expect(await askResident(project, 'ls')).toBeUndefined();
    expect(await ask(project, 'ls')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('CONFIG_INVALID'),
    });
  });

  test.each([
    ['an overlay', 'other.yaml', 'spec: {}\n', 'spec: {hooks: {more: {command: ./deny.sh, hook: tool}}}\n'],
    ['an env file', 'variables', 'FILE=./allow.sh\n', 'FILE=./deny.sh\n'],
    ['an import', 'settings.json', '{"hooks": {}}', settings],
    ['an env file that was missing', 'variables', undefined, 'FILE=./deny.sh\n'],
  ])('%s', async (_, file, before, after) => {
    const project = openProject();
    const write = (name: string, content: string) =>
      writeFileSync(join(project.folder, name), content, { mode: 0o755 });
    write('allow.sh', '#!/bin/sh\ncat > /dev/null; echo \'{"allow": true}\'\n');
    write('deny.sh', '#!/bin/sh\ncat > /dev/null; echo \'{"allow": false, "reason": "no"}\'\n');
    write('other.yaml', 'spec: {}\n');
    write('settings.json', '{"hooks": {}}');
    if (before !== undefined) write(file, before);
    const more = `  env_file: variables\n  imports: [{dialect: claude, file: settings.json}]\n`;
    const hook = '    own: {command: "${env:FILE:-./allow.sh}", hook: tool, phases: [before_execution]}\n';
    write('runtime.yaml', `${config}${hook}${more}`);
    if (file !== 'variables') write('variables', '');
    const configs = ['--config', 'runtime.yaml', '--config', 'other.yaml'];
    const files = configs.filter((word) => word.endsWith('yaml')).map((name) => join(project.folder, name));
    const { child, ran } = start(['agents', 'up', '--foreground', ...configs], {
      cwd: project.folder,
      env: project.env,
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ran;
    });
    await until(() => existsSync(socketPlace(files, project.env).socket));
    const words = [...line, ...configs];
    const circumstances = { cwd: project.folder, env: project.env, stdin: event('ls') };
    const judge = async () => await run(words, { ...circumstances, binary: true });
    const first = await judge();
    expect(first).toMatchObject({ code: before === undefined ? 2 : 0 });
    write(file, after);
    expect(await judge()).toMatchObject({ code: 2, stderr: expect.stringMatching(/: no\n$/) });
    const asked = await start(words, circumstances, [process.execPath, clientOnly()]).ran;
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/: no/) });
  });

  test('the script of a server, even if its size and its time stay the same', async () => {
    const project = openProject();
    const script = join(project.folder, 'guard.py');
    await beResident(project);
    expect(await askResident(project, 'mkdir x')).toEqual(allowed);
    const time = new Date(1_700_000_000_000);
    utimesSync(script, time, time);
    expect(await askResident(project, 'mkdir x')).toEqual(allowed);
    writeFileSync(script, guard('mkdir '));
    utimesSync(script, time, time);
    expect(await askResident(project, 'mkdir x')).toEqual(denied('mkdir '));
  });

  test.each([
    ['in a folder far below', 'a/b/c/d/rules', '"guard.py"'],
    ['in a hidden file', '.env', '"guard.py"'],
    ['in a package', 'node_modules/rules/rules', '"guard.py"'],
    ['in a linked folder', 'link/rules', '"guard.py"'],
    ['in the folder of a script that a shell starts', 'a/rules', '-c, "python3 ./guard.py"'],
  ])('what a server has read %s', async (_, file, args) => {
    const project = openProject();
    const at = (name: string) => join(project.folder, name);
    mkdirSync(at('real'));
    symlinkSync('real', at('link'));
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), 'nothing');
    const script = guard('rm -rf').replace('for line', `rule = open("${at(file)}").read()\nfor line`);
    writeFileSync(at('guard.py'), script.replace('os.environ.get("FORBIDDEN", "-")', 'rule'));
    const program = args.startsWith('-c') ? 'sh' : 'python3';
    writeFileSync(
      at('runtime.yaml'),
      config
        .replace('./guard.py,', `${program}, args: [${args}],`)
        .replace('env: [FORBIDDEN]', 'env: [PATH]'),
    );
    await beResident(project);
    expect(await askResident(project, 'push')).toEqual(allowed);
    writeFileSync(at(file), 'push');
    expect(await askResident(project, 'push')).toEqual(denied('rm -rf'));
  });

  test.each(['FORBIDDEN', 'SHLVL'])('the variable %s of the caller', async (name) => {
    const project = openProject();
    const file = join(project.folder, 'guard.py');
    writeFileSync(file, readFileSync(file, 'utf8').replace('FORBIDDEN', name));
    writeFileSync(join(project.folder, 'runtime.yaml'), config.replace('FORBIDDEN', name));
    await beResident(project);
    const push = async (value: string) => await askResident(project, 'push v7', { [name]: value });
    expect(await push('v1')).toEqual(allowed);
    expect(await push('v7')).toEqual(denied('rm -rf'));
    expect(await push('v1')).toEqual(allowed);
  });
});

describe('the command judges by itself', () => {
  test('if the resident has been killed or has stopped', async () => {
    const project = openProject();
    const { child } = await beResident(project);
    expect(await askResident(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    child.kill('SIGSTOP');
    expect(await askResident(project, 'rm -rf x')).toBeUndefined();
    expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    child.kill('SIGKILL');
    expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    expect(await ask(project, 'ls')).toEqual(allowed);
  });

  const allow = '0\n\n\u0004';
  test.each<[string, (socket: Socket) => unknown]>([
    ['hangs up', (socket) => socket.destroy()],
    ['says nothing', () => {}],
    ['refuses', (socket) => socket.end(`HTTP/1.1 409 Conflict\r\n\r\n${allow}`)],
    ['stops in the middle', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n\n\n0\n\n')],
    ['falls silent', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n\n')],
    ['gives an unknown exit code', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n\n3\n\n\u0004')],
    ['is no HTTP server', (socket) => socket.end(allow)],
  ])('if the peer %s', async (_, answer) => {
    const project = openProject();
    await listen(project, answer);
    expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
  });

  test('if the folder has no name in UTF-8', async () => {
    const { folder, env } = openProject();
    const project = {
      folder: join(folder, '\uFFFD'),
      env,
      place: socketPlace([join(folder, '\uFFFD/runtime.yaml')], env),
    };
    mkdirSync(project.folder);
    writeFileSync(join(project.folder, 'runtime.yaml'), 'spec: {}\n');
    const other = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]);
    mkdirSync(other);
    await beResident(project);
    const words = `cd "$(printf '\\377')" && exec "$0" "$@"`;
    const asked = start(line, { cwd: folder, env, stdin: event('ls') }, [
      'sh',
      '-c',
      words,
      process.execPath,
      clientOnly(),
    ]);
    expect((await asked.ran).stderr).toContain('ERR_MODULE_NOT_FOUND');
  });

  test('if others can use the folder of the socket', async () => {
    const project = openProject();
    await listen(project, (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${allow}`));
    expect(await ask(project, 'rm -rf x')).toEqual(allowed);
    chmodSync(project.place.folder, 0o750);
    expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
  });

  test('if a hook that lets pass when it fails has failed', async () => {
    const project = openProject();
    const write = (name: string, content: string) => writeFileSync(join(project.folder, name), content);
    write(
      'runtime.yaml',
      'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {imports: [{dialect: claude, file: settings.json}]}\n',
    );
    write('settings.json', settings.replace('echo no', 'test -e ok || exit 1; echo no'));
    await beResident(project);
    expect(await askResident(project, 'ls')).toBeUndefined();
    write('ok', '');
    expect(await askResident(project, 'ls')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/: no/),
    });
  });

  test('if the state store was removed', async () => {
    const project = openProject();
    const file = join(project.folder, 'runtime.yaml');
    writeFileSync(
      file,
      'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {approvals: {all: {tools: [Bash]}}}\n',
    );
    await beResident(project);
    const waits = { code: 2, stderr: expect.stringContaining('waits for a person') };
    expect(await askResident(project, 'ls')).toMatchObject(waits);
    rmSync(join(project.folder, '.signalbox'), { recursive: true });
    expect(await askResident(project, 'ls')).toBeUndefined();
    expect(await ask(project, 'ls')).toMatchObject(waits);
    expect(await askResident(project, 'ls')).toMatchObject(waits);
  });

  test('if it is interrupted, and then denies', async () => {
    const project = openProject();
    await beResident(project);
    const { child, ran } = start(line, { cwd: project.folder, env: project.env, stdin: event('sleep') });
    await sleep(1_000);
    child.kill('SIGTERM');
    expect(await ran).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('"permissionDecision":"deny"'),
    });
  });

  test.each(['with', 'without'])(
    '%s a resident: if it is interrupted before the event has arrived',
    async (how) => {
      const { folder, env, place } = openProject();
      if (how === 'with') await beResident({ folder, env, place });
      const { child, ran } = start(line, { cwd: folder, env, stdin: null });
      await until(() => catchesSignals(child.pid));
      child.kill('SIGTERM');
      child.stdin?.end('{');
      expect(await ran).toMatchObject({ code: 2, stdout: expect.stringContaining('"decision":"block"') });
    },
  );

  test.each(['with', 'without'])(
    '%s a resident: if it is interrupted while the program loads',
    async (how) => {
      const { folder, env, place } = openProject();
      if (how === 'with') mkdirSync(place.folder, { mode: 0o700 });
      const interrupts = `import { registerHooks } from 'node:module';
registerHooks({load: (url, context, next) => {
  if (url.endsWith('/process/run.js')) process.kill(process.pid, 'SIGTERM');
  return next(url, context);
}});`;
      const file = join(folder, 'interrupts.mjs');
      writeFileSync(file, interrupts);
      const more = { ...env, NODE_OPTIONS: `--import=${file}` };
      const ran = await run(line, { cwd: folder, env: more, stdin: event('ls'), binary: true });
      expect(ran).toMatchObject({ code: 2, stdout: expect.stringContaining('"decision":"block"') });
    },
  );

  test.skipIf(process.getuid?.() !== 0)('if the socket is that of another user', async () => {
    const project = openProject();
    await listen(project, (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${allow}`));
    for (const path of [project.place.socket, project.place.folder]) {
      expect(await ask(project, 'rm -rf x')).toEqual(allowed);
      chownSync(path, 65_534, 65_534);
      expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
      chownSync(path, 0, 0);
    }
  });

  test('if the resident is of another version', async () => {
    const project = openProject();
    await beResident(project);
    const copy = join(dirname(clientOnly()), '../..');
    const other = mkdtempSync(join(tmpdir(), 'other-'));
    cpSync(copy, other, { recursive: true });
    const file = join(other, 'dist/cli/main.js');
    const version = /"(\d+\.\d+\.\d+)"/;
    expect(version.exec(readFileSync(file, 'utf8'))?.[1]).toBe(versionOf());
    writeFileSync(file, readFileSync(file, 'utf8').replace(version, '"0.0.1"'));
    const circumstances = { cwd: project.folder, env: project.env, stdin: event('ls') };
    const asked = start(line, circumstances, [process.execPath, file]);
    expect((await asked.ran).stderr).toContain('ERR_MODULE_NOT_FOUND');
    expect(await askResident(project, 'ls')).toEqual(allowed);
  });
});

/** Whether the program catches SIGHUP, the last of its signals. Node itself catches SIGTERM. */
function catchesSignals(pid: number | undefined): boolean {
  const [, last = '0'] = /^SigCgt:\s*\w*(\w)$/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
  return (Number.parseInt(last, 16) & 1) === 1;
}

async function listen({ place }: Project, answer: (socket: Socket) => unknown): Promise<void> {
  mkdirSync(place.folder, { mode: 0o700 });
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket));
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(place.socket, resolve));
  onTestFinished(() => void server.close());
}

describe('signalbox agents up', () => {
  test('starts one resident, however many start at once, and takes the place of a dead one', async () => {
    const project = openProject();
    const { folder, env, place } = project;
    const { child } = await beResident(project);
    child.kill('SIGKILL');
    const others = await Promise.all(
      [1, 2, 3].map(async () => await run('agents up', { cwd: folder, env, binary: true })),
    );
    expect(others.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await askResident(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    await until(() => readdirSync(place.folder).filter((name) => name.endsWith('.sock')).length === 1);
    expect(await run('agents down', { cwd: folder, env, binary: true })).toMatchObject({
      stdout: 'The resident ends.\n',
    });
    // One that was still starting ends too.
    await until(() => readdirSync(place.folder).length === 0);
  });

  test('ends a resident that was still starting when `agents down` was called', async () => {
    const { folder, env, place } = openProject();
    mkdirSync(place.folder, { mode: 0o700 });
    const words = ['agents', 'up', '--foreground', '--while-wanted'];
    expect(await start(words, { cwd: folder, env }).ran).toMatchObject({ code: 0 });
    expect(readdirSync(place.folder)).toEqual([]);
  });

  test('ends without events, and once another process listens at its place', async () => {
    const { folder, env, place } = openProject();
    const files = [join(folder, 'runtime.yaml')];
    const judge: Judge = {
      isCurrent: () => true,
      judge: async () => ({ code: 0, stdout: '', stderr: '', isFaulty: false }),
      close: async () => {},
    };
    const idle = await openResident(judge, { files, env, idleMs: 100 });
    await idle?.ended;
    expect(readdirSync(place.folder)).toEqual([]);
    const one = await openResident(judge, { files, env });
    expect(await openResident(judge, { files, env })).toBeUndefined();
    rmSync(place.socket);
    const other = await openResident(judge, { files, env });
    await one?.ended;
    expect(existsSync(place.socket)).toBe(true);
    await other?.close();
    expect(readdirSync(place.folder)).toEqual([]);
  });

  test('lets an event start the resident again', async () => {
    const project = openProject();
    const { folder, env, place } = project;
    mkdirSync(place.folder, { mode: 0o700 });
    writeFileSync(place.wanted, '');
    expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    expect(existsSync(place.socket)).toBe(false);
    utimesSync(place.wanted, 0, 0);
    expect(await ask(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    await until(() => existsSync(place.socket));
    expect(await askResident(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    expect(await run('agents down', { cwd: folder, env, binary: true })).toMatchObject({ code: 0 });
  });

  test('reports a config with mistakes or plugins, and a folder of somebody else', async () => {
    const { folder, env, place } = openProject();
    mkdirSync(join(folder, 'plugins'));
    writeFileSync(
      join(folder, 'runtime.yaml'),
      `${config}  imports: [{dialect: chibi, plugins_dir: plugins}]\n`,
    );
    expect(await run('agents up', { cwd: folder, env, binary: true })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not serve a config that imports plugins'),
    });
    writeFileSync(join(folder, 'runtime.yaml'), config);
    mkdirSync(place.folder, { mode: 0o755 });
    expect(await run('agents up', { cwd: folder, env, binary: true })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a folder that only this user can use'),
    });
    writeFileSync(join(folder, 'runtime.yaml'), 'spec: [');
    expect(await run('agents up', { cwd: folder, env, binary: true })).toMatchObject({ code: 2 });
  });
});

describe('the line of hook export --resident', () => {
  async function exportLine({ folder, env }: Project): Promise<string> {
    const words = ['hook', 'export', '--dialect', 'claude', '--resident'];
    const { stdout } = await run(words, { cwd: folder, env, binary: true });
    return JSON.parse(stdout).hooks.PreToolUse[0].hooks[0].command;
  }
  const inShell = async ({ env }: Project, command: string, stdin: string, shell = 'sh') =>
    await start(['-c', command], { cwd: '/', env, stdin }, [shell]).ran;

  test.each(['sh', 'bash'])('gives the answers of the resident in %s', async (shell) => {
    const project = openProject();
    const command = await exportLine(project);
    await beResident(project);
    // Without the command, only the resident can answer.
    const only = command.replaceAll(signalbox[1], '/gone');
    expect(await inShell(project, only, event('rm -rf x'), shell)).toEqual(denied('rm -rf'));
    expect(await inShell(project, only, event("it's $HOME `é` \\n"), shell)).toEqual(allowed);
    expect(
      await inShell({ ...project, env: { ...project.env, FORBIDDEN: 'push' } }, only, event('push'), shell),
    ).toEqual(denied('rm -rf'));
  });

  test('runs the command if no resident answers, and exits with 2 if that fails too', async () => {
    const project = openProject();
    const command = await exportLine(project);
    const failing = command.replaceAll(signalbox[1], '/gone');
    expect(await inShell(project, command, event('rm -rf x'))).toEqual(denied('rm -rf'));
    expect(await inShell(project, command, event('ls'))).toEqual(allowed);
    expect(await inShell(project, failing, event('ls'))).toMatchObject({ code: 2 });
    const { child } = await beResident(project);
    child.kill('SIGSTOP');
    expect(await inShell(project, command, event('rm -rf x'))).toEqual(denied('rm -rf'));
    expect(await inShell(project, failing, event('ls'))).toMatchObject({ code: 2 });
  });

  test('denies an event with null characters, which variables of a shell would lose', async () => {
    const project = openProject();
    const command = await exportLine(project);
    const wide = Buffer.from(event('ls'), 'utf16le').toString('latin1');
    expect(await inShell(project, command, wide)).toMatchObject({ code: 2 });
    await beResident(project);
    expect(await inShell(project, command, wide)).toMatchObject({ code: 2 });
  });
});

describe('/agents/claude of signalbox serve', () => {
  async function serve({ folder, env }: Project) {
    writeFileSync(join(folder, 'runtime.yaml'), `${config}  gateway: {listen: 127.0.0.1:0}\n`);
    const { child, ran } = start(['serve', '--json', '--log-level', 'silent'], { cwd: folder, env });
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await ran;
    });
    const [first] = await once(child.stdout ?? process.stdin, 'data');
    const { agents }: { readonly agents: string } = JSON.parse(String(first));
    const { stdout } = await run('agents token', { cwd: folder, env, binary: true });
    const post = async (
      body: string,
      more: Record<string, string | undefined> = {},
    ): Promise<[number, unknown]> => {
      const headers = {
        authorization: `Bearer ${stdout.trim()}`,
        'content-type': 'application/json',
        ...more,
      };
      return await new Promise((resolve, reject) => {
        const given = Object.entries(headers).filter(([, value]) => value !== undefined);
        const request = httpRequest(
          agents,
          { method: 'POST', headers: Object.fromEntries(given) },
          async (response) => {
            const answer = await text(response);
            resolve([response.statusCode ?? 0, answer === '' ? undefined : JSON.parse(answer)]);
          },
        );
        request.once('error', reject).end(body);
      });
    };
    return { post, agents };
  }
  const denial = (reason: string) => ({
    hookSpecificOutput: {
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
    },
  });

  test('gives the decisions of the command, and never those of an old config', async () => {
    const project = openProject();
    const { post } = await serve(project);
    expect(await post(event('ls'))).toEqual([200, {}]);
    expect(await post(event('rm -rf x'))).toEqual([200, denial('"words": rm -rf')]);
    expect(await post('{')).toMatchObject([200, { decision: 'block', continue: false }]);
    expect(await askResident(project, 'rm -rf x')).toEqual(denied('rm -rf'));
    writeFileSync(join(project.folder, 'guard.py'), guard('ls'), { mode: 0o755 });
    expect(await post(event('ls'))).toEqual([200, denial('"words": ls')]);
    writeFileSync(join(project.folder, 'runtime.yaml'), 'spec: [');
    expect(await post(event('ls'))).toMatchObject([200, denial(expect.stringContaining('CONFIG_INVALID'))]);
  });

  test.each<[string, number, Record<string, string | undefined>]>([
    ['without the token', 401, { authorization: undefined }],
    ['with another token', 401, { authorization: 'Bearer x' }],
    ['with another host, as after DNS rebinding', 403, { host: 'evil.example' }],
    ['from a page', 403, { origin: 'http://127.0.0.1' }],
    ['from a browser', 403, { 'sec-fetch-site': 'same-origin' }],
    ['as a form', 415, { 'content-type': 'text/plain' }],
  ])('refuses a request %s', async (_, status, headers) => {
    const { post } = await serve(openProject());
    expect(await post(event('ls'), headers)).toEqual([status, undefined]);
  });

  test('takes the token of the variable, and none that is short', async () => {
    const project = openProject();
    const { folder, env, place } = project;
    const token = 'k'.repeat(32);
    const { post } = await serve({ ...project, env: { ...env, SIGNALBOX_AGENT_TOKEN: token } });
    expect(await post(event('ls'), { authorization: `Bearer ${token}` })).toEqual([200, {}]);
    expect(await post(event('ls'), { authorization: 'Bearer x' })).toEqual([401, undefined]);
    writeFileSync(join(place.folder, 'token'), '');
    expect(await run('agents token', { cwd: folder, env, binary: true })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: \[FILE_UNREADABLE\] .* fewer than 32 characters: remove it\n/),
    });
  });

  test('is what hook export --http names', async () => {
    const { folder, env } = openProject();
    const { stdout } = await run('hook export --dialect claude --http', { cwd: folder, env, binary: true });
    expect(JSON.parse(stdout).hooks.PreToolUse).toEqual([
      {
        matcher: '*',
        hooks: [
          {
            type: 'http',
            url: 'http://127.0.0.1:8787/agents/claude?answer-within=590s',
            headers: { Authorization: `Bearer \${SIGNALBOX_AGENT_TOKEN}` },
            allowedEnvVars: ['SIGNALBOX_AGENT_TOKEN'],
            timeout: 600,
            onFailure: 'block',
          },
        ],
      },
    ]);
    expect(JSON.parse(stdout).hooks.PreSkillShellCommand[0].hooks[0].type).toBe('command');
  });
});
