import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { formatProblem, problemsOf } from '../../../src/base/yaml/problem.ts';
import { openRuntime, type RuntimeEvent, type RuntimeOptions } from '../../../src/index.ts';
import { validateFile } from '../../../src/runtime/validate-file.ts';
import { faultOf, launchers } from '../harness.ts';
import { makeFolder, noSandbox, processesWith, untilSoon } from './box.ts';

const env = { PATH: '/usr/bin:/bin', HOME: '/root' };
const sh = (line: string) => `command: sh, args: ["-c", ${JSON.stringify(line)}], sandbox: box`;

function write(
  spec: string,
  apiVersion = 'signalbox/v1',
): { readonly file: string; readonly folder: string } {
  const folder = makeFolder();
  mkdirSync(join(folder, 'out'));
  const file = join(folder, 'runtime.yaml');
  writeFileSync(
    file,
    `apiVersion: ${apiVersion}\nkind: RuntimeConfig\nspec:\n${spec.replaceAll(/^/gm, '  ')}\n`,
  );
  return { file, folder };
}

async function open(spec: string, options: RuntimeOptions = {}) {
  const { file, folder } = write(spec);
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(file, {
    log: false,
    env,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => runtime.close());
  return { runtime, events, folder };
}

const prompt = { dialect: 'claude', point: 'UserPromptSubmit', payload: { prompt: 'Hello.' } } as const;

describe.skipIf(noSandbox !== undefined)('entries in a sandbox of bubblewrap', () => {
  test('a program gets the trace of its caller', async () => {
    const print = 'echo "{\\"result\\": \\"$TRACEPARENT $TRACESTATE\\"}"';
    const { runtime } = await open(
      `sandboxes: {box: {mode: bubblewrap}}\ntools: {t: {exec: {${sh(print)}}}}`,
    );
    const trace = { traceparent: `00-${'1'.repeat(32)}-00f067aa0ba902b7-01`, tracestate: 'a=1' };
    const result = `${trace.traceparent} a=1`;
    expect(await runtime.tools.call('t', {}, { trace })).toEqual({ status: 'ok', result });
  });

  test.each([
    { limit: 'memory_mb', value: 64, line: 'head -c 600000000 /dev/zero | tail -n 1 > /dev/null' },
    { limit: 'file_size_mb', value: 1, line: 'head -c 5000000 /dev/zero > /tmp/x' },
    { limit: 'cpu_seconds', value: 1, line: 'while :; do :; done' },
  ])('the limit $limit applies in it as without it', async ({ limit, value, line }) => {
    const { runtime } = await open(
      `sandboxes: {box: {mode: bubblewrap}}\ntools: {t: {exec: {${sh(`${line}; exit $?`)}, limits: {${limit}: ${value}}}}}`,
    );
    const document = await runtime.tools.call('t');
    expect(document).toMatchObject({
      status: 'failed',
      error: { code: 'LIMIT_EXCEEDED', details: { limit, value } },
    });
  });

  test.each(launchers)(
    'tools, evals and hooks run in it by the %s launcher [DS-BOX-03@oneshot]',
    async (launcher) => {
      const isInside = 'test ! -e /run && test "$(ls -A .signalbox)" = "" && ! echo x >> runtime.yaml';
      const { runtime } = await open(
        `sandboxes: {box: {mode: bubblewrap, write: [.]}}
tools:
  t: {exec: {${sh(`${isInside} && echo x > out/x && echo '{"result": 1}'`)}}}
evals:
  e: {${sh(`${isInside} && echo '{"score": 0.5}'`)}}
hooks:
  native: {hook: provider, phases: [before_call], ${sh(`${isInside} && echo '{"allow": true}'`)}}
  foreign: {dialect: claude, on_failure: deny, claude: {event: UserPromptSubmit}, ${sh(`${isInside}; exit $?`)}}`,
        { launcher },
      );
      expect(await runtime.tools.call('t')).toEqual({ status: 'ok', result: 1 });
      expect(await runtime.evals.call('e', { content: '' })).toMatchObject({ status: 'scored', score: 0.5 });
      const event = { hook: 'provider', phase: 'before_call', request: {} } as const;
      expect(await runtime.hooks.fire(event)).toMatchObject({ verdict: 'allow' });
      expect(await runtime.hooks.fire(prompt)).toMatchObject({ verdict: 'allow' });
    },
  );

  test('a denied access fails, with the key that would allow it [DS-BOX-09@oneshot]', async () => {
    const { runtime, folder } = await open(`sandboxes: {box: {mode: bubblewrap, write: [out]}}
tools:
  connects: {exec: {command: python3, args: ["-c", "import socket; socket.create_connection(('192.0.2.1', 80), 5)"], sandbox: box}}
  writes: {exec: {${sh('echo x > here')}}}
  reads: {exec: {${sh('cat /root/.profile')}}}`);
    const details = { sandbox: { name: 'box', mode: 'bubblewrap' } };
    const error = (hint: RegExp) => ({
      error: { code: 'PROCESS_EXIT', hint: expect.stringMatching(hint), details },
    });
    expect(await runtime.tools.call('connects')).toMatchObject(
      error(/has no network: `network: true` in spec\.sandboxes\.box/),
    );
    expect(await runtime.tools.call('writes')).toMatchObject(
      error(/lets it write to \/tmp and to what `write` of spec\.sandboxes\.box names/),
    );
    expect(await runtime.tools.call('reads')).toMatchObject(
      error(/what `read` of spec\.sandboxes\.box names/),
    );
    expect(existsSync(join(folder, 'here'))).toBe(false);
  });

  test('hooks deny when their sandbox fails, even if their own system lets failures pass [DS-BOX-08@oneshot]', async () => {
    const { runtime } = await open(`sandboxes: {box: {mode: bubblewrap, read: [gone]}, other: {mode: gaol}}
hooks:
  native: {hook: provider, phases: [before_call], ${sh(`echo '{"allow": true}'`)}}
  foreign: {dialect: claude, claude: {event: UserPromptSubmit}, ${sh('exit 0')}}
  third: {dialect: claude, claude: {event: Stop}, command: "true", sandbox: other}`);
    const denied = { verdict: 'deny', error: { code: 'SANDBOX_FAILED' } };
    const event = { hook: 'provider', phase: 'before_call', request: {} } as const;
    expect(await runtime.hooks.fire(event)).toMatchObject(denied);
    expect(await runtime.hooks.fire(prompt)).toMatchObject(denied);
    expect(await runtime.hooks.fire({ ...prompt, point: 'Stop', payload: {} })).toMatchObject(denied);
  });

  test('imported hooks and plugins run in the sandbox that their import names', async () => {
    const { file, folder } = write(`sandboxes: {box: {mode: bubblewrap, read: [plugins]}}
imports:
  - {dialect: claude, file: settings.json, on_failure: deny, sandbox: box}
  - {dialect: chibi, plugins_dir: plugins, on_failure: deny, sandbox: box}`);
    const command = 'test -e /run && exit 2; exit 0';
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ hooks }));
    mkdirSync(join(folder, 'plugins'));
    const schema = '{"name": "where", "description": "", "parameters": {"type": "object"}}';
    const plugin = join(folder, 'plugins/where');
    writeFileSync(
      plugin,
      `#!/bin/sh\ntest -e /run && exit 9\n[ "$1" = --schema ] && { echo '${schema}'; exit; }\necho inside\n`,
    );
    chmodSync(plugin, 0o755);
    const runtime = await openRuntime(file, { log: false, env });
    onTestFinished(() => runtime.close());
    expect(await runtime.hooks.fire(prompt)).toMatchObject({ verdict: 'allow' });
    expect(await runtime.tools.call('where')).toMatchObject({
      status: 'ok',
      result: expect.stringContaining('inside'),
    });
  });

  test('a script that would be forked runs by itself, with a note', async () => {
    const { runtime, events, folder } = await open(`sandboxes: {box: {mode: bubblewrap}}
tools:
  t: {exec: {command: python3, args: [tool.py], runtime: fork, sandbox: box}}`);
    writeFileSync(join(folder, 'tool.py'), 'print(\'{"result": 1}\')');
    expect(await runtime.tools.call('t')).toEqual({ status: 'ok', result: 1 });
    const notes = events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
    expect(notes).toContain('runs as one-shot, not forked: in a sandbox, each process starts separately');
  });

  test('SIGKILL of Signalbox leaves nothing inside [DS-BOX-05@oneshot]', async () => {
    const { file } = write(`sandboxes: {box: {mode: bubblewrap}}
tools:
  t: {exec: {${sh('setsid sleep 600 & sleep 600')}, env: ["MARK=killed-${process.pid}-with"]}}`);
    const program = `import { openRuntime } from ${JSON.stringify(join(import.meta.dirname, '../../../src/index.ts'))};
(await openRuntime(${JSON.stringify(file)}, { log: false })).tools.call('t');`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
    await untilSoon(() => processesWith(`MARK=killed-${process.pid}-with`).length >= 5, 'processes inside');
    host.kill('SIGKILL');
    await untilSoon(() => processesWith(`MARK=killed-${process.pid}-with`).length === 0, 'end of all inside');
    expect(existsSync(join(file, '../out'))).toBe(true);
  });
});

