import { afterAll, expect, test } from 'vitest';
import { hasPartialTag, openTemplates } from '../../../../src/suites/import/promptfoo/templates.ts';
import { imported, rows, told, written } from './importing.ts';

const templates = openTemplates();
afterAll(() => templates.end());

const vars = { name: 'Ada', list: ['x', 'y'], tree: { k: 1 }, n: 2, json: '{"a": [1]}' };

test.each([
  ['{{ name | upper }}{% if n > 1 %}s{% endif %}', 'ADAs'],
  [
    '{% for each in list %}{{ loop.index }}{{ each }}{% if not loop.last %}, {% endif %}{% endfor %}',
    '1x, 2y',
  ],
  ['{% for k, v in tree %}{{ k }}={{ v }}{% endfor %} {{ tree | dump }}', 'k=1 {"k":1}'],
  ['{{ (json | load).a[0] }} {{ gone | default("none") }} {{ gone.further }}', '1 none '],
  ['{% set word = name ~ "!" %}{{ word.toLowerCase().replace("a", "o") }}{{ list.length }}', 'oda!2'],
  ['{% macro greet(who) %}Hi {{ who }}{% endmacro %}{{ greet(name) }}', 'Hi Ada'],
  ['{% raw %}{{ name }}{% endraw %} ${name} {{ "<b>" }}', '{{ name }} ${name} <b>'],
  ['{{ range(0, 6, 3) | join("-") }} {{ cycler("a", "b").next() }}', '0-3 a'],
  ['{{ name.constructor }}|{{ tree.__proto__ }}|{{ list.map }}|{{ range.call }}', '|||'],
  // Like promptfoo, treats the whole as text if a tag is not closed on its line.
  ['{{ name\n}} {% if', '{{ name\n}} {% if'],
])('%s is filled in as Nunjucks does it [DS-PROMPTFOO-05]', (template, text) => {
  expect(templates.fill(template, vars)).toEqual({ value: text });
});

const code = `return process.mainModule.require("child_process").execSync("id")`;

test.each([
  [`{{ ''.constructor.constructor('${code}')() }}`],
  ['{{ range.constructor("return 1")() }}'],
  ['{{ cycler.call.constructor("return 1")() }}'],
  ['{{ [].map.constructor("return 1")() }}'],
  ['{{ constructor.constructor("return 1")() }}'],
  ['{{ __proto__.constructor("return 1")() }}'],
  ['{{ toString.constructor("return 1")() }}'],
  ['{% set f = "constructor" %}{{ name[f][f]("return 1")() }}'],
  ['{{ (list | first)["constr" ~ "uctor"]["constructor"]("return 1")() }}'],
  // Nunjucks would copy this text into the code that it compiles.
  ['{{ name | x`${process.exit(3)}` }}'],
  ['{{ a"+process.exit(3)+" | upper }}'],
  ['{{ name["\\\\\\"+(globalThis.escaped=1)+\\\\\\""]() }}'],
  ['{% block a"b %}{% endblock %}'],
  ['{% include "/etc/passwd" %}'],
  ['{% import "/etc/passwd" as x %}{{ x }}'],
  ['{% extends "/etc/passwd" %}'],
  ['{{ env.HOME }}'],
  ['{{ _conversation | length }}'],
  ['{{ name | nosuchfilter }}'],
])('%s runs nothing, and is reported [DS-PROMPTFOO-05]', (template) => {
  expect(templates.fill(template, vars)).toEqual({ fault: expect.any(String) });
});

test.each([
  ['{{ range(100000000) | length }}'],
  ['{{ "x".repeat(900000000) }}'],
  ['{% for i in range(99) %}{% set list = list.concat(list) %}{% endfor %}'],
  ['{% set s = "abcdefgh" %}{% for i in range(40) %}{% set s = s ~ s %}{% endfor %}{{ s | list | length }}'],
  ['{% macro again(x) %}{{ again(x) }}{% endmacro %}{{ again(1) }}'],
])('%s ends before memory runs out [DS-PROMPTFOO-05]', (template) => {
  expect(templates.fill(template, vars)).toEqual({ fault: expect.stringMatching(/^fails: RangeError/) });
});

test.each([
  ['{{ constructor | upper }}', 'uses an invalid name'],
  ['{{ name | x`1` }}', 'uses an invalid name'],
  ['{% include "x" %}', 'includes another file'],
  ['{{ env.HOME }}', 'uses an environment variable'],
])('%s is not even compiled [DS-PROMPTFOO-05]', (template, fault) => {
  expect(templates.fill(template, vars)).toEqual({ fault: expect.stringContaining(fault) });
});

test('an endless template is stopped, after three of them none runs, and the import continues [DS-PROMPTFOO-05]', () => {
  const strict = openTemplates({ limitMs: 300 });
  const endless =
    '{% for a in range(2000000) %}{% for b in range(2000000) %}{% for c in range(9) %}{% endfor %}{% endfor %}{% endfor %}';
  const faults = Array.from({ length: 4 }, () => strict.fill(endless, vars));
  strict.end();
  expect(faults.map((each) => ('fault' in each ? each.fault : ''))).toEqual([
    ...Array.from({ length: 3 }, () => 'takes too much time or memory'),
    'does not run, because other templates took too long',
  ]);
});

