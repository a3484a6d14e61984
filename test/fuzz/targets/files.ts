import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '../../../src/base/yaml/problem.ts';
import { importHooks } from '../../../src/config/import/entries.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { loadPipeline } from '../../../src/pipelines/file/load.ts';
import { loadSuite } from '../../../src/suites/load.ts';
import { coded, holds, type Target } from '../target.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'node_modules/.cache/fuzz/files');
mkdirSync(folder, { recursive: true });
const sample = (path: string) => readFileSync(join(root, path), 'utf8').slice(0, 1_400);
const searchPath = '/usr/bin:/bin';

const yamlWords = [
  ...[
    ': ',
    '- ',
    '\n',
    '\n  ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '"',
    "'",
    '#',
    '~',
    '|',
    '&a ',
    '*a',
    '<<: *a',
    '!!binary ',
    '\0',
    '\t',
  ],
  ...[
    '${',
    '}',
    '${input.x}',
    '${case.id}',
    '__proto__: ',
    'constructor: ',
    '.inf',
    '-1',
    '0',
    '1e9',
    '1.5',
    'true',
    '5s',
    '../',
    '/dev/null',
  ],
];

/** A loader that must return a value, or problems with a message and a position inside the file. */
function targetOf(
  name: string,
  load: (file: string) => Loaded,
  more: Pick<Target, 'seeds' | 'tokens'>,
): Target {
  const file = join(folder, name);
  return {
    seeds: more.seeds,
    tokens: [...yamlWords, ...more.tokens],
    maxLength: 2_000,
    run: (text) => {
      writeFileSync(file, text);
      const { isLoaded, problems } = coded(() => load(file)) ?? { isLoaded: false, problems: undefined };
      if (problems === undefined) return;
      const isBroken = problems.some(({ severity }) => severity === 'error');
      if (isLoaded !== undefined) holds(isLoaded !== isBroken, 'a value or an error');
      for (const { line, column, message } of problems) {
        holds(line >= 1 && column >= 1, 'where a problem is', line, column);
        holds(
          (message !== '' && !/undefined|\[object|NaN:/.test(message)) || /undefined|\[object|NaN/.test(text),
          'what it says',
          message,
        );
      }
    },
  };
}

interface Loaded {
  readonly isLoaded: boolean | undefined;
  readonly problems: readonly Problem[];
}

export const config = targetOf(
  'runtime.yaml',
  (file) => {
    const { config: loaded, problems } = loadConfig(file, searchPath);
    return { isLoaded: loaded !== undefined, problems };
  },
  {
    seeds: [
      'runtime.yaml.example',
      'test/fixtures/config/promptkit-page.yaml',
      'test/fixtures/config/ten-mistakes.yaml',
    ].map(sample),
    tokens: [
      ...[
        'spec:',
        'tools:',
        'evals:',
        'hooks:',
        'providers:',
        'imports:',
        'gateway:',
        'defaults:',
        'state_store:',
        'sandboxes:',
        'limits:',
      ],
      ...[
        'command: ',
        'args: ',
        'env: ',
        'hook: tool',
        'mode: observe',
        'phases: ',
        'runtime: server',
        'timeout_ms: ',
        'dialect: claude',
      ],
      ...[
        'dialect: picoclaw',
        'dialect: chibi',
        'dialect: agentao',
        'input_schema: ',
        'approval: ',
        'when: ',
        'type: mock',
        'additional_config: ',
      ],
      ...[
        'responses: ',
        'models: ',
        'listen: ',
        'concurrency: ',
        'sandbox: ',
        'memory_mb: ',
        'redact: ',
        'exec: ',
        'env: [A=b]',
      ],
    ],
  },
);

export const suites = targetOf(
  'a.suite.yaml',
  (file) => {
    const { suite, problems } = loadSuite(file, undefined);
    return { isLoaded: suite !== undefined, problems };
  },
  {
    seeds: [
      sample('test/fixtures/suite/gsm8k.suite.yaml'),
      'apiVersion: signalbox/v1\nkind: EvalSuite\nmetadata: {name: x}\nspec:\n  runtime: ./runtime.yaml\n  cases: [{id: a, content: b}]\n  case: {id: "${case.id}", content: "${case.content}", tags: ["${case.t}"]}\n  evals: [{id: e, type: contains, params: {patterns: [x]}, threshold: {min_score: 1}, role: guardrail}]\n  gates: [{eval: e, metric: pass_rate, min: 0.5}]\n',
    ],
    tokens: [
      ...[
        'dataset:',
        'path: ',
        'cases:',
        'case:',
        'evals:',
        'gates:',
        'id: ',
        'type: ',
        'params: ',
        'threshold: ',
        'min_score: ',
        'max_score: ',
      ],
      ...[
        'role: metric',
        'metric: mean',
        'tag: ',
        'epochs: ',
        'reducer: ',
        'subject: ',
        'pipeline: ',
        'guard: ',
        'regex',
        'json_schema',
        'json_path',
      ],
    ],
  },
);

export const pipelines = targetOf(
  'a.pipeline.yaml',
  (file) => {
    const { pipeline, problems } = loadPipeline(file, undefined);
    return { isLoaded: pipeline !== undefined, problems };
  },
  {
    seeds: [
      'apiVersion: signalbox/v1\nkind: Pipeline\nmetadata: {name: x}\nspec:\n  runtime: ./runtime.yaml\n  input: {type: object, properties: {t: {type: string}}}\n  steps:\n    - {id: mood, tool: s, args: {text: "${input.t}"}}\n    - id: answer\n      chat: {provider: main, system: "a", messages: [{role: user, content: "${input.t}"}], tools: [a], max_rounds: 8}\n    - {id: q, eval: r, content: "${steps.answer.text}", threshold: {min_score: 0.8}, on_fail: stop}\n    - {id: n, if: "${steps.mood.result.score < 0.3}", tool: n, for_each: "${input.l}"}\n  output: {reply: "${steps.answer.text}"}\n',
    ],
    tokens: [
      ...[
        'steps:',
        'id: ',
        'tool: ',
        'args: ',
        'chat: ',
        'eval: ',
        'if: ',
        'for_each: ',
        'steps.',
        'input.',
        'item',
        'output: ',
        'parallel: ',
        'on_fail: ',
      ],
      ...[
        'messages: ',
        'role: ',
        'content: ',
        'max_rounds: ',
        'provider: ',
        '${steps.a.text}',
        '${item.x}',
        '"${1 +}"',
        'type: object',
        'guardrails: ',
      ],
    ],
  },
);

const claudeFile = {
  hooks: {
    PreToolUse: [
      { matcher: 'Bash|Edit', hooks: [{ type: 'command', command: 'cat', timeout: 5, if: 'Bash(rm *)' }] },
    ],
    Stop: [{ hooks: [{ type: 'http', url: 'http://x/a', headers: { A: '$T' }, allowedEnvVars: ['T'] }] }],
  },
  allowedHttpHookUrls: ['http://x/*'],
};
const picoclawFile = {
  hooks: {
    enabled: true,
    processes: {
      gate: {
        enabled: true,
        transport: 'stdio',
        command: ['cat', '-u'],
        dir: '.',
        env: { A: 'b' },
        observe: ['turn_end'],
        intercept: ['before_tool'],
      },
    },
  },
};
const agentaoFile = {
  PreToolUse: [{ type: 'command', command: 'cat', matcher: { toolName: '^sh.*$' }, timeout: 3 }],
  UserPromptSubmit: [{ type: 'prompt', prompt: 'hi' }],
};

export const imports = targetOf(
  'settings.json',
  (file) => ({ isLoaded: undefined, problems: importHooks(file, { folder, searchPath }).problems }),
  {
    seeds: [claudeFile, picoclawFile, agentaoFile, { hooks: agentaoFile }].map((each) =>
      JSON.stringify(each, null, 1),
    ),
    tokens: [
      ...[
        '"hooks":',
        '"matcher":',
        '"type":',
        '"command":',
        '"http"',
        '"url":',
        '"headers":',
        '"timeout":',
        '"if":',
        '"args":',
        '"async":',
      ],
      ...[
        '"PreToolUse":',
        '"PostToolUse":',
        '"Stop":',
        '"SessionStart":',
        '"toolName":',
        '"prompt":',
        '"processes":',
        '"intercept":',
        '"observe":',
      ],
      ...[
        '"transport":',
        '"enabled":',
        '"disableAllHooks":',
        '"allowedHttpHookUrls":',
        '"$CLAUDE_PROJECT_DIR/x"',
        '"Bash(rm *)"',
        'null',
        '[]',
        '{}',
      ],
    ],
  },
);
