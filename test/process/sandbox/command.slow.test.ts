import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { open } from '../../runtime/open.ts';
import { makeFolder, processesWith, untilSoon } from './box.ts';

let counter = 0;

async function openIn(sandbox: string, words: readonly string[], more = '') {
  const mark = `${process.pid}-${counter++}`;
  const state = makeFolder();
  for (const name of ['docker', 'kubectl'])
    copyFileSync(join(import.meta.dirname, 'container-client'), join(state, name));
  const [command, ...args] = words;
  const exec = `{command: ${command}, args: ${JSON.stringify(args)}, sandbox: box${more}}`;
  const env = {
    PATH: `${state}:/usr/bin:/bin`,
    HOME: '/outside',
    DOCKER_CONFIG: state,
    TOKEN: `two\nlines 'and' "quotes" $HOME \\n \\\\ end`,
    PLAIN: `canary-${mark}`,
  };
  const { runtime, events } = await open(`sandboxes: {box: ${sandbox}}\ntools:\n  t: {exec: ${exec}}\n`, {
    env,
  });
  const log = () => readFileSync(join(state, 'log'), 'utf8').trim().split('\n');
  return {
    runtime,
    events,
    state,
    log,
    call: () => runtime.tools.call('t', { a: 1 }),
    inside: () => processesWith(`PLAIN=canary-${mark}`),
    mark,
  };
}

const report = `import json, os, sys
request = json.load(sys.stdin)
print(json.dumps({"result": {"args": request["args"], "token": os.environ.get("TOKEN"), "home": os.environ.get("HOME"), "cwd": os.getcwd()}}))`;
const token = `two\nlines 'and' "quotes" $HOME \\n \\\\ end`;

const clients = [
  { title: 'docker_run', box: '{mode: docker_run, image: python:3-slim, network: none}' },
  { title: 'docker_exec', box: '{mode: docker_exec, container: hooks, workdir: /app}' },
  { title: 'kubectl_exec', box: '{mode: kubectl_exec, pod: agent, namespace: prod}' },
  {
    title: 'a command that is docker run',
    box: '{mode: command, command: docker, args: [run, --rm, -i, python]}',
  },
  { title: 'a prefix that is docker exec', box: '{mode: command, prefix: [docker, exec, -i, hooks]}' },
  {
    title: 'a command with places of its own',
    box: '{mode: command, command: docker, args: [run, "${env}", --name, "mine-${id}", image], env: flags, kill: [docker, kill, "mine-${id}"]}',
  },
];

describe.each(clients)('by $title', ({ box }) => {
  test('only the variables of the entry are passed on, and no value is on a command line [DS-BOX-10@oneshot]', async () => {
    const { call, log } = await openIn(box, ['python3', '-c', report], ', env: [TOKEN]');
    const result = { args: { a: 1 }, token, home: '/inside', cwd: '/' };
    expect(await call()).toEqual({ status: 'ok', result });
    expect(log().join()).not.toContain('quotes');
  });

  test('processes inside end with their call, including its daemons, and no others [DS-BOX-11@oneshot]', async () => {
    const lines = 'trap "" TERM; setsid sleep 600 & sleep 0.1; echo up >&2; while :; do sleep 0.1; done';
    const { runtime, events, inside } = await openIn(
      box,
      ['sh', '-c', lines],
      ', env: [PLAIN], timeout_ms: 50000, grace_ms: 100',
    );
    const [stopped, goesOn] = [new AbortController(), new AbortController()];
    const isUp = () => events.filter((event) => event.type === 'stderr' && event.line === 'up').length;
    const failed = runtime.tools.call('t', {}, { signal: stopped.signal }).catch(() => 'failed');
    await untilSoon(() => isUp() === 1, 'first call');
    const other = runtime.tools.call('t', {}, { signal: goesOn.signal }).catch(() => 'failed');
    await untilSoon(() => isUp() === 2, 'second call');
    const whole = inside().length;
    stopped.abort();
    await failed;
    // `docker kill` ends a container with everything in it. The stand-in uses process groups, which daemons leave.
    const kept = box.includes('run') ? 1 : 0;
    await untilSoon(() => inside().length <= whole / 2 + kept, 'end of the first');
    expect(inside().length).toBeGreaterThan(1);
    goesOn.abort();
    await other;
    await runtime.close();
    // A `sleep 0.1` of the loop may still be ending; a daemon sleeps for minutes.
    await untilSoon(() => inside().length === 2 * kept, 'end of the rest').catch(() => {});
    const left = inside();
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(left).toHaveLength(2 * kept);
  });
});

