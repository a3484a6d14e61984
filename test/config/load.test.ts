import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { parseDocument } from '../../src/base/yaml/document.ts';
import { loadConfig, requireConfig } from '../../src/config/load.ts';
import { readProviders } from '../../src/config/provider.ts';
import {
  configText,
  folder,
  line,
  native,
  promptkit,
  searchPath,
  told,
  usualGateway,
  usualMcp,
  write,
} from './told.ts';

const fixtures = join(import.meta.dirname, '../fixtures/config');
const note =
  'names no dialect, so its payload has snake_case keys | Set `dialect: promptkit-go` if the hook reads keys such as `Messages`, or `dialect: promptkit` to confirm.';

test('ten mistakes are ten errors, each with its place [PK-9-01]', () => {
  const { config, problems } = loadConfig(join(fixtures, 'ten-mistakes.yaml'), searchPath);
  expect({ config, problems: problems.map(line) }).toEqual({
    config: undefined,
    problems: [
      'error 2:7 kind: must be RuntimeConfig | did you mean `RuntimeConfig`?',
      'error 3:24 metadata.owner: unknown key | known keys: name, namespace, labels, annotations',
      'error 5:16 concurrency: must be at least 1 (got: 0)',
      'error 8:14 tools[search].exec.comand: unknown key | did you mean `command`?',
      'error 11:39 tools[fetch].exec.timeout_ms: must be a whole number, not the string "5s" | The unit is milliseconds: write 5000.',
      'error 12:7 duplicate key `description` in one mapping | Remove one of the two.',
      'error 14:30 evals[tone].env: must be a list, not the string "HOME" | Write [HOME].',
      'error 19:16 hooks[guard].phases[0]: must be one of: before_call, after_call (got: before_cal) | did you mean `before_call`?',
      'error 20:16 hooks[guard].sandbox: the sandbox "box" is not declared under spec.sandboxes | Declare it, such as `sandboxes: {box: {mode: bubblewrap}}`, or remove `sandbox`.',
      'error 21:46 hooks[told].mode: session hooks only observe: they receive events, and their answers are not read (got: filter) | Use `mode: observe`, or leave `mode` out.',
    ],
  });
});

