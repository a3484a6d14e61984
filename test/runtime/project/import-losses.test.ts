import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ForeignName } from '../../../src/config/config.ts';
import { importHooks } from '../../../src/config/import/entries.ts';
import { foreignNames } from '../../../src/dialects/registry.ts';
import { arenaKeys } from '../../../src/suites/import/arena/import-arena.ts';
import { type ImportKind, importers, importKinds } from '../../../src/suites/import/import-suite.ts';
import { assertionTypes } from '../../../src/suites/import/promptfoo/assertion-types.ts';
import { sampleFormats } from '../../../src/suites/import/samples/sample.ts';
import type { KeyTable } from '../../../src/suites/import/suite/keys.ts';
import { findSilentValues, findUnreportedKeys, foreignKey, type ImportUnderTest } from './losses.ts';

const reads = (kind: ImportKind, file: string, provider?: string) => async (folder: string) => {
  const { files, problems } = await importers[kind](join(folder, file), {
    output: join(folder, 'out'),
    from: kind,
    provider,
  });
  return { written: files, problems };
};

const api = 'promptkit.altairalabs.ai/v1alpha1';

const config = {
  description: 'desk',
  prompts: [
    { raw: 'Say {{a}}.', label: 'one', config: { temperature: 0.5, stop: ['x'] } },
    {
      label: 'two',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: '{{a}}' },
      ],
    },
  ],
  providers: [
    {
      id: 'openai:gpt-4.1',
      label: 'main',
      prompts: ['one'],
      config: {
        temperature: 0,
        max_tokens: 9,
        apiKeyEnvar: 'KEY',
        apiBaseUrl: 'https://a.example',
        seed: 1,
        cost: 0.1,
      },
    },
    { 'anthropic:messages:claude-sonnet-4-5': { config: { top_p: 0.5 } } },
    { id: 'file://answer.py', label: 'script', config: { depth: 1 } },
    {
      id: 'https://b.example/chat',
      config: {
        method: 'POST',
        headers: { 'x-team': 'red' },
        body: { q: '{{prompt}}' },
        transformResponse: 'json.a',
      },
    },
  ],
  defaultTest: {
    vars: { b: 'x' },
    assert: [{ type: 'contains', value: 'b' }],
    options: { provider: 'openai:gpt-4.1-mini' },
  },
  assertionTemplates: { polite: { type: 'llm-rubric', value: 'is polite' } },
  tests: [
    {
      description: 'first',
      vars: { a: 1, c: ['x', 'y'] },
      threshold: 0.5,
      metadata: { area: 'billing' },
      assert: [
        { type: 'equals', value: 'x', weight: 2, metric: 'tone' },
        { type: 'javascript', value: 'output.length > 1', threshold: 0.5, config: { x: 1 } },
        { type: 'similar', value: 'y', threshold: 0.7 },
        { type: 'icontains', value: 'y', transform: 'output.trim()' },
        { $ref: '#/assertionTemplates/polite' },
        { type: 'assert-set', threshold: 1, assert: [{ type: 'contains', value: 'a' }] },
      ],
      options: { disableVarExpansion: true },
    },
    { vars: { a: 'z' }, providers: ['main'], prompts: ['one'] },
  ],
  scenarios: [{ config: [{ vars: { a: 'q' } }], tests: [{ assert: [{ type: 'regex', value: 'q' }] }] }],
  evaluateOptions: { repeat: 2 },
};

const script = 'def call_api(prompt, options, context):\n    return {"output": prompt}\n';

interface Tested extends ImportUnderTest {
  readonly title: string;
}

const result = (testIdx: number, pass: boolean) => ({
  promptIdx: 0,
  testIdx,
  testCase: { vars: { n: 1 }, threshold: 0.5, options: { provider: 'x' } },
  provider: { id: 'openai:gpt-4.1', label: 'main' },
  prompt: { raw: 'Say 1.', label: 'Say {{n}}.' },
  vars: { n: 1 },
  response: { output: 'one', cached: false, tokenUsage: { total: 3, prompt: 1, completion: 2 } },
  success: pass,
  latencyMs: 12,
  cost: 0.001,
  namedScores: { tone: 1 },
  gradingResult: {
    pass,
    score: 1,
    componentResults: [
      {
        pass,
        score: 0.5,
        reason: 'said',
        assertion: { type: 'contains', value: 'one', metric: 'tone', weight: 2 },
      },
    ],
  },
});

const bare = {
  testIdx: 0,
  provider: 'main',
  vars: { n: 1 },
  response: { output: 'two' },
  error: 'beside an answer',
  success: true,
};

