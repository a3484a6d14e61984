import { expect, test } from 'vitest';
import { imported, told, written } from './importing.ts';

const configOf = (assertion: string) => `prompts: ['Say {{word}}.']
providers: [echo]
tests:
  - vars: {word: 'a.b', n: 3, query: 'why?'}
    assert:
      - ${assertion}
`;

async function evalOf(assertion: string) {
  const result = await imported(configOf(assertion), {
    'expected.json': '{"city": "Oslo"}',
    'broken.json': '{"city": ',
    'grade.yaml': '- {role: user, content: "Grade {{output}} for {{word}}."}\n',
    'check.py': 'def get_assert(output, context): return True\n',
  });
  const suite = written(result, 'promptfoo.suite.yaml');
  return { told: told(result), evals: suite?.spec.evals };
}

const carried = [
  {
    title: 'contains keeps case, and its text is no pattern',
    assertion: "{type: contains, value: '{{word}}(x)'}",
    found: { id: 'contains', type: 'regex', params: { pattern: 'a\\.b\\(x\\)' } },
  },
  {
    title: 'icontains-any',
    assertion: '{type: icontains-any, value: [Yes, No]}',
    found: { id: 'icontains-any', type: 'regex', params: { pattern: '(?i)Yes|No' } },
  },
  {
    title: 'contains-all of a text with commas',
    assertion: "{type: contains-all, value: 'a, b'}",
    found: { id: 'contains-all', type: 'regex', params: { pattern: '^(?=[\\s\\S]*a)(?=[\\s\\S]*b)' } },
  },
  {
    title: 'not-equals',
    assertion: '{type: not-equals, value: no}',
    found: {
      id: 'not-equals',
      not: { type: 'equals', params: { expected: 'no' }, threshold: { min_score: 1 } },
    },
  },
  {
    title: 'equals of a file of JSON',
    assertion: "{type: equals, value: 'file://expected.json'}",
    found: { id: 'equals', type: 'json_path', params: { expression: '@', expected: { city: 'Oslo' } } },
  },
  {
    title: 'a regex under its metric, with a weight',
    assertion: "{type: regex, value: '^[a-z]+$', metric: 'lower case', weight: 2}",
    found: { id: 'lower case', type: 'regex', params: { pattern: '^[a-z]+$' }, weight: 2 },
  },
  {
    title: 'a weight of 0 is only recorded',
    assertion: '{type: starts-with, value: Say, weight: 0}',
    found: { id: 'starts-with', type: 'starts_with', params: { expected: 'Say' }, role: 'metric' },
  },
  {
    title: 'contains-json with a schema',
    assertion: '{type: contains-json, value: {required: [city]}}',
    found: {
      id: 'contains-json',
      type: 'json_schema',
      params: {
        schema: { $schema: 'http://json-schema.org/draft-07/schema#', required: ['city'] },
        extract_json: true,
      },
    },
  },
  {
    title: 'rouge-n',
    assertion: '{type: rouge-n, value: one two, threshold: 0.4}',
    found: { id: 'rouge-n', type: 'rouge', params: { expected: 'one two' }, threshold: { min_score: 0.4 } },
  },
  {
    title: 'latency and cost',
    assertion: '{type: assert-set, assert: [{type: latency, threshold: 500}, {type: cost, threshold: 0.01}]}',
    found: {
      id: 'assert-set',
      all_of: [
        { type: 'latency_budget', params: { max_ms: 500 }, threshold: { min_score: 1 } },
        { type: 'cost_budget', params: { max_cost_usd: 0.01 }, threshold: { min_score: 1 } },
      ],
    },
  },
  {
    title: 'javascript keeps its text to the letter, expressions of Signalbox in it too',
    assertion: "{type: javascript, value: 'output === `$${1 + 1}`', threshold: 0.5}",
    found: {
      id: 'javascript',
      type: 'promptfoo-javascript',
      params: { code: 'output === `$$${1 + 1}`', threshold: 0.5 },
    },
  },
  {
    title: 'python from a file',
    assertion: "{type: python, value: 'file://check.py', config: {n: 1}}",
    found: {
      id: 'python',
      type: 'promptfoo-python',
      params: { file: 'check.py', member: '', config: { n: 1 } },
    },
  },
  {
    title: 'a text of what JavaScript makes of the answer',
    assertion: "{type: not-contains-any, value: [b, c], transform: 'output.x'}",
    found: {
      id: 'not-contains-any',
      not: {
        type: 'promptfoo-javascript',
        params: { kind: 'contains-any', value: ['b', 'c'], transforms: [{ code: 'output.x' }] },
        threshold: { min_score: 1 },
      },
    },
  },
];