describe('a file as PromptKit documents them', () => {
  const file = join(fixtures, 'promptkit-page.yaml');

  test('loads, with a note on everything that has no effect [PK-9-04 PK-9-34 PK-9-35 PK-9-40 PK-1-02]', () => {
    const toolHint =
      'has no exec binding: it is listed, but a call of it fails | Add `exec: {command: …}` to make it run.';
    expect(loadConfig(file, searchPath).problems.map(line)).toEqual([
      'warning 22:7 providers[0].http_transport: is accepted and not used',
      'warning 23:7 providers[0].capabilities: is accepted and not used',
      'warning 25:3 embedding_providers: is accepted and not used',
      'warning 27:3 tts_providers: is accepted and not used',
      'warning 28:3 stt_providers: is accepted and not used',
      `warning 45:5 tools[get_weather]: ${toolHint}`,
      'warning 45:54 tools[get_weather].http: is accepted and not used',
      `warning 46:5 tools[lookup]: ${toolHint}`,
      'warning 46:26 tools[lookup].mock_result: is accepted and not used',
      'warning 49:23 state_store.type: redis is not supported; whatever needs the store fails | Use `type: sqlite`, which several processes on one machine may share.',
      'warning 54:5 logging.modules: is accepted and not used',
      'warning 63:3 selectors: is accepted and not used',
      'warning 65:3 skills: is accepted and not used',
      'warning 66:3 tool_selector: is accepted and not used',
      `note 68:5 hooks[pii_guard]: ${note}`,
      `note 76:5 hooks[boxed]: ${note}`,
      `note 77:5 hooks[audit]: ${note}`,
    ]);
  });

  test('is read as documented [PK-9-33 PK-9-36 PK-9-37 PK-9-41]', () => {
    const at = (line: number, column: number) => ({ file, line, column });
    const exec = { command: 'sh', args: [], runtime: 'exec', env: [], dialect: 'promptkit' };
    const cat = { ...exec, args: ['-c', 'cat'] };
    const serverExec = { ...exec, runtime: 'server' };
    expect(loadConfig(file, searchPath).config).toStrictEqual({
      file,
      folder: fixtures,
      apiVersion: promptkit,
      name: 'production',
      tools: [
        {
          name: 'db_query',
          description: 'Runs a query.',
          inputSchema: {
            $schema: 'https://json-schema.org/draft-07/schema',
            type: 'object',
            properties: { query: { type: 'string' } },
            required: ['query'],
          },
          outputSchema: { type: 'object' },
          exec: { ...cat, runtime: 'server', env: ['DB_URL'], timeoutMs: 5000, position: at(41, 18) },
          position: at(30, 5),
        },
        { name: 'get_weather', description: 'Weather.', position: at(45, 5) },
        { name: 'lookup', description: '', position: at(46, 5) },
      ],
      evals: [{ name: 'sentiment_check', exec: { ...cat, timeoutMs: 10_000, position: at(57, 16) } }],
      hooks: [
        {
          name: 'pii_guard',
          fileIndex: 0,
          exec: { ...cat, timeoutMs: 3000, sandbox: 'plain', position: at(69, 16) },
          hook: 'provider',
          phases: ['before_call', 'after_call'],
          mode: 'filter',
        },
        {
          name: 'boxed',
          fileIndex: 1,
          exec: {
            ...exec,
            sandbox: 'box',
            position: at(76, 22),
          },
          hook: 'tool',
          phases: ['before_execution', 'after_execution'],
          mode: 'filter',
        },
        {
          name: 'audit',
          fileIndex: 2,
          exec: { ...exec, position: at(77, 22) },
          hook: 'session',
          phases: ['session_start', 'session_end'],
          mode: 'observe',
        },
        {
          name: 'metrics',
          fileIndex: 3,
          exec: { ...exec, position: at(78, 24) },
          hook: 'eval',
          phases: ['scored'],
          mode: 'observe',
        },
      ],
      foreign: [],
      imports: [],
      mcpServers: [
        {
          name: 'files',
          headers: {},
          toolFilter: {},
          pins: 'first_seen',
          pass: ['resources', 'prompts', 'completions', 'logging', 'elicitation', 'subscriptions'],
          position: at(48, 7),
          exec: { ...serverExec, command: 'npx', args: ['-y', 'files'], position: at(48, 30) },
        },
      ],
      providers: [
        {
          id: 'anthropic-main',
          type: 'anthropic',
          model: 'claude-sonnet-4-5',
          baseUrl: 'https://gateway.example.com',
          headers: { 'X-Title': 'desk' },
          credential: { env: 'ANTHROPIC_API_KEY' },
          defaults: { temperature: 0.7, topP: 1, maxTokens: 1024 },
          rateLimit: { requestsPerMinute: 300, burst: 10 },
          pricing: { input: 0.003, output: 0.015 },
          requestTimeoutMs: 90_000,
          streams: { idleMs: 30_000 },
          additionalConfig: {},
          position: at(11, 7),
        },
        {
          id: 'fast',
          type: 'openai',
          model: 'gpt-4o-mini',
          headers: {},
          credential: {},
          defaults: {},
          additionalConfig: {},
          position: at(24, 7),
        },
      ],
      sandboxes: [
        { name: 'plain', mode: 'direct', position: at(61, 19) },
        {
          ...{
            name: 'box',
            mode: 'command',
            position: at(62, 17),
            command: 'docker',
            env: 'flags',
            envFlag: '-e',
          },
          args: ['run', '--name', 'signalbox-${id}', '${env}', '--rm', '-i', '--network=none', 'alpine:3'],
          kill: ['docker', 'kill', 'signalbox-${id}'],
        },
      ],
      stateStore: { type: 'refused', reason: 'state_store.type is redis, which is not supported' },
      gateway: usualGateway,
      mcp: usualMcp,
      console: {},
      privateHosts: [],
      defaults: {},
      logging: { level: 'warn', format: 'json', fields: { service: 'desk', shard: '7' } },
    });
  });
});