/** A format that is missing here fails to compile. */
const tested: Readonly<Record<ImportKind, readonly [Tested, ...Tested[]]>> = {
  arena: [
    {
      title: 'a PromptKit Arena',
      read: reads('arena', 'arena.yaml'),
      // The version that detects an Arena; later ones are read the same way.
      idle: ['apiVersion'],
      files: {
        'arena.yaml': {
          apiVersion: api,
          kind: 'Arena',
          metadata: { name: 'desk', labels: { a: 'b' } },
          spec: {
            prompt_configs: [{ file: 'prompt.yaml' }],
            providers: [{ file: 'provider.yaml' }],
            scenarios: [{ file: 'scenario.yaml' }],
            tools: [{ file: 'tool.yaml' }],
          },
        },
        'prompt.yaml': {
          kind: 'PromptConfig',
          spec: {
            task_type: 'support',
            system_template: 'Be {{tone}}.',
            variables: [{ name: 'tone', default: 'calm' }],
            evals: [{ type: 'contains', params: { patterns: ['b'] } }],
          },
        },
        'provider.yaml': {
          kind: 'Provider',
          metadata: { name: 'mini' },
          spec: {
            type: 'openai',
            model: 'gpt-4o-mini',
            base_url: 'https://a.example',
            headers: { 'x-team': 'red' },
            rate_limit: { rps: 2, burst: 3 },
            credential: { credential_env: 'KEY' },
            defaults: { temperature: 0, top_p: 1, max_tokens: 9 },
            pricing: { input_cost_per_1k: 1, output_cost_per_million: 2 },
          },
        },
        'scenario.yaml': {
          kind: 'Scenario',
          spec: {
            id: 'order',
            task_type: 'support',
            providers: ['mini'],
            turns: [
              {
                role: 'user',
                content: 'Where is it?',
                assertions: [{ type: 'content_includes', params: { patterns: ['here'] } }],
              },
              { role: 'user', content: 'And now?' },
            ],
            conversation_assertions: [{ id: 'c', type: 'regex', params: { pattern: 'x' } }],
          },
        },
        'tool.yaml': {
          kind: 'Tool',
          metadata: { name: 'lookup' },
          spec: {
            description: 'Looks.',
            input_schema: { type: 'object' },
            mode: 'exec',
            exec: { command: './lookup.sh', args: ['a'], env: ['HOME'], timeout_ms: 100, runtime: 'server' },
          },
        },
      },
    },
  ],
  promptfoo: [
    {
      title: 'a config of promptfoo’s',
      read: reads('promptfoo', 'promptfooconfig.yaml'),
      // A comment of the config, which only names the suite if it has no name.
      idle: [],
      files: {
        'promptfooconfig.yaml': config,
        'answer.py': script,
      },
    },
    {
      title: 'a config of promptfoo’s in JSON',
      read: reads('promptfoo', 'promptfooconfig.json'),
      // No test uses the template, which a note reports, or the second prompt.
      idle: ['assertionTemplates.polite', 'prompts.1.messages'],
      files: {
        'promptfooconfig.json': {
          ...config,
          providers: [{ id: 'echo', label: 'main' }],
          scenarios: [],
          tests: config.tests.slice(1),
        },
      },
    },
    {
      title: 'a config of promptfoo’s whose parts stand in files',
      read: reads('promptfoo', 'promptfooconfig.yaml'),
      idle: [],
      files: {
        'promptfooconfig.yaml': {
          prompts: ['file://chat.yaml', 'file://prompts.csv'],
          providers: ['file://providers.yaml'],
          defaultTest: 'file://defaults.yaml',
          tests: [
            'file://a.yaml',
            { path: 'file://b.json' },
            'file://c.jsonl',
            'file://d.csv',
            { vars: 'vars.yaml' },
          ],
          scenarios: [{ config: 'file://a.yaml', tests: 'file://c.jsonl' }],
        },
        'chat.yaml': [{ role: 'user', content: '{{q}}' }],
        'prompts.csv': [{ prompt: 'Say {{q}}, please.', label: 'kind' }],
        'providers.yaml': [{ id: 'openai:gpt-4.1', config: { response_format: 'file://format.json' } }],
        'format.json': { type: 'json_schema', json_schema: { schema: { type: 'object', required: ['a'] } } },
        'defaults.yaml': {
          threshold: 0.5,
          options: {
            rubricPrompt: 'file://rubric.yaml',
            provider: { text: 'openai:gpt-4.1', embedding: 'openai:embedding:big' },
          },
        },
        'rubric.yaml': [{ role: 'user', content: 'Grade {{output}} by {{rubric}}.' }],
        'vars.yaml': { q: 'v' },
        'a.yaml': [
          {
            vars: { q: 'a' },
            assert: [
              { type: 'llm-rubric', value: 'kind' },
              { type: 'similar', value: 'a' },
            ],
          },
        ],
        'b.json': [{ vars: { q: 'b' }, assert: [{ type: 'bleu', value: 'b', threshold: 0.5 }] }],
        'c.jsonl': [{ vars: { q: 'c' }, assert: [{ type: 'levenshtein', value: 'c', threshold: 2 }] }],
        'd.csv': [
          {
            q: 'd',
            __expected: 'contains: d',
            __expected2: 'similar(0.9): d',
            __metric: 'm',
            __threshold: '0.5',
            __description: 'x',
            '__metadata:area': 'z',
            '__config:__expected2:threshold': '0.4',
            '__config:__expected:weight': '2',
          },
        ],
      },
    },
  ],
  'promptfoo-results': [
    {
      title: 'results of promptfoo’s',
      read: reads('promptfoo-results', 'results.json'),
      // Labels identify prompts. A provider is identified by its id only if it has no label.
      idle: [
        'results.results.*.prompt.label',
        'results.results.*.promptIdx',
        'results.results.*.provider.id',
      ],
      files: {
        'results.json': {
          evalId: 'eval-a',
          results: {
            version: 3,
            timestamp: '2026-10-01T10:00:00.000Z',
            results: [
              result(0, true),
              { ...bare, promptIdx: 1, prompt: { raw: 'Name 1.', label: 'Name {{n}}.' } },
            ],
            stats: { successes: 1 },
          },
          config: { prompts: ['Say {{n}}.'] },
        },
      },
    },
    {
      title: 'results of promptfoo’s in JSON Lines',
      read: reads('promptfoo-results', 'results.jsonl'),
      // A run of one pair has no variants, and cases are numbered from one.
      idle: ['0.prompt.label', '0.provider', '0.promptIdx'],
      files: { 'results.jsonl': [result(0, true)] },
    },
  ],
  inspect: [
    {
      title: 'samples of Inspect’s',
      read: reads('inspect', 'samples.jsonl', 'echo'),
      idle: [],
      files: {
        'samples.jsonl': [
          { id: 'a', input: 'Which?', choices: ['Rome', 'Oslo'], target: 'B' },
          {
            id: 'b',
            input: [
              { role: 'system', content: 'Be kind.' },
              { role: 'user', content: 'Who?' },
            ],
            target: ['x'],
          },
        ],
      },
    },
    {
      title: 'a log of Inspect’s',
      read: reads('inspect', 'log.json', 'openai:gpt-4.1'),
      idle: [],
      files: {
        'log.json': {
          version: 2,
          status: 'success',
          samples: [
            {
              id: 'a',
              epoch: 1,
              input: 'Which?',
              target: 'Oslo',
              output: { choices: [{ message: { role: 'assistant', content: 'It is Oslo.' } }] },
              scores: { includes: { value: 'C', answer: 'Oslo' } },
            },
          ],
        },
      },
    },
  ],
  deepeval: [
    {
      title: 'test cases of DeepEval’s',
      read: reads('deepeval', 'cases.json'),
      idle: [],
      files: {
        'cases.json': [
          {
            name: 'n1',
            input: 'Capital?',
            actual_output: 'Oslo',
            expected_output: 'Oslo',
            retrieval_context: ['Oslo is it.'],
            tools_called: [{ name: 'search', input_parameters: { q: 1 }, output: 'x' }],
            expected_tools: [{ name: 'search' }],
            tags: ['t'],
          },
        ],
      },
    },
  ],
  ragas: [
    {
      title: 'samples of Ragas’',
      read: reads('ragas', 'ragas.json'),
      idle: [],
      files: {
        'ragas.json': [
          {
            user_input: 'Capital?',
            response: 'Oslo',
            reference: 'Oslo',
            retrieved_contexts: ['Oslo is it.'],
            reference_tool_calls: [{ name: 'search' }],
          },
        ],
      },
    },
  ],
};

