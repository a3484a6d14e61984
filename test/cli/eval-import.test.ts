import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, run, runJson } from './command-line.ts';

const files = {
  'promptfooconfig.yaml': `description: Capitals
prompts: ['What is the capital of {{country}}?']
providers:
  - {id: 'file://answer.py', label: table, config: {mark: '{{env.DESK_MARK}}'}}
  - {id: 'exec:./shout.sh -n "a b"', label: shout}
  - echo
defaultTest:
  assert:
    - {type: javascript, value: 'output.length > 3'}
    - {type: not-contains, value: sorry}
    - {type: latency, threshold: 60000}
tests:
  - vars: {country: Norway, capital: Oslo}
    assert:
      - {type: icontains, value: '{{capital}}'}
      - {type: python, value: 'context["vars"]["capital"] in output', metric: found}
      - {type: javascript, value: 'file://check.cjs:ends', config: {end: '!'}}
  - vars: {country: Peru, capital: Lima}
    assert:
      - {type: javascript, value: 'file://check.cjs:ends', config: {end: '!'}}
      - type: assert-set
        threshold: 0.5
        assert: [{type: equals, value: never}, {type: contains, value: 'Lima'}]
`,
  'answer.py': `import os
print("noise", os.path.basename(__file__))
capitals = open("capitals.txt").read().split()
def call_api(prompt, options, context):
    country = context["vars"]["country"]
    return {"output": capitals[["Norway", "Peru"].index(country)] + options["config"]["mark"]}
`,
  'capitals.txt': 'Oslo Lima',
  'shout.sh': '#!/bin/sh\nprintf "%s|%s|%s" "$1" "$2" "$3"\n',
  'check.cjs':
    'module.exports.ends = (output, {config}) => ({pass: output.endsWith(config.end), score: 0.4, reason: "end"});\n',
};

test('eval import writes suites that run, with the verdicts of every assertion [DS-PROMPTFOO-01]', async () => {
  const cwd = folderOf(files);
  const made = await run('eval import promptfooconfig.yaml', { cwd });
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toContain('whole: 1 suite, 2 cases');
  const { document } = await runJson('eval run signalbox/promptfoo.suite.yaml --no-store', {
    cwd,
    env: { DESK_MARK: '!' },
  });
  const { variants } = JSON.parse(JSON.stringify(document));
  const passes = (name: string) => {
    const { evals } = variants.find((each: { readonly name: string }) => each.name === name);
    return Object.keys(evals).map((id) => `${id} ${evals[id].passed}/${evals[id].count}`);
  };
  expect(passes('table')).toEqual([
    'javascript 2/2',
    'not-contains 2/2',
    'latency 2/2',
    'icontains 1/1',
    'found 1/1',
    'javascript-2 2/2',
    'assert-set 1/1',
  ]);
  expect(passes('shout')).toEqual([
    'javascript 2/2',
    'not-contains 2/2',
    'latency 2/2',
    'icontains 0/1',
    'found 0/1',
    'javascript-2 0/2',
    'assert-set 0/1',
  ]);
  expect(passes('echo')).toEqual([
    'javascript 2/2',
    'not-contains 2/2',
    'latency 2/2',
    'icontains 0/1',
    'found 0/1',
    'javascript-2 0/2',
    'assert-set 0/1',
  ]);
});

test('text in a config that resembles a Signalbox expression stays text [DS-PROMPTFOO-01]', async () => {
  const cwd = folderOf({
    'promptfooconfig.yaml': `prompts: ['a \${1 + 1} b $\${c} {{v}}']
providers: [echo]
tests:
  - vars: {v: '\${case.id}'}
    assert:
      - {type: equals, value: 'a \${1 + 1} b $\${c} {{v}}'}
      - {type: javascript, value: 'output === "a $" + "{1 + 1} b $$" + "{c} " + context.vars.v && !output.includes(\`\${1 + 1}!\`)'}
`,
  });
  await run('eval import promptfooconfig.yaml --output .', { cwd });
  const { code, document } = await runJson('eval run promptfoo.suite.yaml --no-store', { cwd });
  expect({ code, document }).toMatchObject({
    code: 0,
    document: { evals: { equals: { passed: 1 }, javascript: { passed: 1 } } },
  });
});