describe('whole files', () => {
  const empty = (apiVersion: string, name = 'runtime') => ({
    file: join(folder, 'runtime.yaml'),
    folder,
    apiVersion,
    name,
    tools: [],
    evals: [],
    hooks: [],
    foreign: [],
    imports: [],
    providers: [],
    sandboxes: [],
    stateStore: { type: 'sqlite', file: join(folder, '.signalbox/state.db') },
    gateway: usualGateway,
    mcp: usualMcp,
    console: {},
    privateHosts: [],
    defaults: {},
    logging: { level: 'info', fields: {} },
  });

  test.each([native, promptkit])('without spec, %s is legal [PK-9-32]', (apiVersion) => {
    const text = `apiVersion: ${apiVersion}\nkind: RuntimeConfig\n`;
    const nothing = { config: empty(apiVersion), problems: [] };
    expect([told(text), told(`${text}spec:\n`), told(`${text}spec: {}\n`)]).toEqual([
      nothing,
      nothing,
      nothing,
    ]);
  });

  test('metadata names it [PK-9-33]', () => {
    expect(
      told(`apiVersion: ${native}\nkind: RuntimeConfig\nmetadata: {name: desk, labels: {v: 1.0}}`),
    ).toEqual({
      config: empty(native, 'desk'),
      problems: [],
    });
  });

  test('spec sets concurrency, defaults and the log [PK-9-41]', () => {
    const spec = `
concurrency: 3
defaults: {timeout_ms: 5, max_output_bytes: 6, grace_ms: 0, leftovers: keep}
logging: {defaultLevel: trace, format: text, commonFields: {app: desk, v: 1.10}}`;
    expect(told(configText(native, spec))).toEqual({
      config: {
        ...empty(native),
        concurrency: 3,
        defaults: { timeoutMs: 5, maxOutputBytes: 6, graceMs: 0, leftovers: 'keep' },
        logging: { level: 'trace', format: 'text', fields: { app: 'desk', v: '1.10' } },
      },
      problems: [],
    });
  });

  test('JSON loads, and merge keys work [PK-9-02]', () => {
    const exec = { command: 'sh', args: ['x'] };
    const json = JSON.stringify({
      apiVersion: native,
      kind: 'RuntimeConfig',
      spec: { evals: { a: exec, b: exec } },
    });
    const merged = configText(native, '\nevals: {a: &a {command: sh, args: [x]}, b: {<<: *a}}');
    const commands = [told(json), told(merged)].map(({ config }) =>
      config?.evals.map((each) => [each.name, each.exec.args]),
    );
    expect(commands).toEqual([
      [
        ['a', ['x']],
        ['b', ['x']],
      ],
      [
        ['a', ['x']],
        ['b', ['x']],
      ],
    ]);
  });

  test('hooks keep the order of the file, whatever their names', () => {
    const spec = ['zebra', '10', '2', 'constructor', 'ape']
      .map((name) => `\n  ${name}: {command: sh, hook: tool}`)
      .join('');
    expect(told(configText(native, `\nhooks:${spec}`)).config?.hooks.map(({ name }) => name)).toEqual([
      'zebra',
      '10',
      '2',
      'constructor',
      'ape',
    ]);
  });

  test('a hook may be named __proto__', () => {
    const { config } = told(configText(native, '\nhooks: {__proto__: {command: sh, hook: tool}}'));
    expect(config?.hooks.map(({ name }) => name)).toEqual(['__proto__']);
  });

  test.each([
    {
      text: 'kind: RuntimeConfig',
      problems: ['error 1:1 apiVersion: is missing | Write `apiVersion: signalbox/v1`.'],
    },
    {
      text: 'apiVersion: signalbox/v2\nkind: RuntimeConfig',
      problems: [
        'error 1:13 apiVersion: must be signalbox/v1 or promptkit.altairalabs.ai/v1alpha1 | Write `apiVersion: signalbox/v1`.',
      ],
    },
    {
      text: 'apiVersion: [signalbox/v1]\nkind: RuntimeConfig',
      problems: [
        'error 1:13 apiVersion: must be signalbox/v1 or promptkit.altairalabs.ai/v1alpha1 | Write `apiVersion: signalbox/v1`.',
      ],
    },
    {
      text: `apiVersion: ${promptkit}`,
      problems: ['error 1:1 kind: must be RuntimeConfig | Write `kind: RuntimeConfig`.'],
    },
    {
      text: `apiVersion: ${promptkit}\nkind: EvalSuite`,
      problems: ['error 2:7 kind: must be RuntimeConfig | Run a suite with `signalbox eval run FILE`.'],
    },
    {
      text: '[]',
      problems: [
        'error 1:1 must be a mapping, not a list | The file begins with keys: `apiVersion`, `kind`, `metadata` and `spec`.',
      ],
    },
    {
      text: 'a: [',
      problems: ['error 1:4 YAML: `[` is opened here but never closed | Write `]` where the value ends.'],
    },
  ])('$text is refused [PK-9-23 PK-9-05]', ({ text, problems }) => {
    expect(told(text)).toEqual({ config: undefined, problems });
  });

  const second = 'only the first YAML document of a file is used; a second one starts here';
  const secondHint = 'Remove the `---` above it, or move it to another file.';
  test('a second document is an error in signalbox/v1 [PK-9-19]', () => {
    const { config, problems } = told(`${configText(native, ' {}')}---\na: [\n`);
    expect({ config, problems }).toEqual({
      config: undefined,
      problems: [`error 5:1 ${second} | ${secondHint}`],
    });
  });

  test('a second document is ignored with a warning in v1alpha1 [PK-9-19]', () => {
    expect(told(`${configText(promptkit, ' {}')}---\na: [\n`)).toEqual({
      config: empty(promptkit),
      problems: [`warning 5:1 ${second}; it is ignored | ${secondHint}`],
    });
  });

  test.each([native, promptkit])('a duplicate key is an error in %s [PK-9-25]', (apiVersion) => {
    expect(told(configText(apiVersion, '\nevals: {a: {command: sh}, a: {command: sh}}'))).toEqual({
      config: undefined,
      problems: ['error 4:29 duplicate key `a` in one mapping | Remove one of the two.'],
    });
  });
});

