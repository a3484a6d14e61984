import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importHooks } from '../../src/config/import/to-entries.ts';
import { importSuite } from '../../src/project/suite-import/import-suite.ts';
import { findSilentValues, findUnreportedKeys, foreignKey, type ImportUnderTest } from './losses.ts';

const reads = (file: string, provider?: string) => async (folder: string) => {
  const { files, problems } = await importSuite(join(folder, file), {
    output: join(folder, 'out'),
    from: undefined,
    provider,
  });
  return { written: files, problems };
};

const api = 'promptkit.altairalabs.ai/v1alpha1';

const tested: Readonly<Record<string, ImportUnderTest>> = {
  'a PromptKit Arena': {
    read: reads('arena.yaml'),
    // The version that detects an Arena; a later one is read the same.
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
  'a config of promptfoo’s': {
    read: reads('promptfooconfig.yaml'),
    // A comment of the config, which is only the name of the suite where there is none.
    idle: [],
    files: {
      'promptfooconfig.yaml': {
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
      },
      'answer.py': 'def call_api(prompt, options, context):\n    return {"output": prompt}\n',
    },
  },
  'samples of Inspect’s': {
    read: reads('samples.jsonl', 'echo'),
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
  'a log of Inspect’s': {
    read: reads('log.json', 'openai:gpt-4.1'),
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
  'test cases of DeepEval’s': {
    read: reads('cases.json'),
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
  'samples of Ragas’': {
    read: reads('ragas.json'),
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
};

const readsHooks = (file: string, dialect: 'claude' | 'agentao' | 'picoclaw') => (folder: string) => {
  const { entries, problems } = importHooks(join(folder, file), {
    folder,
    dialect,
    searchPath: '/bin:/usr/bin',
  });
  return { written: entries, problems };
};

const hookFiles: typeof tested = {
  'hooks of Claude Code': {
    read: readsHooks('settings.json', 'claude'),
    // Keys around the hooks are classified elsewhere; the names of events are keys that are known.
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
  'hooks of Agentao': {
    read: readsHooks('hooks.json', 'agentao'),
    idle: [foreignKey, `hooks.${foreignKey}`],
    files: {
      'hooks.json': {
        hooks: { PreToolUse: [{ type: 'command', command: 'true', timeout: 5, matcher: { toolName: 'x' } }] },
      },
    },
  },
  'hooks of PicoClaw': {
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
};

test.each(Object.entries(hookFiles))(
  'of %s a key that nobody knows is reported in its file, at its line, wherever it stands [DS-IMPORT-06]',
  async (_, each) => {
    expect(await findUnreportedKeys(each)).toEqual([]);
  },
);

describe.each(Object.entries(tested))('of %s', (_, each) => {
  test('a key that nobody knows is reported in its file, at its line, wherever it stands [DS-IMPORT-06]', async () => {
    expect(await findUnreportedKeys(each)).toEqual([]);
  });

  test('no value is lost in silence: what is written or reported changes with it [DS-IMPORT-06]', async () => {
    expect(await findSilentValues(each)).toEqual([]);
  });
});
