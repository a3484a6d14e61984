import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importPromptfoo } from '../../../../src/suites/import/import-suite.ts';
import { validateImport, writeImport } from '../../../../src/suites/import/suite/suite.ts';
import { configFolder, imported, rows, told, written } from './importing.ts';

test('variables, lists of them, files and rows of a table become cases, with the defaults of all tests [DS-PROMPTFOO-01]', async () => {
  const result = await imported(
    `prompts: [file://ask.txt]
providers: [echo]
defaultTest:
  vars: {tone: calm}
  assert: [{type: contains, value: '{{tone}}'}]
tests:
  - vars: {city: [Oslo, Rome], tone: loud}
  - file://more.csv
  - file://last.jsonl
`,
    {
      'ask.txt': 'Describe {{city}}, {{ tone }}.\n',
      'more.csv':
        'city,__expected,__expected2,__metric\nBonn,icontains: bonn,,found\n"A, B","not-contains: $' +
        '{x}",python: len(output) > 2,\n',
      'last.jsonl': '{"vars": {"city": "{{tone}}ville"}}\n',
    },
  );
  expect(told(result)).toEqual([]);
  expect(rows(result).map(({ id, vars }) => [id, vars])).toEqual([
    ['1', { city: 'Oslo', tone: 'loud' }],
    ['2', { city: 'Rome', tone: 'loud' }],
    ['3', { city: 'Bonn', tone: 'calm' }],
    ['4', { city: 'A, B', tone: 'calm' }],
    ['5', { city: 'calmville', tone: 'calm' }],
  ]);
  const { evals } = written(result, 'promptfoo.suite.yaml').spec;
  expect(evals.map(({ id }: { readonly id: string }) => id)).toEqual([
    'contains',
    'found',
    'not-contains',
    'python',
  ]);
});

test('providers keep their models and settings, and keys are named and never written [DS-PROMPTFOO-03]', async () => {
  const key = 'sk-abcdefghijklmnop';
  const result = await imported(`prompts: ['{{q}}']
providers:
  - openai:gpt-4.1
  - id: anthropic:messages:claude-sonnet-4-5
    label: Careful
    config: {temperature: 0, max_tokens: 64, apiKey: ${key}}
  - openrouter:meta-llama/llama-3.3-70b
  - ollama:chat:llama3.2
tests: [{vars: {q: hi}}]
`);
  expect(JSON.stringify(result)).not.toContain(key);
  expect(written(result, 'runtime.yaml').spec.providers).toEqual([
    {
      id: 'openai-gpt-4-1',
      model: 'gpt-4.1',
      type: 'openai',
      additional_config: { api_mode: 'completions' },
    },
    {
      id: 'careful',
      model: 'claude-sonnet-4-5',
      type: 'anthropic',
      credential: { credential_env: 'PROMPTFOO_IMPORTED_KEY' },
      defaults: { temperature: 0, max_tokens: 64 },
    },
    {
      id: 'openrouter-meta-llama-llama-3-3-70b',
      model: 'meta-llama/llama-3.3-70b',
      type: 'openai-compatible',
      base_url: 'https://openrouter.ai/api/v1',
      credential: { credential_env: 'OPENROUTER_API_KEY' },
    },
    { id: 'ollama-chat-llama3-2', model: 'llama3.2', type: 'ollama' },
  ]);
  expect(told(result)).toEqual([expect.stringMatching(/^promptfooconfig\.yaml:6:46 warning: the API key/)]);
});