test('processes inside end at their time limit [DS-BOX-11@oneshot]', async () => {
  const words = ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'];
  const box = '{mode: docker_exec, container: hooks}';
  const { call, runtime, log, inside } = await openIn(
    box,
    words,
    ', env: [PLAIN], timeout_ms: 1500, grace_ms: 100',
  );
  expect(await call()).toMatchObject({ status: 'failed', error: { code: 'PROCESS_TIMEOUT' } });
  await runtime.close();
  // The log names the client and the command that ends its container.
  expect(log().length).toBeGreaterThan(0);
  await untilSoon(() => inside().length === 0, 'end of what was begun');
});

test('a client that is killed from outside takes its processes along [DS-BOX-11@oneshot]', async () => {
  const box = '{mode: docker_exec, container: hooks}';
  const { call, events, inside } = await openIn(box, ['sleep', '600'], ', env: [PLAIN], timeout_ms: 50000');
  const outcome = call();
  await untilSoon(() => inside().length === 2, 'client and command');
  const [started] = events.flatMap((event) => (event.type === 'process.started' ? [event.pid] : []));
  process.kill(started ?? 0, 'SIGKILL');
  expect(await outcome).toMatchObject({ status: 'failed', error: { code: 'PROCESS_SIGNAL' } });
  await untilSoon(() => inside().length === 0, 'end of what it started');
});

test('a server is one container for many calls, which ends with the runtime', async () => {
  const lines = `import sys, json
for line in sys.stdin:
    call = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"result": 1}}), flush=True)`;
  const box = '{mode: kubectl_exec, pod: agent}';
  const { call, runtime, events, inside } = await openIn(
    box,
    ['python3', '-c', lines],
    ', env: [PLAIN], runtime: server',
  );
  expect([await call(), await call()].map(({ status }) => status)).toEqual(['ok', 'ok']);
  expect(events.filter(({ type }) => type === 'process.started')).toHaveLength(1);
  await runtime.close();
  await untilSoon(() => inside().length === 0, 'end of what it started');
});

test('a program that is no client runs the command with its own environment', async () => {
  const box = '{mode: command, prefix: [env, EXTRA=1]}';
  const words = ['sh', '-c', 'echo "{\\"result\\": \\"$EXTRA $PLAIN\\"}"'];
  const { call, mark } = await openIn(box, words, ', env: [PLAIN]');
  expect(await call()).toEqual({ status: 'ok', result: `1 canary-${mark}` });
});

test('a runner that cannot end the command says so', async () => {
  const box = '{mode: command, prefix: [env], kill: ["false", "${id}"]}';
  const { call, runtime, events } = await openIn(box, ['sleep', '600'], ', timeout_ms: 200, grace_ms: 50');
  expect(await call()).toMatchObject({ error: { code: 'PROCESS_TIMEOUT' } });
  await runtime.close();
  const notes = events.flatMap((event) =>
    event.type === 'note' && event.level === 'warn' ? [event.message] : [],
  );
  expect(notes).toEqual([
    expect.stringMatching(/the command that ends it where it runs failed: \S+false ended with 1/),
  ]);
});

test('the program of a command has the mark for cleaning up after a killed owner', async () => {
  const words = ['sh', '-c', 'tr "\\0" "\\n" < /proc/self/environ  >&2; echo \'{"result": 1}\''];
  const { runtime, call, events } = await openIn('{mode: command, prefix: [env]}', words);
  expect(await call()).toEqual({ status: 'ok', result: 1 });
  await runtime.close();
  const lines = events.flatMap((event) => (event.type === 'stderr' ? [event.line] : []));
  expect(lines.filter((line) => /^SIGNALBOX_OWNER=.+\.kill$/.test(line))).toHaveLength(1);
});
