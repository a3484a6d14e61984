import { describe, expect, test } from 'vitest';
import type { ExecConfig, HookConfig, RuntimeConfig, ToolConfig } from '../../src/config/config.ts';
import { configText, native, promptkit, told } from './told.ts';

function load(apiVersion: string, spec: string): RuntimeConfig | undefined {
  return told(configText(apiVersion, spec)).config;
}

function hook(
  spec: string,
  apiVersion = promptkit,
): Pick<HookConfig, 'hook' | 'phases' | 'mode'> | undefined {
  const loaded = load(apiVersion, `\nhooks:\n  x: {command: sh, ${spec}}`)?.hooks[0];
  return loaded && { hook: loaded.hook, phases: loaded.phases, mode: loaded.mode };
}

function exec(spec: string, apiVersion = promptkit): Omit<ExecConfig, 'position'> | undefined {
  const loaded = load(
    apiVersion,
    `\nsandboxes: {none: {mode: direct}, box: {mode: docker}, bare: }\nevals:\n  x: {${spec}}`,
  )?.evals[0];
  if (!loaded) return undefined;
  const { position: _position, ...rest } = loaded.exec;
  return rest;
}

function tool(spec: string, apiVersion = promptkit): Omit<ToolConfig, 'position'> | undefined {
  const loaded = load(apiVersion, `\ntools:\n  x: ${spec}`)?.tools[0];
  if (!loaded) return undefined;
  const { position: _position, ...rest } = loaded;
  return rest;
}

const everyProvider = ['before_call', 'after_call'];
const everyTool = ['before_execution', 'after_execution'];
const everySession = ['session_start', 'session_update', 'session_end'];

describe('the closed reading of a hook in v1alpha1', () => {
  test.each([
    { title: 'no phases: every phase', spec: 'hook: provider', is: ['provider', everyProvider, 'filter'] },
    {
      title: 'empty phases: every phase [PK-9-10]',
      spec: 'hook: tool, phases: []',
      is: ['tool', everyTool, 'filter'],
    },
    {
      title: 'an unknown phase: every phase [PK-9-10]',
      spec: 'hook: provider, phases: [before_call, after]',
      is: ['provider', everyProvider, 'filter'],
    },
    {
      title: 'another hook’s phase: every phase [PK-9-10]',
      spec: 'hook: provider, phases: [before_call, before_execution]',
      is: ['provider', everyProvider, 'filter'],
    },
    {
      title: 'a null phase: every phase [PK-9-10]',
      spec: 'hook: tool, phases: [before_execution, ~]',
      is: ['tool', everyTool, 'filter'],
    },
    {
      title: 'an unknown mode: filter [PK-9-12]',
      spec: 'hook: provider, mode: async',
      is: ['provider', everyProvider, 'filter'],
    },
    {
      title: 'an empty mode: filter [PK-9-12]',
      spec: 'hook: tool, mode: ""',
      is: ['tool', everyTool, 'filter'],
    },
    {
      title: 'a session hook that filters: observe [PK-9-14]',
      spec: 'hook: session, mode: filter',
      is: ['session', everySession, 'observe'],
    },
    {
      title: 'an eval hook in an unknown mode: observe [PK-9-14]',
      spec: 'hook: eval, mode: x, phases: [y]',
      is: ['eval', ['scored'], 'observe'],
    },
  ])('$title', ({ spec, is: [kind, phases, mode] }) => {
    expect(hook(spec)).toEqual({ hook: kind, phases, mode });
  });
});

