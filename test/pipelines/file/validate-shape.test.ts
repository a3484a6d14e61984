import { expect, test } from 'vitest';
import { problemsOfSteps } from '../validate-support.ts';

// The first step is at line 5, column 7; each other step has its own line.
test.each([
  {
    title: 'a step that does nothing',
    steps: ['{id: a}'],
    problems: ['5:7 steps[0]: needs one of: tool, eval, chat, parallel, steps, wait, ask, pipeline'],
  },
  {
    title: 'a misspelt thing to do, which is one mistake',
    steps: ['{id: a, toool: t}'],
    problems: ['5:15 steps[0].toool: unknown key | did you mean `tool`?'],
  },
  {
    title: 'a step that does two things',
    steps: ['{id: a, tool: t, eval: e, content: x}'],
    problems: ['5:7 steps[0]: accepts only one of: tool, eval, chat, parallel, steps, wait, ask, pipeline'],
  },
  {
    title: 'an unknown key',
    steps: ['{id: a, tool: t, arg: {}}'],
    problems: ['5:24 steps[0].arg: unknown key | did you mean `args`?'],
  },
  {
    title: 'steps that are none',
    steps: ['just text', '5', ''],
    problems: [
      '5:7 steps[0]: must be a mapping, not the string "just text"',
      '6:7 steps[1]: must be a mapping, not the number 5',
      '7:6 steps[2]: must be a mapping, not nothing',
    ],
  },
  {
    title: 'no id',
    steps: ['{tool: t}'],
    problems: ['5:7 steps[0].id: is required'],
  },
  {
    title: 'ids that no expression can name',
    steps: ['{id: 9a, tool: t}', '{id: a-b, tool: t}', '{id: 7, tool: t}'],
    problems: [
      '5:12 steps[0].id: must be letters, digits and `_`, no digit first | Expressions name the step as `steps.ID`.',
      '6:12 steps[1].id: must be letters, digits and `_`, no digit first | Expressions name the step as `steps.ID`.',
      '7:12 steps[2].id: must be a string, not the number 7 | Write "7", with quotes.',
    ],
  },
  {
    title: 'an id that stands twice, at another depth',
    steps: ['{id: a, tool: t}', '{id: b, steps: [{id: a, tool: t}]}'],
    problems: [
      '6:28 steps[1].steps[0].id: another step of this file already has the id a | Give each step its own id.',
    ],
  },
  {
    title: 'tools without a name',
    steps: ['{id: a, tool: ""}', '{id: b, tool: 5}', '{id: c, tool: }'],
    problems: [
      '5:21 steps[0].tool: must not be empty',
      '6:21 steps[1].tool: must be a string, not the number 5 | Write "5", with quotes.',
      '7:15 steps[2].tool: must be a string, not nothing',
    ],
  },
  {
    title: 'keys of other kinds of steps',
    steps: [
      '{id: a, tool: t, content: x, threshold: {}, on_fail: stop, else: [{id: b, tool: t}]}',
      '{id: c, chat: {provider: m, messages: x}, args: {}, params: {}, context: {}}',
    ],
    problems: [
      '5:24 steps[0].content: belongs to a step with `eval`, but this one has `tool`',
      '5:36 steps[0].threshold: belongs to a step with `eval`, but this one has `tool`',
      '5:51 steps[0].on_fail: belongs to a step with `eval`, but this one has `tool`',
      '5:66 steps[0].else: belongs to a step with `steps`, but this one has `tool`',
      '6:49 steps[1].args: belongs to a step with `tool`, but this one has `chat`',
      '6:59 steps[1].params: belongs to a step with `eval`, but this one has `chat`',
      '6:71 steps[1].context: belongs to a step with `eval`, but this one has `chat`',
    ],
  },
  {
    title: 'an eval of nothing',
    steps: ['{id: a, eval: e}', '{id: b, eval: e, content: }'],
    problems: [
      '5:7 steps[0].content: is required: the text that the eval judges',
      '6:24 steps[1].content: must be a string, a number, true or false, a list or a mapping, not nothing',
    ],
  },
  {
    title: 'concurrency where nothing runs at once',
    steps: [
      '{id: a, tool: t, concurrency: 2}',
      '{id: b, tool: t, for_each: {items: [1], concurrency: 2}, concurrency: 3}',
      '{id: c, tool: t, for_each: [1], concurrency: 0}',
    ],
    problems: [
      '5:24 steps[0].concurrency: needs `for_each` or `parallel`: nothing runs at once here',
      '6:64 steps[1].concurrency: is also set in `for_each` | Remove one of the two.',
      '7:52 steps[2].concurrency: must be at least 1 (got: 0)',
    ],
  },
  {
    title: 'an else without a choice',
    steps: ['{id: a, steps: [{id: b, tool: t}], else: [{id: c, tool: t}]}'],
    problems: ['5:42 steps[0].else: needs `if`, which chooses between the two'],
  },
  {
    title: 'an else of a loop',
    steps: ['{id: d, if: "${true}", for_each: [1], steps: [{id: e, tool: t}], else: [{id: f, tool: t}]}'],
    problems: [
      '5:72 steps[0].else: cannot be combined with `for_each` | Put the step into a group with the `if` and the `else`.',
    ],
  },
  {
    title: 'lists of no steps',
    steps: [
      '{id: a, steps: []}',
      '{id: b, parallel: []}',
      '{id: c, if: "${true}", steps: [{id: d, tool: t}], else: []}',
      '{id: e, tool: t, on_error: {steps: []}}',
    ],
    problems: [
      '5:22 steps[0].steps: must not be empty',
      '6:25 steps[1].parallel: must not be empty',
      '7:63 steps[2].else: must not be empty',
      '8:42 steps[3].on_error.steps: must not be empty',
    ],
  },
  {
    title: 'an on_fail that nothing can fail',
    steps: ['{id: a, eval: e, content: x, on_fail: stop}'],
    problems: [
      '5:36 steps[0].on_fail: needs `threshold` | Add `threshold: {min_score: …}`; without one, the score is only recorded.',
    ],
  },
  {
    title: 'thresholds that are none',
    steps: [
      '{id: b, eval: e, content: x, threshold: {min_score: 0.9, max_score: 0.1}}',
      '{id: c, eval: e, content: x, threshold: {min_score: 2, max: 1}}',
      '{id: d, eval: e, content: x, threshold: {min_score: "0.8"}, on_fail: halt}',
    ],
    problems: [
      '5:59 steps[0].threshold.min_score: 0.9 is more than max_score, which is 0.1, so nothing can pass',
      '6:59 steps[1].threshold.min_score: must be at most 1 (got: 2)',
      '6:62 steps[1].threshold.max: unknown key | known keys: min_score, max_score',
      '7:59 steps[2].threshold.min_score: must be a number, not the string "0.8" | Write 0.8, without quotes.',
      '7:76 steps[2].on_fail: must be one of: stop, continue (got: halt)',
    ],
  },
  {
    title: 'timeouts that are none',
    steps: [
      '{id: a, tool: t, timeout_ms: 0}',
      '{id: b, tool: t, timeout_ms: 5s}',
      '{id: c, tool: t, timeout_ms: 1.5}',
      '{id: d, tool: t, timeout_ms: 99999999999}',
    ],
    problems: [
      '5:36 steps[0].timeout_ms: must be at least 1 (got: 0)',
      '6:36 steps[1].timeout_ms: must be a whole number, not the string "5s" | The unit is milliseconds: write 5000.',
      '7:36 steps[2].timeout_ms: must be a whole number, not the number 1.5',
      '8:36 steps[3].timeout_ms: must be at most 2147483647 (got: 99999999999)',
    ],
  },
  {
    title: 'an on_error that is none',
    steps: [
      '{id: a, tool: t, on_error: ignore}',
      '{id: b, tool: t, on_error: {then: stop}}',
      '{id: c, tool: t, on_error: {steps: [{id: d, tool: t}], then: retry}}',
      '{id: e, tool: t, on_error: }',
    ],
    problems: [
      '5:34 steps[0].on_error: must be stop, continue, or a mapping of steps and then',
      '6:24 steps[1].on_error.steps: is required',
      '7:68 steps[2].on_error.then: must be one of: stop, continue (got: retry)',
      '8:24 steps[3].on_error: must be a string or a mapping, not nothing',
    ],
  },
  {
    title: 'chats that lack something',
    steps: [
      '{id: a, chat: {}}',
      '{id: b, chat: {provider: m, messages: []}}',
      '{id: c, chat: {provider: m, messages: ""}}',
      '{id: d, chat: {provider: m, messages: [{role: human, content: 5}, {role: user}]}}',
      '{id: e, chat: m}',
    ],
    problems: [
      '5:15 steps[0].chat.provider: is required',
      '5:15 steps[0].chat.messages: is required',
      '6:45 steps[1].chat.messages: must not be empty',
      '7:45 steps[2].chat.messages: must not be empty',
      '8:53 steps[3].chat.messages[0].role: must be one of: system, user, assistant, tool (got: human)',
      '8:69 steps[3].chat.messages[0].content: must be a string, not the number 5 | Write "5", with quotes.',
      '8:73 steps[3].chat.messages[1].content: is required',
      '9:21 steps[4].chat: must be a mapping, not the string "m"',
    ],
  },
  {
    title: 'numbers of a chat out of bounds',
    steps: [
      '{id: a, chat: {provider: m, messages: x, tools: [t, t], max_rounds: 0, tool_concurrency: 0, retries: -1, temperature: -1, max_tokens: 0, stream: yes}}',
    ],
    problems: [
      '5:55 steps[0].chat.tools: items 0 and 1 are the same',
      '5:75 steps[0].chat.max_rounds: must be at least 1 (got: 0)',
      '5:96 steps[0].chat.tool_concurrency: must be at least 1 (got: 0)',
      '5:108 steps[0].chat.retries: must be at least 0 (got: -1)',
      '5:125 steps[0].chat.temperature: must be at least 0 (got: -1)',
      '5:141 steps[0].chat.max_tokens: must be at least 1 (got: 0)',
      '5:152 steps[0].chat.stream: must be one of: hold, windowed (got: yes)',
    ],
  },
  {
    title: 'guardrails that are none',
    steps: [
      '{id: a, chat: {provider: m, messages: x, guardrails: [{eval: e}, {eval: e, action: block}, {id: e, eval: f, threshold: {min_score: 1, max_score: 0}}, {action: monitor}]}}',
    ],
    problems: [
      '5:79 steps[0].chat.guardrails[1].eval: another guardrail of this chat is already named e | Give it an `id`: without one, its name is that of its eval.',
      '5:90 steps[0].chat.guardrails[1].action: must be one of: enforce, monitor (got: block)',
      '5:103 steps[0].chat.guardrails[2].id: another guardrail of this chat is already named e',
      '5:138 steps[0].chat.guardrails[2].threshold.min_score: 1 is more than max_score, which is 0, so nothing can pass',
      '5:157 steps[0].chat.guardrails[3].eval: is required',
    ],
  },
  {
    title: 'retries of what nothing fails',
    steps: [
      '{id: a, chat: {provider: m, messages: x, retries: 2, guardrails: [{eval: e, action: monitor}]}}',
      '{id: b, chat: {provider: m, messages: x, retries: 2}}',
    ],
    problems: [
      '5:48 steps[0].chat.retries: needs a guardrail with `mode: enforce`: only such a guardrail causes a retry',
      '6:48 steps[1].chat.retries: needs a guardrail with `mode: enforce`: only such a guardrail causes a retry',
    ],
  },
  {
    title: 'texts in the place of mappings',
    steps: [
      '{id: a, tool: t, args: text}',
      '{id: b, tool: t, args: [1]}',
      '{id: c, eval: e, content: x, params: p, context: c}',
      '{id: d, eval: e, content: x, context: {messages: all, turn_index: -1, tool_call: []}}',
    ],
    problems: [
      '5:30 steps[0].args: must be a single `${…}` that gives a mapping | Write a single expression, such as `${input.order}`.',
      '6:30 steps[1].args: must be a mapping or a string, not a list | Write each entry as its name and a colon, without `-`.',
      '7:44 steps[2].params: must be a single `${…}` that gives a mapping | Write a single expression, such as `${input.order}`.',
      '7:56 steps[2].context: must be a single `${…}` that gives a mapping | Write a single expression, such as `${input.order}`.',
      '8:56 steps[3].context.messages: must be a single `${…}` if it is text',
      '8:73 steps[3].context.turn_index: must be at least 0 (got: -1)',
      '8:77 steps[3].context.tool_call: unknown key | did you mean `tool_calls`?',
    ],
  },
  {
    title: 'loops over nothing',
    steps: ['{id: a, tool: t, for_each: 5}', '{id: b, tool: t, for_each: {list: [1]}}'],
    problems: [
      '5:34 steps[0].for_each: must be a string, a list or a mapping, not the number 5',
      '6:24 steps[1].for_each.items: is required',
      '6:35 steps[1].for_each.list: unknown key | known keys: items, concurrency, collect, fail_fast',
    ],
  },
  {
    title: 'a condition that is no text',
    steps: ['{id: d, tool: t, if: true}'],
    problems: ['5:28 steps[0].if: must be a string, not true | Write "true", with quotes.'],
  },
  {
    title: 'mistakes deep inside',
    steps: [
      '{id: a, parallel: [{id: b, tool: t, arsg: {}}, {id: c, eval: e}], on_error: {steps: [{id: d, chat: {provider: x}}]}}',
    ],
    problems: [
      '5:43 steps[0].parallel[0].arsg: unknown key | did you mean `args`?',
      '5:54 steps[0].parallel[1].content: is required: the text that the eval judges',
      '5:100 steps[0].on_error.steps[0].chat.messages: is required',
    ],
  },
  {
    title: 'numbers that JSON lacks',
    steps: ['{id: a, tool: t, args: {x: [.inf]}}', '{id: b, eval: e, content: .nan}'],
    problems: [
      '5:35 steps[0].args.x[0]: must be a finite number, because JSON has no other numbers',
      '6:33 steps[1].content: must be a string, a number, true or false, a list or a mapping, not the number NaN',
    ],
  },
])('reported with its place: $title', ({ steps, problems }) => {
  expect(problemsOfSteps(...steps)).toEqual(problems);
});
