import { describe, expect, test } from 'vitest';
import { loadSpec, problemsOfSteps } from '../validate-support.ts';

describe('an expression is refused if it cannot know what it reads', () => {
  // The first step is at line 5, column 7; each other step has its own line.
  test.each([
    {
      title: 'a step that does not exist',
      steps: ['{id: answer, tool: t}', '{id: b, tool: t, args: {x: "${steps.anwser.result}"}}'],
      problems: ['6:34 steps[1].args.x: `steps.anwser`: no step has the id anwser | did you mean `answer`?'],
    },
    {
      title: 'a step that does not exist, in brackets, asked for politely or tested for',
      steps: [
        `{id: b, tool: t, args: {x: "\${steps[\\"c\\"].result}", y: "\${steps.?d}", z: "\${has(steps.e.result)}"}}`,
      ],
      problems: [
        '5:34 steps[0].args.x: `steps.c`: no step has the id c | known ids: b',
        '5:63 steps[0].args.y: `steps.d`: no step has the id d | known ids: b',
        '5:81 steps[0].args.z: `steps.e`: no step has the id e | known ids: b',
      ],
    },
    {
      title: 'a later step',
      steps: ['{id: a, tool: t, args: {x: "${steps.b.result}"}}', '{id: b, tool: t}'],
      problems: ['5:34 steps[0].args.x: `steps.b` is not available here: it runs later'],
    },
    {
      title: 'the step itself',
      steps: ['{id: a, tool: t, args: {x: "${steps.a.result}"}}'],
      problems: [
        '5:34 steps[0].args.x: `steps.a` is not available here: it is the step itself, which has not ended',
      ],
    },
    {
      title: 'a step around it',
      steps: ['{id: g, steps: [{id: a, tool: t, args: {x: "${steps.g.status}"}}]}'],
      problems: [
        '5:50 steps[0].steps[0].args.x: `steps.g` is not available here: it is step g around this one, which has not ended',
      ],
    },
    {
      title: 'a step inside it',
      steps: ['{id: g, if: "${steps.a.result}", steps: [{id: a, tool: t}]}'],
      problems: [
        '5:19 steps[0].if: `steps.a` is not available here: it is inside this step, and runs after this is evaluated',
      ],
    },
    {
      title: 'another branch of the same parallel',
      steps: ['{id: p, parallel: [{id: a, tool: t}, {id: b, tool: t, args: {x: "${steps.a.result}"}}]}'],
      problems: [
        '5:71 steps[0].parallel[1].args.x: `steps.a` is not available here: it is in another branch of the same `parallel`, which runs at once',
      ],
    },
    {
      title: 'a step deep in another branch',
      steps: [
        '{id: p, parallel: [{id: a, steps: [{id: b, tool: t}]}, {id: c, steps: [{id: d, tool: t, args: {x: "${steps.b.result}"}}]}]}',
      ],
      problems: [
        '5:105 steps[0].parallel[1].steps[0].args.x: `steps.b` is not available here: it is in another branch of the same `parallel`, which runs at once',
      ],
    },
    {
      title: 'the other alternative',
      steps: [
        '{id: g, if: "${true}", steps: [{id: a, tool: t}], else: [{id: b, tool: t, args: {x: "${steps.a.result}"}}]}',
      ],
      problems: [
        '5:91 steps[0].else[0].args.x: `steps.a` is not available here: it is in the other branch of the same `if`, and only one of the two runs',
      ],
    },
    {
      title: 'a step inside a loop, from outside',
      steps: [
        '{id: l, for_each: [1], steps: [{id: a, tool: t}]}',
        '{id: c, tool: t, args: {x: "${steps.a.result}"}}',
      ],
      problems: [
        '6:34 steps[1].args.x: `steps.a` is not available here: it is inside the for_each of step l: outside, there is only `steps.l.items`',
      ],
    },
    {
      title: 'a step inside a loop in a group, from outside',
      steps: [
        '{id: g, steps: [{id: l, for_each: [1], parallel: [{id: a, tool: t}]}]}',
        '{id: c, tool: t, args: {x: "${steps.a.result}"}}',
      ],
      problems: [
        '6:34 steps[1].args.x: `steps.a` is not available here: it is inside the for_each of step l: outside, there is only `steps.l.items`',
      ],
    },
    {
      title: 'a step inside a loop, from its on_error',
      steps: [
        '{id: l, for_each: [1], steps: [{id: a, tool: t}], on_error: {steps: [{id: h, tool: t, args: {x: "${steps.a.result}"}}]}}',
      ],
      problems: [
        '5:103 steps[0].on_error.steps[0].args.x: `steps.a` is not available here: it is inside the for_each of step l: outside, there is only `steps.l.items`',
      ],
    },
    {
      title: 'a step of an on_error, from what it handles',
      steps: [
        '{id: g, steps: [{id: a, tool: t, args: {x: "${steps.h.result}"}}], on_error: {steps: [{id: h, tool: t}]}}',
      ],
      problems: [
        '5:50 steps[0].steps[0].args.x: `steps.h` is not available here: it is in an on_error that may run later',
      ],
    },
    {
      title: 'one place after another of one text, each once',
      steps: [
        '{id: a, tool: t, args: {x: "${steps.b.result} ${steps.b.result} ${steps.c.result}"}}',
        '{id: b, tool: t}',
        '{id: c, tool: t}',
      ],
      problems: [
        '5:34 steps[0].args.x: `steps.b` is not available here: it runs later',
        '5:34 steps[0].args.x: `steps.c` is not available here: it runs later',
      ],
    },
    {
      title: 'keys that no view has',
      steps: [
        '{id: a, tool: t}',
        '{id: b, eval: e, content: "${steps.a.text}"}',
        '{id: c, chat: {provider: m, messages: "${steps.b.result}"}}',
        '{id: d, tool: t, args: {x: "${steps.c.txt}"}}',
        '{id: g, steps: [{id: h, tool: t, args: {x: "${steps.d.items}"}}]}',
        '{id: l, for_each: [1], tool: t, args: {x: "${steps.g.items}"}}',
        '{id: z, tool: t, args: {x: "${steps.l.result}"}}',
      ],
      problems: [
        '6:33 steps[1].content: `steps.a` has no `text` | known keys: status, result, hook, reason, metadata, error',
        '7:45 steps[2].chat.messages: `steps.b` has no `result` | known keys: status, score, passed, detail, data, error',
        '8:34 steps[3].args.x: `steps.c` has no `txt` | did you mean `text`?',
        '9:50 steps[4].steps[0].args.x: `steps.d` has no `items` | known keys: status, result, hook, reason, metadata, error',
        '10:49 steps[5].args.x: `steps.g` has no `items` | known keys: status, error',
        '11:34 steps[6].args.x: `steps.l` has no `result` | known keys: status, items, error',
      ],
    },
    {
      title: 'item outside of a loop',
      steps: ['{id: a, tool: t, args: {x: "${item.x}", y: "${index}"}}'],
      problems: [
        '5:34 steps[0].args.x: `${item.x}` is not a valid expression: Unknown variable: item | `item` is available only inside a for_each.',
        '5:50 steps[0].args.y: `${index}` is not a valid expression: Unknown variable: index | `index` is available only inside a for_each.',
      ],
    },
    {
      title: 'item in the condition of its own loop',
      steps: [
        '{id: a, for_each: [1], if: "${item > 1}", tool: t}',
        '{id: b, for_each: "${item.list}", tool: t}',
      ],
      problems: [
        '5:34 steps[0].if: `${item > 1}` is not a valid expression: Unknown variable: item | `if` and `for_each` are evaluated once, before the first item.',
        '6:25 steps[1].for_each: `${item.list}` is not a valid expression: Unknown variable: item | `if` and `for_each` are evaluated once, before the first item.',
      ],
    },
    {
      title: 'item in the on_error of its loop',
      steps: ['{id: l, for_each: [1], tool: t, on_error: {steps: [{id: h, tool: t, args: {x: "${item}"}}]}}'],
      problems: [
        '5:85 steps[0].on_error.steps[0].args.x: `${item}` is not a valid expression: Unknown variable: item | `item` is available only inside a for_each.',
      ],
    },
    {
      title: 'error outside of an on_error',
      steps: ['{id: a, tool: t, args: {x: "${error.message}"}}'],
      problems: [
        '5:34 steps[0].args.x: `${error.message}` is not a valid expression: Unknown variable: error | `error` is available only in the steps of an on_error.',
      ],
    },
    {
      title: 'a key that no error has',
      steps: ['{id: a, tool: t, on_error: {steps: [{id: h, tool: t, args: {x: "${error.mesage}"}}]}}'],
      problems: ['5:70 steps[0].on_error.steps[0].args.x: `error` has no `mesage` | did you mean `message`?'],
    },
    {
      title: 'an unknown variable',
      steps: [
        '{id: a, tool: t, args: {x: "${inptu.x}"}}',
        '{id: b, tool: t, args: {x: "${a.result}"}}',
        '{id: c, tool: t, args: {x: "${args.x}"}}',
      ],
      problems: [
        '5:34 steps[0].args.x: `${inptu.x}` is not a valid expression: Unknown variable: inptu | did you mean `input`?',
        '6:34 steps[1].args.x: `${a.result}` is not a valid expression: Unknown variable: a | Write `steps.a`.',
        '7:34 steps[2].args.x: `${args.x}` is not a valid expression: Unknown variable: args | Expressions see `input`, `steps`, `run`, `env`, `vars` here.',
      ],
    },
    {
      title: 'an unknown function',
      steps: ['{id: a, tool: t, args: {x: "${foo(input)}"}}'],
      problems: [
        `5:34 steps[0].args.x: \`\${foo(input)}\` is not a valid expression: found no matching overload for 'foo(dyn)' | Expressions are CEL, such as \`case.amount > 10\` or \`size(items) == 0\`.`,
      ],
    },
    {
      title: 'no CEL',
      steps: ['{id: a, tool: t, args: {x: "${input.}"}}', '{id: b, tool: t, args: {x: "${input.x"}}'],
      problems: [
        '5:34 steps[0].args.x: `${input.}` is not a valid expression: Expected IDENTIFIER, got EOF | Expressions are CEL, such as `case.amount > 10` or `size(items) == 0`.',
        '6:34 steps[1].args.x: `${input.x` has no closing brace: write `}` at the end of the expression',
      ],
    },
    {
      title: 'conditions that are none',
      steps: [
        '{id: a, if: yes please, tool: t}',
        '{id: b, if: "${1 + 1}", tool: t}',
        '{id: c, if: "${true} or not", tool: t}',
      ],
      problems: [
        '5:19 steps[0].if: must be a single `${…}` that gives true or false | Write a single expression, such as `${input.amount > 100}`.',
        '6:19 steps[1].if: must give true or false, but `${1 + 1}` gives a value of type int | Write a single expression, such as `${input.amount > 100}`.',
        '7:19 steps[2].if: must be a single `${…}` that gives true or false | Write a single expression, such as `${input.amount > 100}`.',
      ],
    },
    {
      title: 'loops over what is no list',
      steps: [
        '{id: a, for_each: input.list, tool: t}',
        '{id: b, for_each: "${1}", tool: t}',
        '{id: c, for_each: {items: "${input.a} ${input.b}"}, tool: t}',
      ],
      problems: [
        '5:25 steps[0].for_each: must be a single `${…}` that gives a list | Write `${input.list}`.',
        '6:25 steps[1].for_each: must give a list, but `${1}` gives a value of type int | Write a single expression, such as `${input.orders}`.',
        '7:33 steps[2].for_each.items: must be a single `${…}` that gives a list | Write a single expression, such as `${input.orders}`.',
      ],
    },
    {
      title: 'mappings that are none',
      steps: [
        '{id: a, tool: t, args: "${[1]}"}',
        '{id: b, eval: e, content: x, params: "${input.a}, ${input.b}"}',
      ],
      problems: [
        '5:30 steps[0].args: must give a mapping, but `${[1]}` gives a value of type list<int> | Write a single expression, such as `${input.order}`.',
        '6:44 steps[1].params: must be a single `${…}` that gives a mapping | Write a single expression, such as `${input.order}`.',
      ],
    },
    {
      title: 'every place of a chat',
      steps: [
        '{id: a, chat: {provider: m, system: "${x}", messages: [{role: user, content: "${y}"}], guardrails: [{eval: e, params: {p: "${z}"}}]}}',
      ],
      problems: [
        '5:43 steps[0].chat.system: `${x}` is not a valid expression: Unknown variable: x | Expressions see `input`, `steps`, `run`, `env`, `vars` here.',
        '5:84 steps[0].chat.messages[0].content: `${y}` is not a valid expression: Unknown variable: y | Expressions see `input`, `steps`, `run`, `env`, `vars` here.',
        '5:129 steps[0].chat.guardrails[0].params.p: `${z}` is not a valid expression: Unknown variable: z | Expressions see `input`, `steps`, `run`, `env`, `vars` here.',
      ],
    },
  ])('$title', ({ steps, problems }) => {
    expect(problemsOfSteps(...steps)).toEqual(problems);
  });
});

