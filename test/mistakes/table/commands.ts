import { called, edited, type Mistake, ran, suggested, written } from '../mistake.ts';

const file = 'runtime.yaml';

/** Mistakes in command lines, in the names that they use, and in files of other programs. */
export const inCommands: readonly Mistake[] = [
  { title: 'a command is misspelt', run: 'vaildate', fix: suggested('vaildate') },
  { title: 'a command of a group is misspelt', run: 'tool lst', fix: suggested('lst') },
  { title: 'an option is misspelt', run: 'validate --strct', fix: suggested('--strct') },
  { title: 'the value of an option is misspelt', run: 'tool list --log-level wran', fix: suggested('wran') },
  {
    title: 'an argument is missing',
    run: 'tool call',
    fix: called('tool call lookup --args @order.json', 'signalbox tool call'),
  },
  {
    title: 'the folder has no config',
    edits: { [file]: null },
    at: null,
    run: 'tool list',
    fix: ran(/signalbox init/),
  },
  {
    title: 'the config of --config is misspelt',
    run: 'tool list --config runtme.yaml',
    fix: suggested('runtme.yaml'),
  },
  {
    title: 'an overlay is not there',
    run: 'tool list --config runtime.yaml --config staging.yaml',
    fix: edited(
      { 'staging.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' },
      'staging.yaml',
    ),
  },
  {
    title: 'the folder of init has a config',
    run: 'init',
    fix: called('init other', 'signalbox init NEW_FOLDER'),
  },
  // Names.
  { title: 'a tool is misspelt', run: 'tool call lokup --args @order.json', fix: suggested('lokup') },
  { title: 'an eval is misspelt', run: 'eval call polit --content Hello', fix: suggested('polit') },
  { title: 'a suite is misspelt', run: 'eval run order.suite.yaml', fix: suggested('order.suite.yaml') },
  {
    title: 'a pipeline is misspelt',
    run: 'run refnd.pipeline.yaml --input @order.json',
    fix: suggested('refnd.pipeline.yaml'),
  },
  {
    title: 'a suite is run as a pipeline',
    at: ['orders.suite.yaml', 'kind'],
    run: 'run orders.suite.yaml',
    fix: called('eval run orders.suite.yaml', 'signalbox eval run'),
  },
  {
    title: 'a pipeline is run as a suite',
    at: ['refund.pipeline.yaml', 'kind'],
    run: 'eval run refund.pipeline.yaml',
    fix: called('run refund.pipeline.yaml --input @order.json', 'signalbox run'),
  },
  {
    title: 'a run is not there',
    run: 'runs show run_12345678',
    fix: called('runs list', 'signalbox runs list'),
  },
  {
    title: 'a call that waits is not there',
    run: 'pending approve pending_12345678',
    fix: called('pending list', 'signalbox pending list'),
  },
  {
    title: 'a run of a suite is not there',
    run: 'eval show run_12345678',
    fix: called('eval list', 'signalbox eval list'),
  },
  {
    title: 'no run of a suite is kept',
    run: 'eval show last',
    fix: called('eval run orders.suite.yaml', 'signalbox eval run'),
  },
  {
    title: 'a key of the gateway is not there',
    run: 'keys revoke mara',
    fix: called('keys list', 'signalbox keys list'),
  },
  {
    title: 'a hook of another kind is fired',
    run: 'hook fire --hook tol --phase before_execution --event @call.json',
    fix: suggested('tol'),
  },
  {
    title: 'a phase of another kind of hook is fired',
    run: 'hook fire --hook tool --phase before_call --event @call.json',
    fix: called('hook fire --hook tool --phase before_execution --event @call.json', 'before_execution'),
  },
  {
    title: 'a reporter is misspelt',
    run: 'eval run orders.suite.yaml --reporter jnit=run.xml',
    fix: suggested('jnit'),
  },
  { title: 'a shell of completion is another one', run: 'completion zhs', fix: suggested('zhs') },
  // Values.
  {
    title: '--args is the name of a file',
    run: 'tool call lookup --args order.json',
    exit: 1,
    fix: called('tool call lookup --args @order.json', '--args @order.json'),
  },
  {
    title: '--args names a file that is not there',
    run: 'tool call lookup --args @oder.json',
    fix: suggested('oder.json'),
  },
  {
    title: '--args is no JSON',
    run: "tool call lookup --args '{order: A-17}'",
    exit: 1,
    fix: called(`tool call lookup --args '{"order": "A-17"}'`, 'double quotes'),
  },
  {
    title: '--args lacks a member',
    run: `tool call lookup --args '{}'`,
    exit: 1,
    fix: called(`tool call lookup --args '{"order": "A-17"}'`, 'order'),
  },
  {
    title: '--args has a member of another type',
    run: `tool call lookup --args '{"order": 17}'`,
    exit: 1,
    fix: called(`tool call lookup --args '{"order": "17"}'`, 'string'),
  },
  {
    title: '--input is the name of a file',
    run: 'run refund.pipeline.yaml --input order.json',
    fix: called('run refund.pipeline.yaml --input @order.json', '--input @order.json'),
  },
  {
    title: '--input lacks a member',
    run: `run refund.pipeline.yaml --input '{}'`,
    fix: called('run refund.pipeline.yaml --input @order.json', 'order'),
  },
  {
    title: '--event is the name of a file',
    run: 'hook fire --hook tool --phase before_execution --event call.json',
    fix: called('hook fire --hook tool --phase before_execution --event @call.json', '--event @call.json'),
  },
  {
    title: '--event lacks the request',
    run: `hook fire --hook tool --phase before_execution --event '{"name": "lookup"}'`,
    fix: called('hook fire --hook tool --phase before_execution --event @call.json', '"request"'),
  },
  {
    title: '--params is no JSON',
    run: 'eval call contains --content Hello --params hello',
    fix: called(`eval call contains --content Hello --params '{"patterns": ["Hello"]}'`, 'JSON object'),
  },
  {
    title: 'a parameter of eval call is misspelt',
    run: `eval call contains --content Hello --params '{"pattern": ["Hello"]}'`,
    fix: suggested('"pattern"'.slice(1, -1)),
  },
  {
    title: '--content is missing',
    run: 'eval call polite',
    fix: called('eval call polite --content Hello', '--content'),
  },
  {
    title: '--timeout has no unit',
    run: 'eval run orders.suite.yaml --reporter jsonl=run.jsonl --timeout 5',
    fix: called('eval run orders.suite.yaml --reporter jsonl=run.jsonl --timeout 5s', '5s'),
  },
  {
    title: '--concurrency is a word',
    run: 'eval run orders.suite.yaml --reporter jsonl=run.jsonl --concurrency many',
    fix: called('eval run orders.suite.yaml --reporter jsonl=run.jsonl --concurrency 4', 'number'),
  },
  {
    title: '--label has no value',
    run: 'run refund.pipeline.yaml --input @order.json --label shop',
    fix: called('run refund.pipeline.yaml --input @order.json --label shop=north', 'NAME=VALUE'),
  },
  {
    title: '--filter is no CEL',
    run: "eval run orders.suite.yaml --reporter jsonl=run.jsonl --filter 'case.id ='",
    fix: called(
      `eval run orders.suite.yaml --reporter jsonl=run.jsonl --filter 'case.id == "late"'`,
      'case.id =',
    ),
  },
  {
    title: 'a recording is not there',
    run: 'eval run orders.suite.yaml --reporter jsonl=run.jsonl --replay tape.jsonl',
    fix: called(
      'eval run orders.suite.yaml --reporter jsonl=run.jsonl --record tape.jsonl',
      '--record tape.jsonl',
    ),
  },
  // Servers.
  {
    title: '--listen is a port',
    run: 'serve --listen 8787x',
    fix: called('serve --listen 127.0.0.1:0', 'HOST:PORT'),
    until: 'http',
    ends: 0,
  },
  {
    title: '--listen is open to everybody without keys',
    run: 'serve --listen 0.0.0.0:0',
    fix: ran(/signalbox keys create/),
    until: 'http',
    ends: 0,
  },
  {
    title: 'the key of a provider is not set',
    edits: { [file]: [['type: mock', 'type: openai']] },
    at: null,
    run: 'run refund.pipeline.yaml --input @order.json',
    exit: 1,
    fix: written(file, 'type: openai', 'type: mock', 'OPENAI_API_KEY'),
  },
  // Files of other programs.
  {
    title: 'a file of promptfoo is broken',
    edits: { 'promptfooconfig.yaml': 'prompts: [hello\nproviders: [echo]\n' },
    at: ['promptfooconfig.yaml', 'prompts'],
    run: 'eval import promptfooconfig.yaml',
    fix: edited(
      {
        'promptfooconfig.yaml':
          'prompts: [hello]\nproviders: [openai:gpt-4.1]\ntests: [{assert: [{type: contains, value: h}]}]\n',
      },
      ']',
    ),
  },
  {
    title: 'a config of Signalbox is imported',
    at: null,
    run: 'eval import runtime.yaml',
    fix: called('validate', 'signalbox validate'),
  },
  {
    title: 'a file that is imported is not there',
    edits: {
      'promptfooconfig.yaml':
        'prompts: [hello]\nproviders: [openai:gpt-4.1]\ntests: [{assert: [{type: contains, value: h}]}]\n',
    },
    at: null,
    run: 'eval import promptfoconfig.yaml',
    fix: suggested('promptfoconfig.yaml'),
    after: 'eval import promptfoconfig.yaml',
  },
  {
    title: 'a file of DeepEval is broken',
    edits: { 'goldens.json': '[{"input": "a", "actual_output" "b"}]\n' },
    at: ['goldens.json', 'input'],
    run: 'eval import goldens.json --from deepeval',
    exit: 1,
    fix: edited(
      { 'goldens.json': '[{"input": "a", "actual_output": "b"}]\n' },
      'a `:` is missing after the key "actual_output"',
      'Write "actual_output": …',
    ),
  },
  {
    title: 'a file of Inspect is one of another system',
    edits: { 'samples.jsonl': '{"question": "a"}\n' },
    at: ['samples.jsonl', 'question'],
    run: 'eval import samples.jsonl --from inspect --provider openai:gpt-4.1',
    exit: 1,
    fix: edited({ 'samples.jsonl': '{"input": "a", "target": "b"}\n' }, 'input'),
  },
  {
    title: 'hooks are imported from a file that is not there',
    run: 'hook import .claude/settings.json',
    fix: called('hook list', 'path'),
  },
  {
    title: 'hooks are imported from a broken file',
    edits: { 'settings.json': '{"hooks": {"PreToolUse": [}\n' },
    at: ['settings.json', 'PreToolUse'],
    run: 'hook import settings.json',
    exit: 1,
    fix: edited(
      {
        'settings.json':
          '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}\n',
      },
      '`]`',
    ),
  },
];