test.each([
  ['{{ a }} {% if b %}', false],
  ['{{ a', true],
  ['{{ a\n}}', true],
  ['{% if a\n%}', true],
  ['{# a #} {{ {"b": 1} }}', false],
  ['{'.repeat(1_000_000), true],
  [`${'{{'.repeat(500_000)}}`, false],
])('an open tag is detected in one pass (%#)', (template, isPartial) => {
  expect(hasPartialTag(template)).toBe(isPartial);
});

test('prompts with template code are filled in for each case, and JSON keeps its quotes [DS-PROMPTFOO-01 DS-PROMPTFOO-05]', async () => {
  const result = await imported(`prompts:
  - 'Say {{ word | upper }}, \${case.id}'
  - '{"ask": "{{ word }}"}'
  - '[{% for each, _ in words %}{"role": "user", "content": "{{ each }}"}{% if not loop.last %},{% endif %}{% endfor %}]'
  - '[{"role": "system", "content": "Be {{ tone }}."}, {"role": "user", "content": "{{ word | title }}"}]'
providers: [openai:gpt-4.1]
tests:
  - vars: {word: 'a "b"', tone: calm, words: {a: x}}
    assert: [{type: contains, value: '{{ word | upper }}'}]
  - {vars: {word: c, tone: '{{ word | upper }}', words: {}}}
`);
  expect(told(result)).toEqual([]);
  expect(rows(result).map(({ prompts }) => prompts)).toEqual([
    {
      'prompt-1': ['Say A "B", ${case.id}'],
      'prompt-2': { text: '{\n  "ask": "a \\"b\\""\n}', messages: '{\n  "ask": "a \\"b\\""\n}' },
      'prompt-3': { text: '[{"role": "user", "content": "a"}]', messages: [{ role: 'user', content: 'a' }] },
      'prompt-4': ['', 'A "b"'],
    },
    {
      'prompt-1': ['Say C, ${case.id}'],
      'prompt-2': { text: '{\n  "ask": "c"\n}', messages: '{\n  "ask": "c"\n}' },
      'prompt-3': { text: '[]', messages: '[]' },
      'prompt-4': ['', 'C'],
    },
  ]);
  const { variants } = written(result, 'promptfoo.suite.yaml').spec.subject;
  expect(variants[3]).toEqual({
    name: 'prompt-4',
    chat: {
      provider: 'openai-gpt-4-1',
      system: 'Be ${case.vars["tone"]}.',
      messages: [{ role: 'user', content: '${case.prompts["prompt-4"][1]}' }],
    },
  });
  expect(rows(result)[1].vars.tone).toBe('C');
});

test('a list of texts makes a case of each, and any other list is one value for loops [DS-PROMPTFOO-01]', async () => {
  const result =
    await imported(`prompts: ['{{ city }}{% for each in turns %} {{ each.user }}{% endfor %}{{ none | length }}']
providers: [echo]
tests: [{vars: {city: [Oslo, Rome], turns: [{user: hi}, {user: ho}], none: []}}]
`);
  expect(told(result)).toEqual([]);
  expect(rows(result).map(({ prompts }) => prompts['prompt-1'])).toEqual([['Oslo hi ho0'], ['Rome hi ho0']]);
});

test('model settings that a chat supports are imported, and an answer with a schema is an object for code [DS-PROMPTFOO-01]', async () => {
  const result = await imported(`prompts: [hi, {raw: ho, config: {temperature: 0.5}}]
providers:
  - id: openai:gpt-4.1
    config:
      seed: 7
      stop: [END]
      cost: 0.000001
      presence_penalty: 0
      response_format: {type: json_schema, json_schema: {schema: {type: object, properties: {a: {type: integer}}}}}
tests: [{assert: [{type: javascript, value: output.a === 1}]}]
`);
  expect(told(result)).toEqual([
    expect.stringMatching(/^promptfooconfig\.yaml:9:\d+ warning: an answer that does/),
  ]);
  const { subject, case: mapping } = written(result, 'promptfoo.suite.yaml').spec;
  const schema = { type: 'object', properties: { a: { type: 'integer' } } };
  const chat = { provider: 'openai-gpt-4-1', seed: 7, stop: ['END'], output: { schema } };
  expect(subject.variants).toEqual([
    { name: 'prompt-1', chat: { ...chat, messages: [{ role: 'user', content: 'hi' }] } },
    { name: 'prompt-2', chat: { ...chat, temperature: 0.5, messages: [{ role: 'user', content: 'ho' }] } },
  ]);
  expect(mapping.context.metadata).toContain('"output": subject.result.object');
  expect(written(result, 'runtime.yaml').spec.providers[0].pricing).toEqual({
    input_cost_per_1k: 0.001,
    output_cost_per_1k: 0.001,
  });
});

test('a prompt that continues the conversation, or names the environment, is omitted with its line [DS-PROMPTFOO-02]', async () => {
  const result = await imported(`prompts:
  - hi {{ n }}
  - '{% for each in _conversation %}{{ each.input }}{% endfor %}'
  - 'at {{ env.HOME }}'
providers: [echo]
tests: [{vars: {n: 1}}]
`);
  expect(told(result)).toEqual([
    'promptfooconfig.yaml:3:5 a prompt whose template uses the previous messages of the conversation is left out',
    'promptfooconfig.yaml:4:5 a prompt whose template uses an environment variable is left out',
  ]);
});