describe.each([native, promptkit])('a hook in %s', (apiVersion) => {
  test.each([
    { spec: 'hook: provider', is: ['provider', everyProvider, 'filter'] },
    { spec: 'hook: tool', is: ['tool', everyTool, 'filter'] },
    { spec: 'hook: session', is: ['session', everySession, 'observe'] },
    { spec: 'hook: eval', is: ['eval', ['scored'], 'observe'] },
    {
      spec: 'hook: provider, phases: [after_call], mode: shadow',
      is: ['provider', ['after_call'], 'shadow'],
    },
    {
      spec: 'hook: tool, phases: [after_execution, after_execution], mode: observe',
      is: ['tool', ['after_execution'], 'observe'],
    },
    {
      spec: 'hook: session, phases: [session_end, session_start], mode: observe',
      is: ['session', ['session_start', 'session_end'], 'observe'],
    },
  ])('$spec', ({ spec, is: [kind, phases, mode] }) => {
    expect(hook(`dialect: promptkit, ${spec}`, apiVersion)).toEqual({ hook: kind, phases, mode });
  });
});

const plain = { command: 'sh', args: [], runtime: 'exec', env: [], dialect: 'promptkit' };

describe('the closed reading of an entry in v1alpha1', () => {
  test.each([
    { title: 'an unknown key is ignored [PK-9-07]', spec: 'command: sh, timeoutMs: 5', is: plain },
    { title: 'an unknown runtime is exec [PK-9-15]', spec: 'command: sh, runtime: daemon', is: plain },
    { title: 'a timeout of 0 is the default [PK-9-17]', spec: 'command: sh, timeout_ms: 0', is: plain },
    { title: 'a timeout of -5 is the default [PK-9-17]', spec: 'command: sh, timeout_ms: -5', is: plain },
    { title: 'a timeout below 1 is the default [PK-9-17]', spec: 'command: sh, timeout_ms: 0.9', is: plain },
    {
      title: 'a fractional timeout is rounded down [PK-9-17]',
      spec: 'command: sh, timeout_ms: 1500.9',
      is: { ...plain, timeoutMs: 1500 },
    },
    {
      title: 'an endless timeout is the longest there is',
      spec: 'command: sh, timeout_ms: 99999999999',
      is: { ...plain, timeoutMs: 2_147_483_647 },
    },
    {
      title: 'null keys are absent',
      spec: 'command: sh, args: , env: , runtime: , timeout_ms: , sandbox: ',
      is: plain,
    },
    { title: 'an empty sandbox is none', spec: 'command: sh, sandbox: ""', is: plain },
    {
      title: 'a number is a program name by its spelling',
      spec: 'command: 1.10',
      is: { ...plain, command: '1.10' },
    },
    {
      title: 'an env entry that is no name is left out',
      spec: 'command: sh, env: [A-B, OK, 1X=2]',
      is: { ...plain, env: ['OK'] },
    },
    {
      title: 'a null argument is an empty one',
      spec: 'command: sh, args: [a, ~], env: [~]',
      is: { ...plain, args: ['a', ''] },
    },
    {
      title: 'an undeclared sandbox stays named [PK-9-22]',
      spec: 'command: sh, sandbox: bx',
      is: { ...plain, sandbox: 'bx' },
    },
    {
      title: 'a NUL character refuses',
      spec: 'command: sh, args: ["a\\0b"]',
      is: { ...plain, args: ['a\0b'], refused: 'it contains a NUL character' },
    },
  ])('$title', ({ spec, is }) => {
    expect(exec(spec)).toEqual(is);
  });
});

describe.each([native, promptkit])('an entry in %s', (apiVersion) => {
  test.each([
    {
      title: 'numbers and booleans are their source text [PK-9-30]',
      spec: 'command: sh, args: [1.10, 0x1F, 1e3, true, 12345678901234567890, "2"], env: [true, 7, X=1]',
      is: {
        ...plain,
        args: ['1.10', '0x1F', '1e3', 'true', '12345678901234567890', '2'],
        env: ['true', '7', 'X=1'],
      },
    },
    {
      title: 'every native key is known [PK-9-08]',
      spec: 'command: sh, runtime: server, dialect: promptkit-go, cwd: /, concurrency: 1, instances: 2, warm: false, max_output_bytes: 9, grace_ms: 0, leftovers: keep, on_failure: deny, timeout_ms: 7',
      is: {
        ...plain,
        runtime: 'server',
        dialect: 'promptkit-go',
        cwd: '/',
        concurrency: 1,
        instances: 2,
        warm: false,
        maxOutputBytes: 9,
        graceMs: 0,
        leftovers: 'keep',
        timeoutMs: 7,
      },
    },
    {
      title: 'a direct sandbox is none [PK-9-38]',
      spec: 'command: sh, sandbox: none',
      is: { ...plain, sandbox: 'none' },
    },
    {
      title: 'a sandbox of another mode stays named [PK-9-37]',
      spec: 'command: sh, sandbox: box',
      is: { ...plain, sandbox: 'box' },
    },
    {
      title: 'a null sandbox stays named [PK-9-31]',
      spec: 'command: sh, sandbox: bare',
      is: { ...plain, sandbox: 'bare' },
    },
  ])('$title', ({ spec, is }) => {
    expect(exec(spec, apiVersion)).toEqual(is);
  });
});

