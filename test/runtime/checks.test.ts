import { expect, test } from 'vitest';
import { checkTypes, findCheck } from '../../src/builtins/checks/registry.ts';
import { validateFile } from '../../src/runtime/validate-file.ts';
import { open, write } from './open.ts';

// The built-in families of promptkit.md, section 10, with aliases after their check.
const listed: Readonly<Record<string, readonly string[]>> = {
  contains: ['content_includes'],
  contains_any: ['content_includes_any'],
  content_excludes: ['content_not_includes'],
  regex: ['content_matches'],
  min_length: [],
  max_length: ['length'],
  sentence_count: ['max_sentences'],
  field_presence: ['required_fields'],
  cosine_similarity: [],
  json_valid: ['is_valid_json', 'valid_json'],
  json_schema: [],
  json_path: [],
  tools_called: ['tool_called'],
  tools_not_called: [],
  tool_args: [],
  tool_calls_with_args: [],
  tool_call_count: [],
  tool_call_sequence: [],
  tool_call_chain: [],
  tool_anti_pattern: [],
  tool_no_repeat: [],
  tool_efficiency: [],
  no_tool_errors: [],
  tool_result_includes: [],
  tool_result_matches: [],
  tool_result_has_media: [],
  tool_result_media_type: [],
  invariant_fields_preserved: [],
  tools_called_session: [],
  tools_not_called_session: [],
  tool_args_session: [],
  tool_args_excluded_session: ['tools_not_called_with_args'],
  latency_budget: [],
  cost_budget: [],
  llm_judge: [],
  llm_judge_session: ['llm_judge_conversation'],
  llm_judge_tool_calls: [],
};

test('the text, JSON, tool-call, budget and judge families are complete, aliases included [PK-10-01]', () => {
  const found = Object.entries(listed).map(([type, aliases]) => [
    findCheck(type)?.type,
    aliases.map((alias) => findCheck(alias)?.type),
  ]);
  expect(found).toEqual(Object.entries(listed).map(([type, aliases]) => [type, aliases.map(() => type)]));
  expect(findCheck('banned_words')?.family).toBe('text');
  expect(checkTypes()).toHaveLength(new Set(checkTypes()).size);
});

test('a check needs no declaration, and is reported and counted like any eval', async () => {
  const { runtime, events } = await open('');
  const document = await runtime.evals.call('contains', {
    content: 'Your order is on its way.',
    params: { patterns: ['ORDER', 'refund'] },
  });
  expect(document).toMatchObject({ status: 'scored', score: 0.5, passed: false });
  expect(events.filter(({ type }) => type.startsWith('call.'))).toMatchObject([
    { type: 'call.started', capability: 'eval', name: 'contains' },
    { type: 'call.finished', capability: 'eval', name: 'contains', status: 'scored' },
  ]);
});

test('an entry with the name of a check replaces it [PK-10-02]', async () => {
  const { runtime } = await open(`evals: {contains: {command: $bin/prints.sh, args: ['{"score": 0.25}']}}\n`);
  const input = { content: 'text', params: { whatever: true } };
  expect(await runtime.evals.call('contains', input)).toMatchObject({ score: 0.25 });
});

test('a judge uses the only declared model; with several one must be named', async () => {
  const mock = (id: string) =>
    `{id: ${id}, type: mock, model: m, additional_config: {responses: [{text: '{"score": 0.75, "reasoning": "kind"}'}]}}`;
  const input = { content: 'Gladly!', params: { criteria: 'Is it kind?' } };
  const one = await open(`providers: [${mock('main')}]\n`);
  expect(await one.runtime.evals.call('llm_judge', input)).toMatchObject({ score: 0.75, detail: 'kind' });
  const two = await open(`providers: [${mock('a')}, ${mock('b')}]\n`);
  expect(await two.runtime.evals.call('llm_judge', input)).toMatchObject({
    status: 'unscored',
    error: { code: 'PROVIDER_UNUSABLE' },
  });
  const named = { ...input, params: { ...input.params, provider: 'b' } };
  expect(await two.runtime.evals.call('llm_judge', named)).toMatchObject({ score: 0.75 });
});

test('an eval that is neither declared nor built in is unknown, with the nearest one', async () => {
  const { runtime } = await open('');
  await expect(runtime.evals.call('contians', { content: '' })).rejects.toThrow(
    expect.objectContaining({ code: 'NAME_UNKNOWN', hint: 'did you mean `contains`?' }),
  );
});

test.each([
  {
    title: 'a misspelt one',
    params: { pattern: ['a'], patterns: ['a'] },
    message: 'the params of contains are not valid: pattern unknown param',
    hint: 'did you mean `patterns`?',
  },
  {
    title: 'one of another type',
    params: { patterns: 5 },
    message: expect.stringMatching(/^the params of contains are not valid: patterns must be /),
    hint: expect.any(String),
  },
])(
  'a direct call with params that the check does not have is refused before it runs: $title',
  async ({ params, message, hint }) => {
    const { runtime, events } = await open('');
    const calling = runtime.evals.call('contains', { content: 'a', params });
    await expect(calling).rejects.toMatchObject({ code: 'USAGE', message, hint });
    expect(events).toEqual([]);
  },
);

test('params that a check does not have are problems of the file, in suites and pipelines [PK-10-03 PK-10-08]', async () => {
  const head = 'apiVersion: signalbox/v1\nkind: ';
  const config = write('', {
    'a.suite.yaml': `${head}EvalSuite
spec:
  runtime: ./runtime.yaml
  cases: [{content: a}]
  evals:
    - {id: a, type: contains, params: {pattern: [a]}}
    - {id: b, any_of: [{type: regex, params: {pattern: "(a"}}, {not: {type: min_length}}]}
    - {id: c, type: contains, params: {patterns: "\${case.words}"}}
`,
    'a.pipeline.yaml': `${head}Pipeline
spec:
  runtime: ./runtime.yaml
  steps:
    - {id: a, eval: max_length, content: text, params: {max: ten}}
`,
  });
  const problemsOf = async (name: string) =>
    (await validateFile(config.replace('runtime.yaml', name), config)).map(
      ({ line, message, hint = '' }) => `${line} ${message} | ${hint}`,
    );
  expect(await problemsOf('a.suite.yaml')).toEqual([
    '7 evals[0].params.pattern: unknown param | did you mean `patterns`?',
    '8 evals[1].any_of[0].params.pattern: is not a valid JavaScript pattern: /(a/: Unterminated group (to match a special character itself, write it in brackets, such as [(]) | ',
    '8 evals[1].any_of[1].not.params.min: is required | ',
  ]);
  expect(await problemsOf('a.pipeline.yaml')).toEqual([
    '6 steps[0].params.max: must be a whole number, not the string "ten" | ',
  ]);
});
