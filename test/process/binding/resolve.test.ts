import { expect, test } from 'vitest';
import type { DefaultsConfig, ExecConfig, HookConfig, RuntimeConfig } from '../../../src/config/config.ts';
import type { HookKind } from '../../../src/contract/hook.ts';
import { volatileFieldsOf } from '../../../src/dialects/registry.ts';
import type { Binding } from '../../../src/process/binding.ts';
import { resolveExec, resolveHook } from '../../../src/runtime/binding/resolve.ts';
import { usualGateway, usualMcp } from '../../config/told.ts';

const position = { file: '/etc/desk/runtime.yaml', line: 1, column: 1 };
const host = { PATH: '/bin', API_KEY: 'sk-1234', OTHER: 'unseen' };

function exec(keys: Partial<ExecConfig> = {}): ExecConfig {
  return { command: './tool', args: [], runtime: 'exec', env: [], dialect: 'promptkit', position, ...keys };
}

function config(defaults: DefaultsConfig = {}): RuntimeConfig {
  return {
    file: position.file,
    folder: '/etc/desk',
    apiVersion: 'signalbox/v1',
    name: 'desk',
    tools: [],
    evals: [],
    hooks: [],
    foreign: [],
    imports: [],
    sandboxes: [],
    privateHosts: [],
    providers: [],
    stateStore: { type: 'memory' },
    gateway: usualGateway,
    defaults,
    mcp: usualMcp,
    console: {},
    logging: { level: 'info', fields: {} },
  };
}

function tool(keys: Partial<ExecConfig> = {}, defaults: DefaultsConfig = {}): Binding {
  return resolveExec({ name: 'demo', capability: 'tool', exec: exec(keys) }, config(defaults), host).binding;
}

function hook(kind: HookKind, keys: Partial<ExecConfig> = {}, defaults: DefaultsConfig = {}): Binding {
  const entry: HookConfig = {
    name: 'guard',
    fileIndex: 0,
    exec: exec(keys),
    hook: kind,
    phases: [],
    mode: 'filter',
  };
  return resolveHook(entry, config(defaults), host).binding;
}

const restart = { firstDelayMs: 100, maxDelayMs: 5_000, circuitDeaths: 5, circuitPauseMs: 30_000 };

test('an empty entry has every default [PK-2-30 PK-2-22]', () => {
  expect(tool()).toEqual({
    name: 'demo',
    capability: 'tool',
    dialect: 'promptkit',
    volatileFields: volatileFieldsOf('promptkit'),
    mode: 'oneshot',
    endpoint: null,
    command: '/etc/desk/tool',
    args: [],
    cwd: '/etc/desk',
    env: { PATH: '/bin' },
    secrets: [],
    timeoutMs: 30_000,
    graceMs: 2_000,
    drainMs: 500,
    maxOutputBytes: 10 * 1024 * 1024,
    leftovers: 'kill',
    concurrency: Number.POSITIVE_INFINITY,
    instances: 1,
    warm: false,
    spares: 0,
    isForked: false,
    restart,
    limits: null,
    nice: null,
    sandbox: null,
    refused: null,
  });
});

test('a complete entry has all its values', () => {
  const resolved = resolveExec(
    {
      name: 'judge',
      capability: 'eval',
      exec: exec({
        command: '/opt/judge',
        args: ['--fast', ''],
        runtime: 'server',
        env: ['API_KEY', 'MODE=fast', 'GONE'],
        dialect: 'promptkit-go',
        timeoutMs: 1,
        cwd: 'work',
        concurrency: 2,
        instances: 3,
        warm: true,
        maxOutputBytes: 4,
        graceMs: 0,
        leftovers: 'keep',
        refused: 'its sandbox is not declared',
      }),
    },
    config({ timeoutMs: 9, maxOutputBytes: 9, graceMs: 9, leftovers: 'kill' }),
    host,
  );
  expect(resolved).toEqual({
    missingEnv: ['GONE'],
    binding: {
      name: 'judge',
      capability: 'eval',
      dialect: 'promptkit-go',
      volatileFields: volatileFieldsOf('promptkit-go'),
      mode: 'server',
      endpoint: null,
      command: '/opt/judge',
      args: ['--fast', ''],
      cwd: '/etc/desk/work',
      env: { PATH: '/bin', API_KEY: 'sk-1234', MODE: 'fast' },
      secrets: ['sk-1234'],
      timeoutMs: 1,
      graceMs: 0,
      drainMs: 500,
      maxOutputBytes: 4,
      leftovers: 'keep',
      concurrency: 2,
      instances: 3,
      warm: true,
      spares: 0,
      isForked: false,
      restart,
      limits: null,
      nice: null,
      sandbox: null,
      refused: 'its sandbox is not declared',
    },
  });
});

test('spec.defaults apply where an entry is silent', () => {
  const defaults = { timeoutMs: 7, maxOutputBytes: 8, graceMs: 0, leftovers: 'keep' } as const;
  expect(tool({}, defaults)).toMatchObject(defaults);
  expect(hook('eval', {}, defaults)).toMatchObject(defaults);
  expect(tool({ timeoutMs: 1, leftovers: 'kill' }, defaults)).toMatchObject({
    ...defaults,
    timeoutMs: 1,
    leftovers: 'kill',
  });
});

test.each([
  { kind: 'provider', timeoutMs: 10_000 },
  { kind: 'tool', timeoutMs: 10_000 },
  { kind: 'session', timeoutMs: 10_000 },
  { kind: 'eval', timeoutMs: 5_000 },
] as const)('a $kind hook may take $timeoutMs ms [PK-2-22]', ({ kind, timeoutMs }) => {
  expect(hook(kind)).toMatchObject({ name: 'guard', capability: 'hook', timeoutMs });
});

test('an eval may take 30 s [PK-2-22]', () => {
  const { binding } = resolveExec({ name: 'e', capability: 'eval', exec: exec() }, config(), host);
  expect(binding.timeoutMs).toBe(30_000);
});

test.each([
  { command: './tool', path: '/etc/desk/tool' },
  { command: 'bin/tool', path: '/etc/desk/bin/tool' },
  { command: '../tool', path: '/etc/tool' },
  { command: './my tool', path: '/etc/desk/my tool' },
  { command: '/usr/bin/tool', path: '/usr/bin/tool' },
  { command: 'tool', path: 'tool' },
  { command: 'python3 x.py', path: 'python3 x.py' },
])('the command $command is $path', ({ command, path }) => {
  expect(tool({ command }).command).toBe(path);
});

test.each([
  { cwd: '.', path: '/etc/desk' },
  { cwd: 'work', path: '/etc/desk/work' },
  { cwd: '..', path: '/etc' },
  { cwd: '/var/empty', path: '/var/empty' },
])('the cwd $cwd is $path, and the command stays relative to the config file', ({ cwd, path }) => {
  expect(tool({ cwd })).toMatchObject({ cwd: path, command: '/etc/desk/tool' });
});