describe('the note on dialects', () => {
  const hooks = `
hooks:
  a: {command: sh, hook: provider}
  b: {command: sh, hook: tool}
  c: {command: sh, hook: session}
  d: {command: sh, hook: eval}
  e: {command: sh, hook: tool, dialect: promptkit}
  f: {command: sh, hook: tool, dialect: promptkit-go}`;

  test('appears at provider, tool and session hooks of v1alpha1 that name none [PK-1-02 PK-1-03]', () => {
    expect(told(configText(promptkit, hooks)).problems).toEqual([
      `note 5:5 hooks[a]: ${note}`,
      `note 6:5 hooks[b]: ${note}`,
      `note 7:5 hooks[c]: ${note}`,
    ]);
  });

  test('is absent in signalbox/v1 [PK-1-03]', () => {
    expect(told(configText(native, hooks)).problems).toEqual([]);
  });
});

describe('requireConfig', () => {
  test('returns the config of a file with warnings only', () => {
    const file = write('warned.yaml', configText(native, '\nselectors: {}'));
    expect(requireConfig(file, searchPath)).toEqual(loadConfig(file, searchPath).config);
  });

  test('throws CONFIG_INVALID with every problem, warnings too', () => {
    const file = write('broken.yaml', configText(native, '\nselectors: {}\nconcurrency: 0\nevals: {a: }'));
    const place = { file, column: 16 };
    const load = () => requireConfig(file, searchPath);
    expect(load).toThrow(RuntimeError);
    expect(load).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `${file}:5:16 concurrency: must be at least 1 (got: 0) (the first of 2 errors)`,
        details: {
          problems: [
            { file, line: 4, column: 3, severity: 'warning', message: 'selectors: is accepted and not used' },
            { ...place, line: 5, severity: 'error', message: 'concurrency: must be at least 1 (got: 0)' },
            {
              file,
              line: 6,
              column: 11,
              severity: 'error',
              message: 'evals[a]: must be a mapping, not nothing',
            },
          ],
        },
      }),
    );
  });

  test('throws FILE_UNREADABLE for a missing file', () => {
    const file = join(folder, 'none.yaml');
    expect(() => requireConfig(file, searchPath)).toThrow(
      expect.objectContaining({ code: 'FILE_UNREADABLE', message: `${file} does not exist` }),
    );
  });
});

test('a relative file stays relative in positions, and its folder is absolute', () => {
  const { config } = loadConfig('test/fixtures/config/promptkit-page.yaml', searchPath);
  expect([config?.file, config?.folder, config?.evals[0]?.exec.position.file]).toEqual([
    'test/fixtures/config/promptkit-page.yaml',
    resolve('test/fixtures/config'),
    'test/fixtures/config/promptkit-page.yaml',
  ]);
});

test.each([
  ['{rps: 2, burst: 3}', { requestsPerMinute: 120, burst: 3 }],
  ['{rps: 2}', { requestsPerMinute: 120, burst: 1 }],
  ['{rps: 10, burst: 5, requests_per_minute: 60}', { requestsPerMinute: 60 }],
  ['{rps: 0, burst: 0}', undefined],
])('rate_limit %s of PromptKit keeps calls to its rate', (limit, expected) => {
  const document = parseDocument(
    'runtime.yaml',
    `spec: {providers: [{type: openai, model: m, rate_limit: ${limit}}]}`,
  );
  expect(readProviders(document)[0]?.rateLimit).toEqual(expected);
});