describe('the closed reading of a tool in v1alpha1', () => {
  const bare = { name: 'x', description: '' };
  test.each([
    {
      title: 'an empty command refuses [PK-9-18]',
      spec: '{exec: {command: ""}}',
      is: { ...bare, exec: { ...plain, command: '', refused: 'its command is empty' } },
    },
    {
      title: 'a missing command refuses [PK-9-18]',
      spec: '{exec: {}}',
      is: { ...bare, exec: { ...plain, command: '', refused: 'its command is empty' } },
    },
    {
      title: 'a mode that is not exec refuses',
      spec: '{mode: mock, exec: {command: sh}}',
      is: { ...bare, exec: { ...plain, refused: 'its mode is mock, but only exec runs its exec binding' } },
    },
    {
      title: 'a schema that is none refuses',
      spec: '{input_schema: text, exec: {command: sh}}',
      is: {
        ...bare,
        exec: {
          ...plain,
          refused: 'its input_schema cannot be used: it is neither a mapping nor true or false',
        },
      },
    },
    {
      title: 'a schema that cannot be compiled refuses',
      spec: '{output_schema: {$ref: "#/none"}, exec: {command: sh}}',
      is: {
        ...bare,
        exec: {
          ...plain,
          refused: "its output_schema cannot be used: can't resolve reference #/none from id #",
        },
      },
    },
    {
      title: 'a number is a description by its spelling',
      spec: '{description: 1.10}',
      is: { ...bare, description: '1.10' },
    },
    {
      title: 'a timeout of 0 is the default of its exec',
      spec: '{timeout_ms: 0, exec: {command: sh}}',
      is: { ...bare, exec: plain },
    },
  ])('$title', ({ spec, is }) => {
    const loaded = tool(spec);
    expect(withoutPosition(loaded)).toEqual(is);
  });
});

describe.each([native, promptkit])('a tool in %s', (apiVersion) => {
  const bare = { name: 'x', description: '' };
  test.each([
    { title: 'null is an empty one [PK-9-31]', spec: '', is: bare },
    {
      title: 'its timeout is the default of its exec [PK-9-36]',
      spec: '{timeout_ms: 50, exec: {command: sh}}',
      is: { ...bare, exec: { ...plain, timeoutMs: 50 } },
    },
    {
      title: 'the timeout of its exec wins [PK-9-36]',
      spec: '{timeout_ms: 50, exec: {command: sh, timeout_ms: 9}}',
      is: { ...bare, exec: { ...plain, timeoutMs: 9 } },
    },
    {
      title: 'its schemas are kept',
      spec: '{description: d, input_schema: {type: object}, output_schema: true}',
      is: { name: 'x', description: 'd', inputSchema: { type: 'object' }, outputSchema: true },
    },
  ])('$title', ({ spec, is }) => {
    expect(withoutPosition(tool(spec, apiVersion))).toEqual(is);
  });
});

function withoutPosition(loaded: Omit<ToolConfig, 'position'> | undefined): object | undefined {
  if (!loaded?.exec) return loaded;
  const { position: _position, ...rest } = loaded.exec;
  return { ...loaded, exec: rest };
}