test('the written files are valid, and what cannot run is reported with its line [DS-PROMPTFOO-01 DS-PROMPTFOO-02]', async () => {
  const folder = configFolder(
    `description: 'x: "\${1}" # y'
prompts: ['\${case.x} {{a}} {# gone #}', '[{"role": "system", "content": "Be {{a}}."}, {"role": "user", "content": "{{b}}"}]']
providers: [openai:gpt-4.1, 'vertex:gemini', 'file://answer.py']
tests:
  - vars: {a: 1}
    assert:
      - {type: llm-rubric, value: 'is {{a}}'}
      - {type: is-json, metric: __proto__}
redteam: {purpose: none}
`,
    { 'answer.py': 'def call_api(prompt, options, context): return {"output": prompt}\n' },
  );
  const output = join(folder, 'signalbox');
  const result = await importPromptfoo(join(folder, 'promptfooconfig.yaml'), output);
  expect(told(result)).toEqual([
    expect.stringMatching(/^promptfooconfig\.yaml:3:29 the provider `vertex`/),
    expect.stringMatching(/^promptfooconfig\.yaml:7:9 warning: `llm-rubric`/),
    expect.stringMatching(/^promptfooconfig\.yaml:9:1 `redteam`/),
  ]);
  expect(result).toMatchObject({ status: 'partly', cases: 1 });
  expect(await validateImport(output, result)).toEqual(result);
  expect(existsSync(output)).toBe(false);
  writeImport(output, result, false);
  expect(() => writeImport(output, result, false)).toThrow('already exists');
  const [runtime, ...others] = result.files;
  const broken = [{ name: 'runtime.yaml', text: `${runtime?.text}  typo: 1\n` }, ...others];
  const { status, problems } = await validateImport(output, { ...result, status: 'whole', files: broken });
  expect([status, problems.at(-1)]).toMatchObject([
    'partly',
    {
      file: join(output, 'runtime.yaml'),
      message: expect.stringContaining('the imported suite is not valid'),
    },
  ]);
});

const code = 'require("fs").writeFileSync("ran", "1")';

test('no program of a config runs, and nothing outside its folder is read [DS-PROMPTFOO-03]', async () => {
  const folder = configFolder(
    `prompts: [file://prompt.py, 'file:///etc/hostname', 'file://../**/*', 'file://out/x.txt', 'hi {{a}}']
providers: ['exec: touch ran', 'file://run.js', 'file://../run.js', 'javascript:touch ran']
defaultTest: file:///etc/passwd
tests:
  - file://tests.py
  - file://out/x.csv
  - vars: {a: 'file:///etc/passwd', b: 'file://gen.js', __proto__: {c: 1}}
    assert: [{type: javascript, value: '${code}'}, {type: python, value: 'open("ran", "w")'}]
`,
    { 'run.js': code, 'gen.js': code, 'prompt.py': 'open("ran", "w")', 'tests.py': 'open("ran", "w")' },
  );
  symlinkSync('/etc', join(folder, 'out'));
  const result = await importPromptfoo(join(folder, 'promptfooconfig.yaml'), join(folder, 'signalbox'));
  expect(existsSync(join(folder, 'ran'))).toBe(false);
  expect(existsSync(join(folder, 'signalbox'))).toBe(false);
  expect(JSON.stringify(result.files)).not.toContain('root:');
  expect(told(result).filter((line) => !line.startsWith('promptfooconfig.yaml:'))).toEqual([]);
  expect(told(result).length).toBeGreaterThanOrEqual(9);
});

const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdefghi'
  .split('')
  .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[index]}`).join(', ')}]\n`)
  .join('')}`;

test.each([
  { title: 'a bomb of aliases', config: `${bomb}prompts: [hi]\n`, codes: 'CONFIG_INVALID' },
  { title: '60 MB', config: `# ${'x'.repeat(60_000_000)}\nprompts: [hi]\n`, codes: 'FILE_UNREADABLE' },
  { title: 'a text that is no YAML', config: 'prompts: [hi', codes: 'CONFIG_INVALID' },
  { title: 'brackets without end', config: `prompts: ${'['.repeat(100_000)}`, codes: 'CONFIG_INVALID' },
  {
    title: 'a million suites',
    config: `prompts: [${Array(1001).fill('hi').join(', ')}]\nproviders: [echo]\n`,
    codes: 'CONFIG_INVALID',
  },
])('$title ends in an error with a code [DS-PROMPTFOO-04]', async ({ config, codes }) => {
  await expect(imported(config)).rejects.toMatchObject({ code: codes });
});