test('answers of endpoints and programs are judged as objects, after every transform [DS-PROMPTFOO-01]', async () => {
  const server = createServer((asked, reply) => {
    let body = '';
    asked.on('data', (chunk) => (body += chunk));
    asked.on('end', () =>
      reply.end(JSON.stringify({ said: JSON.parse(body).text, key: asked.headers['x-key'] })),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const cwd = folderOf({
    'promptfooconfig.yaml': `prompts: ['tell {{name}}']
providers:
  - id: http
    label: http
    config: {url: 'http://127.0.0.1:${port}/', method: POST, body: {text: '{{prompt}}'}, headers: {x-key: '{{env.DESK_KEY}}'}}
  - {id: 'file://provider.mjs', label: script, transform: '({said: output.text, key: "s3", more: 1})'}
tests:
  - vars: {name: Ada}
    assert:
      - {type: javascript, value: 'output.said === "tell Ada" && output.key === "s3"'}
      - {type: equals, value: tell Ada, transform: output.said}
      - {type: python, value: 'output["said"] == "tell Ada"'}
  - vars: {name: Bo}
    options: {transform: output.said}
    assert:
      - {type: javascript, value: 'output === "tell Bo"'}
      - {type: not-icontains-any, value: [ada, eve]}
      - {type: starts-with, value: Bo, transform: 'output.slice(5)'}
`,
    'provider.mjs':
      'export default class {\n  id() { return "x"; }\n  async callApi(prompt) { return { output: { text: prompt } }; }\n}\n',
  });
  const made = await run('eval import promptfooconfig.yaml', { cwd });
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const { document } = await runJson('eval run signalbox/promptfoo.suite.yaml --no-store', {
    cwd,
    env: { DESK_KEY: 's3' },
  });
  server.close();
  expect(document).toMatchObject({
    status: 'passed',
    variants: [
      { name: 'http', status: 'passed', cases: 2 },
      { name: 'script', status: 'passed', cases: 2 },
    ],
  });
});

test('text in a config that resembles an environment variable stays text, and none is read [DS-PROMPTFOO-03]', async () => {
  const marks = 'a ${env:HOME} $${env:HOME} ${env:';
  const cwd = folderOf({
    'promptfooconfig.yaml': `prompts: [hi]
providers: [{id: 'file://answer.py', label: desk, config: {mark: '${marks}'}}]
tests: [{assert: [{type: equals, value: '${marks}'}]}]
`,
    'answer.py':
      'def call_api(prompt, options, context):\n    return {"output": options["config"]["mark"]}\n',
  });
  await run('eval import promptfooconfig.yaml', { cwd });
  const { document } = await runJson('eval run signalbox/promptfoo.suite.yaml --no-store', { cwd });
  expect(document).toMatchObject({ status: 'passed', evals: { equals: { passed: 1 } } });
});

test('eval import reports what it omits by line, exits 1, and overwrites nothing [DS-PROMPTFOO-02]', async () => {
  const cwd = folderOf({
    'promptfooconfig.yaml': 'prompts: [hi]\nproviders: [echo]\ntests:\n  - assert: [{type: moderation}]\n',
  });
  const command = ['eval', 'import', 'promptfooconfig.yaml'];
  const dry = await runJson([...command, '--dry-run'], { cwd });
  expect(dry).toMatchObject({
    code: 1,
    document: {
      status: 'partly',
      cases: 1,
      suites: ['signalbox/promptfoo.suite.yaml'],
      problems: [{ file: 'promptfooconfig.yaml', line: 4, column: 14, severity: 'error' }],
    },
  });
  expect(existsSync(join(cwd, 'signalbox'))).toBe(false);
  expect((await run(command, { cwd })).code).toBe(1);
  const text = readFileSync(join(cwd, 'signalbox/promptfoo.suite.yaml'), 'utf8');
  expect((await run(command, { cwd })).code).toBe(2);
  expect((await run([...command, '--force'], { cwd })).code).toBe(1);
  expect(readFileSync(join(cwd, 'signalbox/promptfoo.suite.yaml'), 'utf8')).toBe(text);
});

test('prompt programs, tests with their own providers and thresholds become variants that are compared one by one [DS-PROMPTFOO-01 DS-IMPORT-01]', async () => {
  const cwd = folderOf({
    'promptfooconfig.yaml': `description: Made
prompts:
  - file://make.py:chat
  - file://make.cjs
  - 'plain {{word | upper}}'
providers: [echo, {id: 'file://answer.py', label: desk}]
tests:
  - vars: {word: hi}
    assert: [{type: icontains, value: hi}]
  - vars: {word: ho}
    threshold: 0.5
    assert: [{type: icontains, value: ho}, {type: equals, value: never}]
  - vars: {word: mine}
    provider: {id: 'file://answer.py', label: own}
    assert: [{type: icontains, value: mine}, {type: javascript, value: 'context.metadata.by === "desk"'}]
`,
    'make.py':
      'def chat(context):\n    return [{"role": "user", "content": "py " + context["vars"]["word"]}]\n',
    'make.cjs': 'module.exports = async ({ vars, provider }) => `js ${vars.word} for ${provider.id}`;\n',
    'answer.py':
      'def call_api(prompt, options, context):\n    return {"output": prompt, "metadata": {"by": "desk"}}\n',
  });
  const made = await runJson('eval import promptfooconfig.yaml', { cwd });
  const names = ['promptfoo', 'promptfoo-2', 'promptfoo-3'];
  const suites = names.map((name) => `signalbox/${name}.suite.yaml`);
  expect(made).toMatchObject({ code: 0, document: { status: 'whole', suites } });
  expect(await runJson(['validate', ...suites], { cwd })).toMatchObject({ code: 0 });
  const found = [];
  for (const name of names) {
    const options = ['--reporter', `jsonl=${name}.jsonl`, '--no-store'];
    const { document } = await runJson(['eval', 'run', `signalbox/${name}.suite.yaml`, ...options], { cwd });
    const { variants } = JSON.parse(JSON.stringify(document));
    found.push(
      variants.map(
        (each: { readonly name: string; readonly status: string }) => `${each.name} ${each.status}`,
      ),
    );
  }
  const pairs = ['echo', 'desk'].flatMap((name) =>
    [1, 2, 3].map((prompt) => `${name}/prompt-${prompt} passed`),
  );
  expect(found).toEqual([pairs, pairs, [1, 2, 3].map((prompt) => `own/prompt-${prompt} passed`)]);
  const one = await runJson('eval diff promptfoo.jsonl promptfoo-2.jsonl --variant desk/prompt-1', { cwd });
  expect(one).toMatchObject({ code: 0, document: { a: { cases: 1 }, b: { cases: 1 } } });
  const none = await runJson('eval diff promptfoo.jsonl promptfoo-3.jsonl --variant x', { cwd });
  expect(none).toMatchObject({ code: 2, document: { error: { code: 'NAME_UNKNOWN' } } });
});

test('results of several pairs become a run with the suite’s variants, and a variant without results is no error [DS-IMPORT-01]', async () => {
  const result = (testIdx: number, promptIdx: number, provider: string, label: string) => ({
    testIdx,
    promptIdx,
    provider: { id: provider, label: provider },
    prompt: { raw: 'x', label },
    vars: { word: 'a' },
    success: true,
    response: { output: 'a' },
    gradingResult: {
      componentResults: [{ pass: true, score: 1, assertion: { type: 'contains', value: 'a' } }],
    },
  });
  const cwd = folderOf({
    'results.json': JSON.stringify({
      results: {
        results: [0, 1].flatMap((test) => [
          result(test, 0, 'echo', 'A {{word}}'),
          result(test, 1, 'echo', 'B {{word}}'),
          result(test, 2, 'vertex:gemini', 'A {{word}}'),
          result(test, 3, 'vertex:gemini', 'B {{word}}'),
        ]),
      },
    }),
    'promptfooconfig.yaml': `prompts: ['A {{word}}', 'B {{word}}']
providers: [echo, 'vertex:gemini']
tests: [{vars: {word: a}, assert: [{type: contains, value: a}]}, {vars: {word: b}, assert: [{type: contains, value: a}]}]
`,
  });
  await run('eval import results.json --output old', { cwd });
  await run('eval import promptfooconfig.yaml', { cwd });
  await run('eval run signalbox/promptfoo.suite.yaml --reporter jsonl=new.jsonl --no-store', { cwd });
  const compared = ['eval', 'diff', 'old/promptfoo.run.jsonl', 'new.jsonl'];
  expect(await runJson(compared, { cwd })).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  for (const name of ['echo/prompt-1', 'echo/prompt-2'])
    expect(await runJson([...compared, '--variant', name], { cwd })).toMatchObject({
      code: 0,
      document: { cases: { pairs: 2, regressions: 1 }, evals: [{ eval_a: 'contains', regressions: 1 }] },
    });
});