const readsHooks = (file: string, dialect: ForeignName) => (folder: string) => {
  const { entries, problems } = importHooks(join(folder, file), {
    folder,
    dialect,
    searchPath: '/bin:/usr/bin',
  });
  return { written: entries, problems };
};

const hookFiles: Readonly<Record<ForeignName, readonly [Tested, ...Tested[]]>> = {
  claude: [
    {
      title: 'hooks of Claude Code',
      read: readsHooks('settings.json', 'claude'),
      // Keys around the hooks are classified elsewhere. Event names are known keys.
      idle: [foreignKey, `hooks.${foreignKey}`],
      files: {
        'settings.json': {
          hooks: {
            PreToolUse: [
              {
                matcher: 'Bash',
                hooks: [
                  {
                    type: 'command',
                    command: './guard.sh',
                    timeout: 5,
                    if: 'Bash(git *)',
                    async: true,
                    shell: 'bash',
                  },
                  {
                    type: 'http',
                    url: 'https://a.example',
                    headers: { 'x-team': 'red' },
                    allowedEnvVars: ['A'],
                  },
                ],
              },
            ],
          },
        },
        'guard.sh': '#!/bin/sh\n',
      },
    },
  ],
  agentao: [
    {
      title: 'hooks of Agentao',
      read: readsHooks('hooks.json', 'agentao'),
      idle: [foreignKey, `hooks.${foreignKey}`],
      files: {
        'hooks.json': {
          hooks: {
            PreToolUse: [{ type: 'command', command: 'true', timeout: 5, matcher: { toolName: 'x' } }],
          },
        },
      },
    },
  ],
  picoclaw: [
    {
      title: 'hooks of PicoClaw',
      read: readsHooks('config.json', 'picoclaw'),
      idle: [foreignKey],
      files: {
        'config.json': {
          hooks: {
            enabled: true,
            defaults: { interceptor_timeout_ms: 100 },
            processes: {
              guard: {
                enabled: true,
                priority: 1,
                command: ['true', 'a'],
                dir: '.',
                env: { A: 'b' },
                intercept: ['before_llm'],
              },
            },
          },
        },
      },
    },
  ],
  chibi: [
    {
      // The entry names the folder; its plugins are not read.
      title: 'a folder of chibi’s plugins',
      read: readsHooks('plugins', 'chibi'),
      idle: [],
      files: { 'plugins/guard': '#!/bin/sh\n' },
    },
  ],
};