test('a config that is a pipe, a folder, a program or missing ends in an error with a code [DS-PROMPTFOO-04]', async () => {
  const folder = configFolder('prompts: [hi]');
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
  writeFileSync(join(folder, 'config.ts'), 'process.exit(3)');
  const codeOf = async (name: string) =>
    await importPromptfoo(join(folder, name), join(folder, 'out')).catch(({ code: found }) => found);
  expect([
    await codeOf('pipe.yaml'),
    await codeOf('.'),
    await codeOf('config.ts'),
    await codeOf('none.yaml'),
    await codeOf('promptfooconfig.yaml/x'),
  ]).toEqual(['FILE_UNREADABLE', 'FILE_UNREADABLE', 'CONFIG_INVALID', 'FILE_UNREADABLE', 'FILE_UNREADABLE']);
});

test('lists of variables with too many combinations omit the test, with its line [DS-PROMPTFOO-04]', async () => {
  const list = `[${Array(100).fill('x').join(', ')}]`;
  const result = await imported(
    `prompts: ['{{a}}']\nproviders: [echo]\ntests:\n  - vars: {a: ${list}, b: ${list}, c: ${list}, d: ${list}}\n`,
  );
  expect(told(result)).toEqual([expect.stringMatching(/^promptfooconfig\.yaml:4:5 its lists of variables/)]);
  expect(result).toMatchObject({ status: 'none', files: [] });
});

test('scenarios are tests with each of their configs, and a pattern of files is a list [DS-PROMPTFOO-01]', async () => {
  const result = await imported(
    `prompts: ['{{lang}} {{text}}']
providers: [echo]
scenarios:
  - config:
      - {vars: {lang: de}, assert: [{type: contains, value: de}]}
      - {vars: {lang: fr}}
    tests:
      - {vars: {text: 'file://texts/*.txt'}, assert: [{type: contains, value: a}]}
`,
    { 'texts/1.txt': 'aa\n', 'texts/2.txt': 'ab\n' },
  );
  expect(told(result)).toEqual([]);
  expect(rows(result).map(({ vars, checks }) => [vars.lang, vars.text, checks])).toEqual([
    ['de', 'aa', { contains: [{ pattern: 'de' }], 'contains-2': true }],
    ['de', 'ab', { contains: [{ pattern: 'de' }], 'contains-2': true }],
    ['fr', 'aa', { contains: [{ pattern: 'a' }] }],
    ['fr', 'ab', { contains: [{ pattern: 'a' }] }],
  ]);
});

test('a provider gets the prompts that it names, and an unknown name is reported [DS-PROMPTFOO-02]', async () => {
  const result = await imported(
    `prompts:
  - {id: 'file://a.yaml', label: chat}
  - {id: 'file://b.jsonl', label: lines}
  - {label: parts, messages: [{role: system, content: 'file://c.md'}, {role: user, content: '{{x}}'}]}
  - {label: seen, messages: [{role: user, content: [{type: image_url}]}]}
providers:
  - {id: openai:gpt-4.1, label: one, prompts: [chat]}
  - {id: openai:gpt-4.1, label: two, prompts: [lines, parts, gone]}
tests: [{vars: {x: 1}}]
`,
    {
      'a.yaml': '- {role: system, content: Be kind.}\n- {role: user, content: "{{x}}?"}\n',
      'b.jsonl': '[{"role": "user", "content": "1 {{x}}"}]\n[{"role": "user", "content": "2 {{x}}"}]\n',
      'c.md': 'Be brief.\n',
    },
  );
  expect(told(result).filter((line) => !line.includes('note: the label'))).toEqual([
    expect.stringMatching(/^promptfooconfig\.yaml:5:5 a prompt with messages that hold more than text/),
    expect.stringMatching(/^promptfooconfig\.yaml:6:1 two uses a prompt `gone`/),
  ]);
  expect(result.suites).toEqual(['promptfoo.suite.yaml']);
  const { variants } = written(result, 'promptfoo.suite.yaml').spec.subject;
  expect(variants.map(({ name }: { readonly name: string }) => name)).toEqual([
    'one/prompt-1',
    'two/prompt-2',
    'two/prompt-3',
    'two/prompt-4',
  ]);
  expect(variants[0].chat).toEqual({
    provider: 'one',
    system: 'Be kind.',
    messages: [{ role: 'user', content: '$' + '{case.vars["x"]}?' }],
  });
  expect(variants[3].chat.system).toBe('Be brief.');
});