describe('an unavailable sandbox', () => {
  const tool = 'tools:\n  t: {exec: {command: "true", sandbox: box}}';
  const without = { PATH: makeFolder(), HOME: '/root' };

  test.each([
    {
      title: 'bubblewrap is not installed',
      spec: `sandboxes:\n  box:\n    mode: bubblewrap\n${tool}`,
      says: ':6:13 sandboxes[box]: bubblewrap, which its sandbox "box" needs, is not installed\n    hint: Install it: `apt-get install bubblewrap`, or `dnf install bubblewrap`.',
    },
    {
      title: 'the client is not installed',
      spec: `sandboxes:\n  box:\n    mode: docker_run\n    image: x\n${tool}`,
      says: ':6:13 sandboxes[box]: docker, the program of its sandbox "box", does not exist\n    hint: Install it, or correct its name.',
    },
  ])('is an error of the file where $title [DS-BOX-07]', async ({ spec, says }) => {
    const { file } = write(spec);
    const fault = await faultOf(openRuntime(file, { log: false, env: without }));
    expect(fault.code).toBe('CONFIG_INVALID');
    expect(problemsOf(fault).map(formatProblem)).toEqual([`${file}${says}`]);
  });

  test('is an error of the file, in PromptKit’s too, where the system permits none; validate reports it', async () => {
    const bin = makeFolder();
    const words = 'bwrap: No permissions to create new namespace';
    writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\necho "${words}" >&2\nexit 1\n`);
    chmodSync(join(bin, 'bwrap'), 0o755);
    const spec = `sandboxes:\n  box: {mode: bubblewrap}\n${tool}`;
    const { file } = write(spec, 'promptkit.altairalabs.ai/v1alpha1');
    const PATH = `${bin}:${process.env['PATH']}`;
    const fault = await faultOf(openRuntime(file, { log: false, env: { PATH } }));
    const told = problemsOf(fault).map(({ message, hint }) => ({ message, hint }));
    expect(told).toEqual([
      {
        message:
          'sandboxes[box]: bubblewrap cannot make a sandbox here: No permissions to create new namespace',
        hint: expect.stringContaining('kernel.unprivileged_userns_clone=1'),
      },
    ]);
    const before = process.env['PATH'];
    onTestFinished(() => {
      process.env['PATH'] = before;
    });
    process.env['PATH'] = PATH;
    const found = await validateFile(file, file);
    expect(found.filter(({ severity }) => severity === 'error')).toMatchObject(told);
  });

  test('is no error if no entry uses it [DS-BOX-07]', async () => {
    const { file } = write('sandboxes: {box: {mode: bubblewrap}, client: {mode: docker_run, image: x}}');
    const runtime = await openRuntime(file, { log: false, env: without });
    await runtime.close();
    expect(runtime.tools.list()).toEqual([]);
  });

  test('that would expose a home folder, or the state of Signalbox, is an error of the file', async () => {
    const shows = async (spec: string, home?: string) => {
      const { file, folder } = write(`${spec}\n${tool}`);
      const host = { ...env, HOME: home ?? folder };
      return problemsOf(await faultOf(openRuntime(file, { log: false, env: host }))).map(
        ({ message }) => message,
      );
    };
    expect(await shows('sandboxes: {box: {mode: bubblewrap}}')).toEqual([
      expect.stringMatching(/^sandboxes\[box\]: it would make all of .*, the folder of this file, readable$/),
    ]);
    const own = await shows('sandboxes: {box: {mode: bubblewrap}}\nstate_store: {path: state.db}', '/root');
    expect(own).toEqual([
      expect.stringMatching(/^sandboxes\[box\]: it shows .*, where Signalbox keeps its state$/),
    ]);
    const deep = await shows(
      'sandboxes: {box: {mode: bubblewrap, write: [.]}}\nstate_store: {path: a/b/state.db}',
      '/root',
    );
    expect(deep).toEqual([
      expect.stringMatching(/^sandboxes\[box\]: it may write .*, and so move what is hidden/),
    ]);
  });
});