describe('an expression may read', () => {
  test.each([
    {
      title: 'earlier steps',
      steps: [
        '{id: a, tool: t}',
        '{id: b, tool: t, args: {x: "${steps.a.result.anything[0].deep}", y: "${steps.a.status}", z: "${steps.a.?error}"}}',
      ],
    },
    {
      title: 'steps inside an earlier group, whichever way it went',
      steps: [
        '{id: g, if: "${input.x}", steps: [{id: a, tool: t}], else: [{id: b, tool: t}]}',
        '{id: c, tool: t, args: {x: "${steps.?a.?result}", y: "${steps.b.result}", z: "${steps.g.status}"}}',
      ],
    },
    {
      title: 'steps inside an earlier parallel',
      steps: [
        '{id: p, parallel: [{id: a, tool: t}, {id: b, steps: [{id: c, tool: t}, {id: d, tool: t, args: {x: "${steps.c.result}"}}]}]}',
        '{id: e, tool: t, args: {x: "${steps.a.result}", y: "${steps.c.result}", z: "${steps.p.status}"}}',
      ],
    },
    {
      title: 'what stands before the parallel, inside its branches',
      steps: ['{id: a, tool: t}', '{id: p, parallel: [{id: b, tool: t, args: {x: "${steps.a.result}"}}]}'],
    },
    {
      title: 'item and index inside a loop, at any depth',
      steps: [
        '{id: l, for_each: "${input.list}", steps: [{id: a, tool: t, args: {x: "${item}", y: "${index}"}}, {id: p, parallel: [{id: b, if: "${item.ok}", tool: t, args: {x: "${steps.a.result}"}}]}]}',
      ],
    },
    {
      title: 'an outer item in the list of an inner loop',
      steps: [
        '{id: l, for_each: [[1]], steps: [{id: m, for_each: "${item}", tool: t, args: {x: "${item}"}, on_error: {steps: [{id: h, tool: t, args: {x: "${item}", y: "${error.code}"}}]}}]}',
      ],
    },
    {
      title: 'a loop from outside',
      steps: [
        '{id: l, for_each: [1], steps: [{id: a, tool: t}]}',
        '{id: b, tool: t, args: {x: "${steps.l.items[0].steps.a.result}", y: "${steps.l.items.map(i, i.status)}"}}',
      ],
    },
    {
      title: 'what an on_error handles',
      steps: [
        '{id: g, steps: [{id: a, tool: t}], on_error: {steps: [{id: h, tool: t, args: {x: "${steps.?a.?result}", y: "${steps.g.error.code}", z: "${error.message} ${error.hint} ${error.step}"}}]}}',
      ],
    },
    {
      title: 'what an on_error came to',
      steps: [
        '{id: a, tool: t, on_error: {steps: [{id: h, tool: t}], then: continue}}',
        '{id: b, tool: t, args: {x: "${has(steps.h) ? steps.h.result : steps.a.result}"}}',
      ],
    },
    {
      title: 'steps of another on_error around it',
      steps: [
        '{id: g, steps: [{id: a, tool: t}], on_error: {steps: [{id: h, tool: t}, {id: i, tool: t, args: {x: "${steps.h.result}"}}]}}',
      ],
    },
    {
      title: 'all steps at once, or one by a computed name',
      steps: [
        '{id: a, tool: t}',
        '{id: b, tool: t, args: {x: "${steps}", y: "${steps[input.name].result}"}}',
      ],
    },
    {
      title: 'a variable of a macro that is named like another',
      steps: [
        '{id: a, tool: t, args: {x: "${input.list.map(item, item.x)}", y: "${input.list.exists(steps, steps.nothing == 1)}"}}',
      ],
    },
    {
      title: 'a literal of what looks like an expression',
      steps: ['{id: a, tool: t, args: {x: "$${steps.nowhere}"}}'],
    },
    {
      title: 'an empty list to loop over, and lists with expressions in them',
      steps: ['{id: a, for_each: [], tool: t}', '{id: b, for_each: ["${input.x}", 2], tool: t}'],
    },
    {
      title: 'whole expressions in the place of mappings and lists',
      steps: [
        '{id: a, tool: t, args: "${input}"}',
        '{id: b, chat: {provider: m, messages: "${input.messages}"}}',
        '{id: c, eval: e, content: "${steps.b.text}", params: "${input.params}", context: {messages: "${steps.b.messages}", turn_index: "${input.turn}"}}',
      ],
    },
    {
      title: 'evals that only record',
      steps: [
        '{id: a, eval: e, content: {any: thing}}',
        '{id: b, eval: e, content: x, threshold: {}, on_fail: continue}',
      ],
    },
    {
      title: 'parallel steps in a loop',
      steps: [
        '{id: a, for_each: {items: [1], concurrency: 2}, concurrency: 3, parallel: [{id: b, tool: t}]}',
      ],
    },
    {
      title: 'retries of an answer that a guardrail enforces',
      steps: [
        '{id: a, chat: {provider: m, messages: x, retries: 2, guardrails: [{eval: e}, {id: f, eval: e, action: monitor}]}}',
      ],
    },
  ])('$title', ({ steps }) => {
    expect(problemsOfSteps(...steps)).toEqual([]);
  });
});