test('an address is a tool without keys, and code sees the variables that it names [DS-PROMPTFOO-03]', async () => {
  const result = await imported(
    `prompts: ['{{q}}']
providers:
  - id: https://api.example.com/chat
    label: api
    config:
      headers: {authorization: 'Bearer {{env.DESK_KEY}}'}
      body: {text: '{{prompt}}'}
      transformResponse: json.answer
  - {id: https, label: open, config: {url: 'https://x.example', headers: {x-api-key: sk-12345678901}}}
  - {id: 'file://ask.py', label: script}
tests: [{vars: {q: hi}}]
`,
    {
      'ask.py': 'import os, openai\nkey = os.environ["TEAM"]\ndef call_api(p, o, c): return {"output": p}\n',
    },
  );
  expect(told(result)).toEqual([
    expect.stringMatching(/^promptfooconfig\.yaml:9:5 a provider whose config holds an API key/),
  ]);
  const { tools } = written(result, 'runtime.yaml').spec;
  expect(Object.keys(tools)).toEqual(['api', 'script']);
  expect(tools.api.exec.env).toEqual(['DESK_KEY']);
  expect(tools.script.exec.env).toEqual(['OPENAI_API_KEY', 'TEAM']);
});

test('a key that the import does not read is reported, wherever it is [DS-PROMPTFOO-02]', async () => {
  const result = await imported(
    `prompts:
  - {raw: hi, config: {a: 1}}
providers:
  - {id: openai:gpt-4.1, inputs: {}, config: {logprobs: 1}}
defaultTest: file://defaults.yaml
tests:
  - {vars: 'file://vars.yaml', matrix: [1], options: {prefix: x}, assert: [{type: contains, value: a, note: b}]}
  - {vars: 'file://gone.yaml', assert: no list}
nunjucksFilters: {}
`,
    { 'defaults.yaml': 'vars: {a: 1}\nrunSerially: true\n', 'vars.yaml': 'b: 2\n' },
  );
  expect(told(result)).toEqual([
    'defaults.yaml:2:1 `runSerially` is left out',
    'promptfooconfig.yaml:2:24 the setting `a` of a prompt is left out',
    'promptfooconfig.yaml:4:26 `inputs` of a provider is left out',
    'promptfooconfig.yaml:4:47 the setting `logprobs` of a provider is left out',
    'promptfooconfig.yaml:7:32 `tests[0].matrix` is left out',
    'promptfooconfig.yaml:7:45 `tests[0].options` is left out',
    'promptfooconfig.yaml:7:103 `tests[0].assert[0].note` is left out',
    'promptfooconfig.yaml:8:6 file://gone.yaml does not exist',
    'promptfooconfig.yaml:8:32 `tests[1].assert` is left out',
    'promptfooconfig.yaml:9:1 `nunjucksFilters` is left out',
  ]);
  expect(rows(result).map(({ vars }) => vars)).toEqual([{ a: 1, b: 2 }, { a: 1 }]);
});

