import { edited, type Mistake, suggested, written } from '../mistake.ts';

const file = 'orders.suite.yaml';
const flow = 'refund.pipeline.yaml';
const run = `eval run ${file} --reporter jsonl=run.jsonl`;
const validate = `validate ${file}`;
const validateFlow = `validate ${flow}`;
const refund = `run ${flow} --input @order.json`;

export const inSuites: readonly Mistake[] = [
  {
    title: 'a key of a suite is in the singular',
    edits: { [file]: [['  evals:', '  eval:']] },
    run: validate,
    fix: suggested('eval:'),
  },
  {
    title: 'a key of an eval is misspelt',
    edits: { [file]: [['threshold:', 'treshold:']] },
    run: validate,
    fix: suggested('treshold'),
  },
  {
    title: 'a threshold is a number',
    edits: { [file]: [['{min_score: 0.8}', '0.8']] },
    run: validate,
    fix: written(file, 'threshold: 0.8', 'threshold: {min_score: 0.8}', '{min_score: 0.8}'),
  },
  {
    title: 'a threshold is a percentage',
    edits: { [file]: [['min_score: 0.8', 'min_score: 80']] },
    run: validate,
    fix: written(file, 'min_score: 80', 'min_score: 0.8', 'write 0.8'),
  },
  {
    title: 'a gate is a percentage',
    edits: { [file]: [['min: 0.5', 'min: 50']] },
    run: validate,
    fix: written(file, 'min: 50', 'min: 0.5', 'write 0.5'),
  },
  {
    title: 'a key of a gate is another word',
    edits: { [file]: [['min: 0.5', 'minimum: 0.5']] },
    run: validate,
    fix: written(file, 'minimum', 'min', 'min'),
  },
  {
    title: 'the metric of a gate is misspelt',
    edits: { [file]: [['pass_rate', 'passrate']] },
    run: validate,
    fix: suggested('passrate'),
  },
  {
    title: 'a gate names the type of an eval in place of its id',
    edits: { [file]: [['eval: manners', 'eval: polite']] },
    run: validate,
    fix: written(file, 'eval: polite', 'eval: manners', 'manners'),
  },
  {
    title: 'the type of an eval is misspelt',
    edits: { [file]: [['type: polite', 'type: polit']] },
    run: validate,
    fix: suggested('polit'),
  },
  {
    title: 'the type of an eval is that of promptfoo',
    edits: {
      [file]: [
        [
          'type: contains\n      params: {patterns: [hello]}',
          'type: llm-rubric\n      params: {criteria: is friendly}',
        ],
      ],
    },
    at: [file, 'llm-rubric'],
    run: validate,
    fix: edited(
      {
        [file]: [
          ['type: llm-rubric\n', 'type: llm_judge\n'],
          ['criteria: is friendly', 'criteria: is friendly, judge: main'],
        ],
        'runtime.yaml': [['  tools:\n', '  judges: [{name: main, provider: main}]\n  tools:\n']],
      },
      'llm_judge',
    ),
  },
  {
    title: 'a parameter of a check is in the singular',
    edits: { [file]: [['patterns: [hello]', 'pattern: [hello]']] },
    run: validate,
    fix: suggested('pattern:'),
  },
  {
    title: 'a parameter of a check is not a list',
    edits: { [file]: [['patterns: [hello]', 'patterns: hello']] },
    run: validate,
    fix: written(file, 'patterns: hello', 'patterns: [hello]', '[hello]'),
  },
  {
    title: 'a regular expression is broken',
    edits: {
      [file]: [
        [
          'type: contains\n      params: {patterns: [hello]}',
          'type: regex\n      params: {pattern: "hello("}',
        ],
      ],
    },
    at: [file, 'hello('],
    run: validate,
    fix: written(file, 'hello(', 'hello[(]', 'hello('),
  },
  {
    title: 'a JMESPath expression is broken',
    edits: {
      [file]: [
        [
          'type: contains\n      params: {patterns: [hello]}',
          'type: json_path\n      params: {expression: "items[?price >", expected: 1}',
        ],
      ],
    },
    at: [file, 'items[?'],
    run: validate,
    fix: written(file, 'items[?price >', 'items[?price > `1`]', 'items[?price >'),
  },
  {
    title: 'two evals have one id',
    edits: { [file]: [['id: greeting', 'id: manners']] },
    run: validate,
    fix: written(file, 'id: manners\n      type: contains', 'id: greeting\n      type: contains', 'id'),
  },
  {
    title: 'an expression has the braces of another program',
    edits: { [file]: [['${case.answer}', '"{{answer}}"']] },
    run: `${validate} --strict`,
    fix: written(file, '{{answer}}', '${case.answer}'),
  },
  {
    title: 'an expression is not closed',
    edits: { [file]: [['${case.answer}', '${case.answer']] },
    run: validate,
    fix: written(file, '${case.answer', '${case.answer}', '}'),
  },
  {
    title: 'an expression names a column without case',
    edits: { [file]: [['${case.answer}', '${answer}']] },
    run: validate,
    fix: written(file, '${answer}', '${case.answer}', 'case.answer'),
  },
  {
    title: 'an expression is no CEL',
    edits: { [file]: [['${case.answer}', '${case.answer || "none" ?}']] },
    run: validate,
    fix: written(
      file,
      '${case.answer || "none" ?}',
      `'\${has(case.answer) ? case.answer : "none"}'`,
      'has(case.answer) ? case.answer : "none"',
    ),
  },
  {
    title: 'a column of the dataset is misspelt',
    edits: { [file]: [['${case.answer}', '${case.anser}']] },
    run,
    fix: suggested('case.anser'),
  },
  {
    title: 'the runtime of a suite is misspelt',
    edits: { [file]: [['./runtime.yaml', './runtme.yaml']] },
    run,
    fix: suggested('./runtme.yaml'),
  },
  {
    title: 'the dataset is misspelt',
    edits: { [file]: [['cases.jsonl', 'case.jsonl']] },
    run,
    fix: suggested('case.jsonl'),
  },
  {
    title: 'the dataset starts at another folder',
    edits: { [file]: [['cases.jsonl', 'data/cases.jsonl']] },
    run: `${validate} --strict`,
    fix: written(file, 'data/cases.jsonl', 'cases.jsonl', 'folder of'),
  },
  {
    title: 'a line of the dataset is no JSON',
    edits: {
      'cases.jsonl': [
        [
          '{"id": "open", "answer": "Hello, we are open."}',
          '{"id": "open", "answer": "Hello, we are open.",}',
        ],
      ],
    },
    run,
    fix: written('cases.jsonl', '.",}', '."}', ','),
  },
  {
    title: 'two cases have one id',
    edits: { 'cases.jsonl': [['"id": "open"', '"id": "late"']] },
    run,
    exit: 0,
    fix: written(
      'cases.jsonl',
      '"id": "late", "answer": "Hello, we',
      '"id": "open", "answer": "Hello, we',
      'its own id',
    ),
  },
  {
    title: 'the dataset is empty',
    edits: { 'cases.jsonl': '' },
    at: null,
    run,
    fix: edited({ 'cases.jsonl': '{"id": "late", "answer": "Hello."}\n' }, 'JSON object'),
  },
  {
    title: 'the columns of a CSV are separated by semicolons',
    edits: { [file]: [['cases.jsonl', 'cases.csv']], 'cases.csv': 'id;answer\nlate;Hello\n' },
    at: ['cases.csv', 'id;answer'],
    run,
    fix: edited({ 'cases.csv': 'id,answer\nlate,Hello\n' }, 'semicolon', 'commas'),
  },
  {
    title: 'a row of a CSV has a comma too many',
    edits: { [file]: [['cases.jsonl', 'cases.csv']], 'cases.csv': 'id,answer\nlate,Hello, it is late\n' },
    at: ['cases.csv', 'late,Hello'],
    run,
    fix: edited({ 'cases.csv': 'id,answer\nlate,"Hello, it is late"\n' }, 'quote'),
  },
  // Pipelines.
  {
    title: 'a key of a step is misspelt',
    edits: { [flow]: [['      args:', '      agrs:']] },
    run: validateFlow,
    fix: suggested('agrs'),
  },
  {
    title: 'the tool of a step is misspelt',
    edits: { [flow]: [['tool: lookup', 'tool: lokup']] },
    run: validateFlow,
    fix: suggested('lokup'),
  },
  {
    title: 'the eval of a step is misspelt',
    edits: { [flow]: [['eval: polite', 'eval: polit']] },
    run: refund,
    fix: suggested('polit'),
  },
  {
    title: 'the provider of a chat is misspelt',
    edits: { [flow]: [['provider: main', 'provider: mian']] },
    run: validateFlow,
    fix: suggested('mian'),
  },
  {
    title: 'a tool of a chat is misspelt',
    edits: { [flow]: [['tools: [lookup]', 'tools: [lokup]']] },
    run: validateFlow,
    fix: suggested('lokup'),
  },
  {
    title: 'an expression names an input that the schema does not have',
    edits: { [flow]: [['{order: "${input.order}"}', '{order: "${input.oder}"}']] },
    run: validateFlow,
    fix: suggested('oder'),
  },
  {
    title: 'an expression names a step that does not exist',
    edits: { [flow]: [['content: ${steps.answer.text}', 'content: ${steps.anser.text}']] },
    run: validateFlow,
    fix: suggested('anser'),
  },
  {
    title: 'an expression names a member that a step does not have',
    edits: { [flow]: [['content: ${steps.answer.text}', 'content: ${steps.answer.txt}']] },
    run: validateFlow,
    fix: suggested('txt'),
  },
  {
    title: 'an argument of a step has the name of none',
    edits: { [flow]: [['args: {order:', 'args: {oder:']] },
    run: validateFlow,
    fix: written(flow, '{oder:', '{order:', 'order'),
  },
  {
    title: 'two steps have one id',
    edits: { [flow]: [['id: quality', 'id: answer']] },
    run: validateFlow,
    fix: written(flow, 'id: answer\n      eval', 'id: quality\n      eval', 'id'),
  },
  {
    title: 'a step does two things',
    edits: { [flow]: [['eval: polite', 'tool: lookup\n      eval: polite']] },
    at: [flow, 'id: quality'],
    run: validateFlow,
    fix: written(flow, 'tool: lookup\n      eval: polite', 'eval: polite', 'tool', 'eval'),
  },
  {
    title: 'a wait has no unit',
    edits: { [flow]: [['eval: polite\n      content: ${steps.answer.text}', 'wait: 10 minutes']] },
    at: [flow, 'wait'],
    run: validateFlow,
    fix: written(flow, '10 minutes', '10m', '10m'),
  },
  {
    title: 'the role of a message is misspelt',
    edits: {
      [flow]: [['messages: "Where is order ${input.order}?"', 'messages: [{role: usr, content: Where?}]']],
    },
    run: validateFlow,
    fix: suggested('usr'),
  },
];