test('every imported format has its check of losses', () => {
  expect(Object.keys(tested).toSorted()).toEqual([...importKinds].toSorted());
  expect(Object.keys(hookFiles).toSorted()).toEqual([...foreignNames].toSorted());
});

const sectionsOf = (page: string) =>
  readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8').split(/^(?=## )/m);

test('the docs name every key and every assertion type that an import reads', () => {
  const inPromptfoo = sectionsOf('reference/promptfoo').join('');
  expect(Object.keys(assertionTypes).filter((type) => !inPromptfoo.includes(`\`${type}\``))).toEqual([]);
  const [inspect = '', samples = '', arena = ''] = [
    'Inspect AI',
    'Ragas and DeepEval',
    'PromptKit Arena',
  ].map((title) =>
    sectionsOf('guides/move-from-other-programs').find((part) => part.startsWith(`## ${title}`)),
  );
  const keysOf = ({ read }: KeyTable<object>) =>
    Object.entries<object>({ ...read }).flatMap(([name, taken]): readonly string[] =>
      Array.isArray(taken) ? taken[0] : [name],
    );
  for (const [kind, { messages, members }] of Object.entries(sampleFormats)) {
    // The guide spells them as in Python.
    const keys = [...messages[0], ...keysOf(members)].map((key) =>
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    const part = kind === 'inspect' ? inspect : samples;
    expect([kind, keys.filter((key) => !part.includes(`\`${key}\``))]).toEqual([kind, []]);
  }
  const words = (keys: readonly string[] = []) => keys.map((key) => `\`${key}\``).join(', ');
  const tables: Readonly<Record<string, ArenaTable>> = arenaKeys;
  const rows = Object.entries(tables).map(
    ([name, table]) =>
      `| ${name} | ${words(keysOf(table))} | ${words(table.idle)} | ${words(table.conditions)} |`,
  );
  expect(arena.split('\n').filter((line) => /^\| [a-z]+ \|/.test(line))).toEqual(rows);
});

interface ArenaTable extends KeyTable<object> {
  readonly conditions?: readonly string[];
}

const all = [tested, hookFiles].flatMap((table) => Object.values(table).flat());

describe.each(all)('of $title', (each) => {
  test('an unknown key is reported with its file and line, wherever it is [DS-IMPORT-06]', async () => {
    expect(await findUnreportedKeys(each)).toEqual([]);
  }, 180_000);
});

describe.each(Object.values(tested).flat())('of $title', (each) => {
  test('no value is lost silently: every change of a value changes the output or the report [DS-IMPORT-06]', async () => {
    expect(await findSilentValues(each)).toEqual([]);
  }, 180_000);
});
