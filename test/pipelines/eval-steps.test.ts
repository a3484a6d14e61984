import { expect, test } from 'vitest';
import { recorded } from '../runtime/open.ts';
import { hookRecording, openDesk, outline, recording } from './desk.ts';

const spec = `
state_store: {type: memory}
tools: {note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}}
evals:
  judge: {command: $bin/eval-score}
  asked: ${recording('answers', 'asked', '{"score": 1}')}
hooks: {scored: {hook: eval, ${hookRecording('record-event', 'scored')}}}
`;

const half =
  'eval: judge, content: hello, params: {score: 0.5, detail: half, data: {n: 12345678901234567890}}';
const view = { score: 0.5, passed: false, detail: 'half', data: { n: Number('12345678901234567890') } };
const missed = (bounds: string) => ({
  code: 'THRESHOLD_MISSED',
  message: `eval "one" scored 0.5, which is not ${bounds}: half`,
  hint: 'The message has the score and the detail from the eval.',
});

const scores = [
  { title: 'without a threshold is a metric', more: '', ends: 'completed', sees: { status: 'ok', ...view } },
  {
    title: 'at its lower bound passes',
    more: ', threshold: {min_score: 0.5}',
    ends: 'completed',
    sees: { status: 'ok', ...view, passed: true },
  },
  {
    title: 'at its upper bound passes',
    more: ', threshold: {max_score: 0.5}',
    ends: 'completed',
    sees: { status: 'ok', ...view, passed: true },
  },
  {
    title: 'below its bound fails the step',
    more: ', threshold: {min_score: 0.51}',
    ends: 'failed',
    sees: { status: 'failed', ...view, error: missed('at least 0.51') },
  },
  {
    title: 'above its bound fails the step',
    more: ', threshold: {max_score: 0.49}',
    ends: 'failed',
    sees: { status: 'failed', ...view, error: missed('at most 0.49') },
  },
  {
    title: 'outside of both bounds fails the step',
    more: ', threshold: {min_score: 0.1, max_score: 0.4}',
    ends: 'failed',
    sees: { status: 'failed', ...view, error: missed('within 0.1 to 0.4') },
  },
  {
    title: 'with an empty threshold asks for 1',
    more: ', threshold: {}',
    ends: 'failed',
    sees: { status: 'failed', ...view, error: missed('at least 1') },
  },
  {
    title: 'that misses and goes on is recorded',
    more: ', threshold: {min_score: 0.9}, on_fail: continue',
    ends: 'completed',
    sees: { status: 'ok', ...view },
  },
];

test.each(scores)('a score $title', async ({ more, ends, sees }) => {
  const desk = await openDesk(spec);
  const stopping = await desk.run(`steps: [{id: one, ${half}${more}}]\n`);
  expect(stopping.status).toBe(ends);
  const end = await desk.run(
    `steps: [{id: one, ${half}${more}, on_error: continue}]\noutput: \${steps.one}\n`,
  );
  expect(end.output).toEqual(sees);
});

const unscored = { score: null, passed: false, detail: 'asleep', data: null };

test.each([
  {
    title: 'is a metric without a threshold',
    more: '',
    ends: 'completed',
    sees: { status: 'ok', ...unscored },
  },
  {
    title: 'fails whatever the threshold',
    more: ', threshold: {min_score: 0}',
    ends: 'failed',
    sees: {
      status: 'failed',
      ...unscored,
      error: { ...missed(''), message: 'eval "one" returned no score: asleep' },
    },
  },
  {
    title: 'fails an upper bound too',
    more: ', threshold: {max_score: 1}',
    ends: 'failed',
    sees: {
      status: 'failed',
      ...unscored,
      error: { ...missed(''), message: 'eval "one" returned no score: asleep' },
    },
  },
  {
    title: 'is recorded where the step goes on',
    more: ', threshold: {min_score: 0.5}, on_fail: continue',
    ends: 'completed',
    sees: { status: 'ok', ...unscored },
  },
])('an unscored eval $title', async ({ more, ends, sees }) => {
  const desk = await openDesk(spec);
  const step = `id: one, eval: judge, content: hello, params: {error: asleep}${more}`;
  expect(await desk.run(`steps: [{${step}}]\n`)).toMatchObject({ status: ends });
  const end = await desk.run(`steps: [{${step}, on_error: continue}]\noutput: \${steps.one}\n`);
  expect(end.output).toEqual(sees);
});

test('an eval receives content, params and context, and its hooks are informed', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    `
steps:
  - {id: made, tool: note}
  - id: one
    eval: asked
    content: {text: "\${steps.made.result}", n: "\${input.n}"}
    params: {language: "\${input.language}"}
    context:
      messages: [{role: user, content: hi}]
      turn_index: "\${input.turns.size()}"
      tool_calls: "\${[{'name': 'note', 'args': {'n': input.n}, 'result': steps.made.result, 'error': '', 'index': 1}]}"
      variables: {shop: bicycles}
      metadata: {n: "\${input.n}"}
    threshold: {}
`,
    '{"language": "en", "n": 12345678901234567890, "turns": [1, 2]}',
  );
  expect(outline(end)).toEqual(['made tool ok', 'one eval ok']);
  const [asked = ''] = desk.lines('asked');
  expect(asked.match(/12345678901234567890/g)).toHaveLength(3);
  const n = Number('12345678901234567890');
  expect(JSON.parse(asked)).toEqual({
    type: 'asked',
    params: { language: 'en' },
    content: '{"text":"noted","n":12345678901234567890}',
    context: {
      messages: [{ role: 'user', content: 'hi' }],
      turn_index: 2,
      tool_calls: [{ name: 'note', args: { n }, result: 'noted', error: '', index: 1 }],
      variables: { shop: 'bicycles' },
      metadata: { n },
      session_id: end.run_id,
    },
  });
  await desk.runtime.close();
  expect(recorded(`${desk.folder}/scored`)).toEqual([
    {
      eval_id: 'one',
      type: 'asked',
      score: 1,
      passed: true,
      duration_ms: expect.any(Number),
      session_id: end.run_id,
      turn_index: 2,
    },
  ]);
});

test('a malformed context fails the step, and nothing is judged', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(
    'steps: [{id: one, eval: asked, content: a, context: {turn_index: "${input.at}"}}]\n',
    { at: 'first' },
  );
  expect(end).toMatchObject({ status: 'failed', error: { code: 'USAGE' } });
  expect(desk.lines('asked')).toEqual([]);
});