const judged = [
  {
    title: 'a rubric with a judge of its own',
    assertion: "{type: llm-rubric, value: 'about {{word}}', provider: 'openai:gpt-4o'}",
    params: { criteria: 'about a.b', provider: 'judge-openai-gpt-4o' },
    least: 0.5,
  },
  {
    title: 'g-eval of several criteria',
    assertion: '{type: g-eval, value: [short, kind], threshold: 0.9}',
    params: { criteria: 'short\nkind', provider: 'judge' },
    least: 0.9,
  },
  {
    title: 'answer-relevance, to the question of the test',
    assertion: '{type: answer-relevance}',
    params: { question: 'why?', provider: 'judge', embedding_provider: 'embed' },
    least: 0,
    type: 'answer_relevance',
  },
  {
    title: 'a rubric with a prompt of its own, in which the answer stays a place',
    assertion:
      "{type: llm-rubric, value: kind, rubricPrompt: 'Is {{ output }} like {{word}} and {{rubric}}?'}",
    params: { prompt: 'Is {{output}} like a.b and {{rubric}}?', criteria: 'kind', provider: 'judge' },
    least: 0.5,
  },
  {
    title: 'a prompt of messages without a rubric',
    assertion:
      '{type: llm-rubric, threshold: 0, rubricPrompt: \'[{"role": "system", "content": "Grade."}, {"role": "user", "content": "{{output}}"}]\'}',
    params: { prompt: 'Grade.\n\n{{output}}', provider: 'judge' },
    least: 0,
  },
  {
    title: 'a prompt in a file',
    assertion: "{type: llm-rubric, value: kind, rubricPrompt: 'file://grade.yaml'}",
    params: { prompt: 'Grade {{output}} for a.b.', criteria: 'kind', provider: 'judge' },
    least: 0.5,
  },
  {
    title: 'factuality, of its reference',
    assertion: '{type: model-graded-factuality, value: forty-two}',
    params: { expected: 'forty-two', question: 'why?', provider: 'judge' },
    least: 0.5,
    type: 'factuality',
  },
];

test.each(judged)(
  '$title becomes a judge, with a warning [DS-PROMPTFOO-01 DS-PROMPTFOO-02]',
  async ({ assertion, params, least, type = 'llm_judge' }) => {
    const result = await evalOf(assertion);
    expect(result.told).toEqual([expect.stringContaining('warning: ')]);
    expect(result.evals).toEqual([{ id: expect.any(String), type, params, threshold: { min_score: least } }]);
  },
);

test.each(carried)('$title [DS-PROMPTFOO-01]', async ({ assertion, found }) => {
  const { told: warnings, evals } = await evalOf(assertion);
  expect(evals).toEqual([found]);
  expect(warnings).toEqual(
    /contains-json, value|rouge-n/.test(assertion) ? [expect.stringContaining('warning: ')] : [],
  );
});

const place = 'promptfooconfig.yaml:6';
const leftOut = [
  {
    title: 'a type without a counterpart',
    assertion: '{type: moderation}',
    message: `${place}:9 the assertion \`moderation\` has no equivalent and is left out`,
  },
  {
    title: 'a type that does not exist, or is the name of a member of every object',
    assertion: '{type: constructor}',
    message: `${place}:9 the assertion \`constructor\` has no equivalent and is left out`,
  },
  ...['contains', 'icontains-any', 'starts-with', 'not-contains', 'regex', 'javascript'].map((type) => ({
    title: `a variable that the test does not have, in ${type},`,
    assertion: `{type: ${type}, value: '{{greeting}}{{ a.b }}'}`,
    message: `${place}:9 the assertion \`${type}\` is left out: the test has no variable \`greeting\`, \`a\`, so its value is empty`,
  })),
  {
    title: 'a file that climbs',
    assertion: "{type: contains, value: 'file://../../etc/passwd'}",
    message: expect.stringContaining('file://../../etc/passwd'),
  },
  {
    title: 'a file that is broken',
    assertion: "{type: equals, value: 'file://broken.json'}",
    message: expect.stringMatching(/broken\.json:\d+:\d+ /),
  },
  {
    title: 'a Nunjucks filter that has no counterpart',
    assertion: "{type: contains, value: '{{ word | shout }}'}",
    message: expect.stringContaining(place),
  },
  {
    title: 'an assert-set with a threshold neither one nor all',
    assertion:
      '{type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}, {type: contains, value: c}]}',
    message: expect.stringContaining('neither one nor all'),
  },
  {
    title: 'a transform in a language that is not run',
    assertion: "{type: equals, value: a, transform: 'file://change.rb'}",
    message: expect.stringContaining('change.rb is in a language'),
  },
  {
    title: 'a prompt of a judge that comes from a program',
    assertion: "{type: llm-rubric, value: kind, rubricPrompt: 'file://check.py'}",
    message: expect.stringContaining('comes from a program'),
  },
  {
    title: 'a prompt of its own for a check whose prompt is fixed',
    assertion: '{type: factuality, value: a, rubricPrompt: Grade.}',
    message: expect.stringContaining('`factuality` with a `rubricPrompt`'),
  },
  {
    title: 'a judge that is no model',
    assertion: '{type: llm-rubric, value: kind, provider: echo}',
    message: expect.stringContaining('judge'),
  },
];

test.each(leftOut)('$title is reported with its line [DS-PROMPTFOO-02]', async ({ assertion, message }) => {
  const result = await evalOf(assertion);
  expect(result.told).toContainEqual(message);
  expect(result.evals).toEqual([{ id: 'answered', type: 'regex', params: { pattern: '^' } }]);
});