describe('the output', () => {
  const steps = 'steps: [{id: a, tool: t}, {id: l, for_each: [1], steps: [{id: b, tool: t}]}]';

  test.each([
    {
      output: '{x: "${steps.a.result}", y: ["${steps.l.items}"], z: "${input.x} $${steps.q}"}',
      problems: [],
    },
    {
      output: '"${steps.b.result}"',
      problems: [
        '5:11 output: `steps.b` is not available here: it is inside the for_each of step l: outside, there is only `steps.l.items`',
      ],
    },
    {
      output: '{x: "${item}"}',
      problems: [
        '5:15 output.x: `${item}` is not a valid expression: Unknown variable: item | `item` is available only inside a for_each.',
      ],
    },
    {
      output: '"${steps.c}"',
      problems: ['5:11 output: `steps.c`: no step has the id c | known ids: a, l, b'],
    },
    {
      output: '[.nan]',
      problems: ['5:12 output[0]: must be a finite number, because JSON has no other numbers'],
    },
  ])('$output', ({ output, problems }) => {
    expect(loadSpec(`${steps}\noutput: ${output}`).problems).toEqual(problems);
  });
});

describe('the input', () => {
  const schema =
    '{additionalProperties: false, properties: {ticket: {properties: {id: {}}, additionalProperties: false}, more: {}}}';

  test.each([
    { code: 'input.ticket.id', input: schema, problems: [] },
    { code: 'input.more.anything.at.all', input: schema, problems: [] },
    {
      code: 'input.tickt',
      input: schema,
      problems: ['5:38 steps[0].args.x: `input` has no `tickt` | did you mean `ticket`?'],
    },
    {
      code: 'input.ticket.no',
      input: schema,
      problems: ['5:38 steps[0].args.x: `input.ticket` has no `no` | known keys: id'],
    },
    { code: 'input.tickt', input: '{properties: {ticket: {}}}', problems: [] },
    {
      code: 'input.tickt',
      input: '{additionalProperties: false, patternProperties: {t: {}}, properties: {}}',
      problems: [],
    },
    { code: 'input.x', input: 'true', problems: [] },
  ])('$code of $input', ({ code, input, problems }) => {
    const spec = `input: ${input}\nsteps: [{id: a, tool: t, args: {x: "\${${code}}"}}]`;
    expect(loadSpec(spec).problems).toEqual(problems);
  });
});
