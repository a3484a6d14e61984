import type { CaseRecord, EvalHeader } from '../../../../src/suites/record.ts';
import { caseOf, classification, epochOf, exact, headerOf, type Run, reportOf, resultOf } from './samples.ts';

export function failingRun(count = 120): Run {
  const style: EvalHeader = {
    id: 'shows_steps',
    type: 'sentence_count',
    role: 'metric',
    weight: 1,
    reducer: 'mean',
  };
  const header = headerOf({ evals: [exact, style] });
  const cases = Array.from({ length: count }, (_none, index) => solution(index + 1));
  const gates = [
    { eval: 'exact', metric: 'pass_rate', value: 0.7416, min: 0.8, max: null, passed: false },
    { eval: 'exact', metric: 'mean', tag: 'model-large', value: 0.871, min: 0.8, max: null, passed: true },
    { metric: 'unscored_share', value: 0.0083, min: null, max: 0.02, passed: true },
  ];
  const problems = [
    {
      file: 'data/solutions.jsonl',
      line: 57,
      column: 14,
      message: 'the line is not JSON: unexpected end of text',
      hint: 'Give each row one line.',
    },
  ];
  const report = reportOf(header, cases, { status: 'failed', gates, problems, problem_count: 1 });
  return { header, cases, report };
}

function solution(number: number): CaseRecord {
  const truth = 10 + ((number * 37) % 90);
  const said = number % 4 === 1 ? truth + 2 : truth;
  const content = [
    `Each basket holds ${truth - 4} apples, and Nora adds four more.`,
    `So there are ${truth - 4} + 4 = ${said} apples.`,
    `The answer is ${said}.`,
  ].join('\n');
  const steps = resultOf({
    eval: 'shows_steps',
    score: (number % 7) / 6,
    passed: true,
    detail: '3 sentences',
  });
  const judged = number === 6 ? crashed : answer(truth, said);
  const question = {
    role: 'user' as const,
    content: `A basket holds ${truth - 4} apples. Nora adds four. How many are there?`,
  };
  const messages = [question, { role: 'assistant' as const, content }];
  const epoch = epochOf({
    content,
    messages,
    metadata: { model: modelOf(number) },
    results: [judged, steps],
  });
  const tags = [modelOf(number), ...(number % 3 === 0 ? ['two-step'] : [])];
  const score = judged.score;
  return caseOf(number, [epoch], { id: `gsm8k-${number}`, tags, score, passed: judged.passed });
}

const modelOf = (number: number): string => (number % 2 === 0 ? 'model-large' : 'model-small');

function answer(truth: number, said: number) {
  const passed = truth === said;
  return resultOf({
    score: passed ? 1 : 0,
    passed,
    detail: passed ? `found ${said}` : `found ${said}, expected ${truth}`,
    params: { truth: String(truth) },
    data: { found: said, expected: truth },
  });
}

const crashed = resultOf({
  score: null,
  passed: false,
  detail: 'the process ended with exit code 1',
  params: { truth: '42' },
  error: {
    code: 'PROCESS_EXIT',
    message: 'evals/final_number ended with exit code 1',
    hint: 'Read its stderr, in the log or in details.stderr.',
  },
  stderr:
    'Traceback (most recent call last):\n  File "final_number", line 12, in <module>\nValueError: no number',
  attempts: 2,
});

export function guardRun(): Run {
  const guard: EvalHeader = { id: 'pii', type: 'guard', role: 'guardrail', weight: 1, reducer: 'mean' };
  const header = headerOf({ suite: 'pii-guardrail', file: 'suites/pii.suite.yaml', evals: [guard] });
  const cases = Array.from({ length: 120 }, (_none, index) => guarded(index + 1));
  const plain = reportOf(header, cases);
  const pii = plain.evals['pii'];
  if (pii === undefined) throw new Error('the report has no statistics of the guard');
  const gates = [{ eval: 'pii', metric: 'recall', value: 46 / 52, min: 0.85, max: null, passed: true }];
  const report = { ...plain, gates, evals: { pii: { ...pii, classification } } };
  return { header, cases, report };
}

function guarded(number: number): CaseRecord {
  const expected = number <= 52;
  const flagged = number <= 46 || (number > 52 && number <= 55);
  const result = resultOf({
    eval: 'pii',
    score: expected === flagged ? 1 : 0,
    passed: expected === flagged,
    detail: flagged ? 'denied by pii-filter: an e-mail address' : 'allowed',
    guard: {
      hook: 'provider',
      phase: 'before_call',
      verdict: flagged ? 'deny' : 'allow',
      decided_by: flagged ? 'pii-filter' : null,
      expected,
      flagged,
      confidence: flagged ? 0.93 : 0.08,
      hooks: [
        { name: 'pii-filter', verdict: flagged ? 'deny' : 'allow', duration_ms: 3.4 },
        { name: 'topic-guard', verdict: 'allow', duration_ms: 44 },
      ],
    },
  });
  const content = expected ? `Write to nora${number}@example.org, please.` : 'How do I boil an egg?';
  return caseOf(number, [epochOf({ content, results: [result] })], {
    id: `message-${number}`,
    tags: [number % 2 === 0 ? 'email' : 'phone'],
  });
}

export function epochsRun(): Run {
  const header = headerOf({
    suite: 'weather',
    epochs: 3,
    evals: [{ ...exact, type: 'contains', reducer: 'pass@2' }],
  });
  const cases = Array.from({ length: 6 }, (_none, index) => weather(index + 1));
  return { header, cases, report: reportOf(header, cases) };
}

function weather(number: number): CaseRecord {
  const epochs = [1, 2, 3].map((epoch) => {
    const passed = number % 2 === 1 || epoch !== 2;
    const content = passed ? 'It is 22 degrees in Berlin.' : 'I do not know the weather.';
    const result = resultOf({ score: passed ? 1 : 0, passed, params: { patterns: ['22', 'Berlin'] } });
    return epochOf({
      epoch,
      content,
      subject: { status: 'ok', duration_ms: 812, cached: epoch === 3, attempts: 1 },
      messages: [
        { role: 'user', content: 'How warm is it in Berlin?' },
        { role: 'assistant', content: '' },
        { role: 'tool', content: '22C' },
        { role: 'assistant', content },
      ],
      tool_calls: [{ name: 'weather', args: { city: 'Berlin' }, result: '22C', error: '', index: 1 }],
      results: [result],
    });
  });
  return caseOf(number, epochs, { id: `berlin-${number}`, passed: true });
}

export function passedRun(): Run {
  const header = headerOf({ suite: 'smoke', file: 'suites/smoke.suite.yaml' });
  const cases = Array.from({ length: 4 }, (_none, index) => caseOf(index + 1, [epochOf()]));
  const gates = [{ eval: 'exact', metric: 'pass_rate', value: 1, min: 1, max: null, passed: true }];
  return { header, cases, report: reportOf(header, cases, { gates, duration_ms: 96 }) };
}

export function emptyRun(): Run {
  const header = headerOf({ suite: 'empty' });
  return { header, cases: [], report: reportOf(header, [], { status: 'error', duration_ms: 3 }) };
}