test('a prompt of a million brackets, and names of a megabyte, are read quickly and reported in short [DS-PROMPTFOO-04]', async () => {
  const result = await imported(
    `prompts: ['${'{{'.repeat(1_000_000)}', '${'{{a}}'.repeat(200_000)}', hi]\nproviders: [echo, 'file://${'a.'.repeat(100_000)}py']\n`,
  );
  expect(result.status).toBe('partly');
  // Like promptfoo, treats tags that are not closed on their line as text.
  expect(result.problems.length).toBe(1);
  expect(Math.max(...told(result).map(({ length }) => length))).toBeLessThan(600);
});

test('a file outside the folder is read neither through .. nor through a link [DS-PROMPTFOO-03]', async () => {
  const folder = configFolder('', {
    'secret.txt': 'TOP SECRET',
    'secret.csv': 'a,__expected\nTOP SECRET,x\n',
    'secret.yaml': '- {vars: {a: TOP SECRET}}\n',
    'inner/config.yaml': `prompts: [hi, file://../secret.txt, file://link/secret.txt]
providers: [echo, 'file://../secret.yaml']
tests:
  - {vars: {a: 'file://../secret.txt', b: 'file://link/secret.txt', c: 'file://link/*.txt'}}
  - {assert: [{type: equals, value: 'file://link/secret.txt'}]}
  - file://../secret.csv
  - file://link/secret.csv
  - file://link/*.yaml
`,
  });
  symlinkSync(folder, join(folder, 'inner/link'));
  const result = await importPromptfoo(join(folder, 'inner/config.yaml'), join(folder, 'inner/out'));
  expect(JSON.stringify(result)).not.toContain('TOP SECRET');
  expect(told(result).filter((line) => line.includes('is outside the folder')).length).toBe(10);
});

test('a pattern without a matching file is reported, and nothing is left [DS-PROMPTFOO-02]', async () => {
  const result = await imported(
    `prompts: [file://p*.txt, 'hi {{a}}']
providers: [echo]
tests: [file://t/*, {vars: {a: 'file://v/*.txt'}}]
`,
  );
  expect(told(result)).toEqual([
    'promptfooconfig.yaml:1:11 no file matches file://p*.txt',
    'promptfooconfig.yaml:3:9 no file matches file://t/*',
    expect.stringContaining('note: the list `a` is empty'),
    'promptfooconfig.yaml:3:29 no file matches file://v/*.txt',
  ]);
  expect(result.status).toBe('none');
});

test.each([
  { title: 'a header', provider: '{id: openai:gpt-4.1, config: {headers: {x-tenant: a}}}' },
  { title: 'an organization', provider: '{id: openai:gpt-4.1, config: {organization: org-1}}' },
  {
    title: 'an address with a password',
    provider: "{id: openai:gpt-4.1, config: {apiBaseUrl: 'https://a:b@c.example'}}",
  },
  { title: 'another host', provider: '{id: openai:gpt-4.1, config: {apiHost: c.example}}' },
  { title: 'its environment', provider: "{id: openai:gpt-4.1, env: {OPENAI_BASE_URL: 'https://c.example'}}" },
  { title: 'a proxy for an address', provider: "{id: 'https://c.example', config: {tls: {ca: x}}}" },
  { title: 'a key that nobody knows', provider: '{id: openai:gpt-4.1, config: {region: eu}}' },
])(
  'a provider with $title is omitted, since its prompts could go elsewhere [DS-PROMPTFOO-02]',
  async ({ provider }) => {
    const result = await imported(`prompts: [hi]\nproviders: [${provider}]\n`);
    expect(result).toMatchObject({ status: 'none', files: [] });
    expect(told(result)).toEqual([
      expect.stringMatching(/^promptfooconfig\.yaml:2:\d+ an? .* is left out: it could change the address/),
    ]);
  },
);

test('variables of a config that redirect requests end the import [DS-PROMPTFOO-02]', async () => {
  await expect(
    imported("prompts: [hi]\nproviders: [openai:gpt-4.1]\nenv: {OPENAI_BASE_URL: 'https://c.example'}\n"),
  ).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
