import { called, edited, type Mistake, suggested, written } from '../mistake.ts';

const file = 'runtime.yaml';

export const inConfig: readonly Mistake[] = [
  // The syntax of YAML.
  {
    title: 'a line is indented with a tab',
    edits: { [file]: [['      exec:\n        command', '\texec:\n        command']] },
    run: 'validate',
    fix: written(file, '\texec', '      exec', 'spaces'),
  },
  {
    title: 'a colon is missing behind a key',
    edits: { [file]: [['command: ./lookup.sh', 'command ./lookup.sh']] },
    run: 'validate',
    fix: written(file, 'command ./', 'command: ./', 'colon'),
  },
  {
    title: 'a quotation mark is not closed',
    edits: { [file]: [['Looks up an order.', '"Looks up an order.']] },
    run: 'validate',
    fix: written(file, '"Looks up an order.', '"Looks up an order."', '`"`'),
  },
  {
    title: 'a bracket is not closed',
    edits: { [file]: [['[before_execution]', '[before_execution']] },
    run: 'validate',
    fix: written(file, '[before_execution', '[before_execution]', '`]`'),
  },
  {
    title: 'a key stands twice',
    edits: { [file]: [['      timeout_ms: 5000\n', '      timeout_ms: 5000\n      description: Again.\n']] },
    run: 'validate',
    fix: written(file, '      description: Again.\n', '', 'duplicate'),
  },
  {
    title: 'a key is indented by one space too few',
    edits: { [file]: [['      timeout_ms', '     timeout_ms']] },
    run: 'validate',
    fix: written(file, '     timeout_ms', '      timeout_ms', 'Indent it by 6 spaces.'),
  },
  {
    title: 'a text has a colon in it and no quotation marks',
    edits: { [file]: [['Looks up an order.', 'Looks up: an order.']] },
    run: 'validate',
    fix: written(file, 'Looks up: an order.', '"Looks up: an order."', 'quotes'),
  },
  {
    title: 'a pattern that begins with * has no quotation marks',
    edits: { [file]: [['tools: [lookup]', 'tools: [*]']] },
    run: 'validate',
    fix: written(file, '[*]', '["*"]', '"*"'),
  },
  {
    title: 'a text that begins with @ has no quotation marks',
    edits: { [file]: [['Looks up an order.', '@orders looks one up.']] },
    run: 'validate',
    fix: written(file, '@orders looks one up.', '"@orders looks one up."', 'quotes'),
  },
  {
    title: 'an expression between braces has no quotation marks',
    edits: { 'refund.pipeline.yaml': [['"${input.order}"}', '${input.order}}']] },
    run: 'validate refund.pipeline.yaml',
    fix: written('refund.pipeline.yaml', '${input.order}}', '"${input.order}"}', 'quotes'),
  },
  {
    title: 'the config is empty',
    edits: { [file]: '' },
    at: null,
    run: 'tool list',
    fix: edited(
      { [file]: 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' },
      'apiVersion: signalbox/v1',
      'kind: RuntimeConfig',
    ),
  },
  {
    title: 'the config is a list',
    edits: { [file]: '- tools\n' },
    at: [file, '- tools'],
    run: 'tool list',
    fix: edited(
      { [file]: 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' },
      'apiVersion',
      'kind',
    ),
  },
  {
    title: 'the config is not in UTF-8',
    edits: {
      [file]: Buffer.from('# caf\u00e9\napiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n', 'latin1'),
    },
    at: [file, '# caf'],
    run: 'tool list',
    fix: edited(
      { [file]: '# caf\u00e9\napiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' },
      'UTF-8',
    ),
  },
  {
    title: 'the config is in UTF-16',
    edits: {
      [file]: Buffer.from('\ufeffapiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n', 'utf16le'),
    },
    at: null,
    run: 'tool list',
    fix: edited({ [file]: 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' }, 'UTF-8'),
  },
  // Keys.
  {
    title: 'apiVersion is missing',
    edits: { [file]: [['apiVersion: signalbox/v1\n', '']] },
    at: [file, 'kind:'],
    run: 'validate',
    fix: written(file, 'kind:', 'apiVersion: signalbox/v1\nkind:', 'apiVersion: signalbox/v1'),
  },
  {
    title: 'apiVersion is that of another program',
    edits: { [file]: [['signalbox/v1', 'v1']] },
    run: 'validate --config runtime.yaml',
    fix: written(file, 'apiVersion: v1', 'apiVersion: signalbox/v1', 'signalbox/v1'),
  },
  {
    title: 'kind is misspelt',
    edits: { [file]: [['RuntimeConfig', 'Runtimeconfig']] },
    run: 'validate --config runtime.yaml',
    fix: written(file, 'Runtimeconfig', 'RuntimeConfig'),
  },
  {
    title: 'a config is run as a suite',
    at: [file, 'kind: RuntimeConfig'],
    run: 'eval run runtime.yaml',
    fix: called('eval run orders.suite.yaml', 'EvalSuite'),
  },
  {
    title: 'a suite is used as the config',
    at: ['orders.suite.yaml', 'kind: EvalSuite'],
    run: 'tool list --config orders.suite.yaml',
    fix: called('tool list --config runtime.yaml', 'RuntimeConfig'),
  },
  {
    title: 'tools stand beside spec',
    edits: { [file]: [['metadata: {name: shop}\n', 'metadata: {name: shop}\ntools: {}\n']] },
    run: 'validate',
    fix: written(file, 'tools: {}\n', '', '`spec`'),
  },
  {
    title: 'spec has a capital',
    edits: { [file]: [['spec:\n', 'Spec:\n']] },
    run: 'validate',
    fix: suggested('Spec:'),
  },
  {
    title: 'a key of spec is in the singular',
    edits: {
      [file]: [
        ['  tools:\n', '  tool:\n'],
        ['tools: [lookup]', 'tools: ["*"]'],
      ],
    },
    at: [file, '  tool:'],
    run: 'validate --config runtime.yaml',
    fix: suggested('tool:'),
  },
  {
    title: 'a key of a tool is misspelt',
    edits: { [file]: [['input_schema', 'input_shema']] },
    run: 'validate',
    fix: suggested('input_shema'),
  },
  {
    title: 'a key of a tool has another spelling of the same word',
    edits: { [file]: [['input_schema', 'inputSchema']] },
    run: 'validate',
    fix: suggested('inputSchema'),
  },
  {
    title: 'a key of exec is misspelt',
    edits: { [file]: [['command: ./lookup.sh', 'comand: ./lookup.sh']] },
    run: 'validate',
    fix: suggested('comand'),
  },
  {
    title: 'a key of a hook is in the singular',
    edits: { [file]: [['phases:', 'phase:']] },
    run: 'validate',
    fix: suggested('phase:'),
  },
  {
    title: 'command stands in the tool, not in its exec',
    edits: { [file]: [['      exec: {command: ./refund.sh}', '      command: ./refund.sh']] },
    run: 'validate',
    fix: written(file, 'command: ./refund.sh', 'exec: {command: ./refund.sh}', 'exec'),
  },
  {
    title: 'a key of a provider is misspelt',
    edits: { [file]: [['model: demo', 'modle: demo']] },
    run: 'validate',
    fix: suggested('modle'),
  },
  {
    title: 'a provider has no type',
    edits: { [file]: [['      type: mock\n', '']] },
    at: [file, 'id: main'],
    run: 'validate',
    fix: written(file, '      model: demo', '      type: mock\n      model: demo', '`type: …`', 'mock'),
  },
  {
    title: 'an eval has no command',
    edits: { [file]: [['      command: ./polite.sh', '      timeout_ms: 1000']] },
    at: [file, 'polite:'],
    run: 'validate',
    fix: written(file, 'timeout_ms: 1000', 'command: ./polite.sh', '`command: ./PROGRAM`'),
  },
  // Types and values.
  {
    title: 'milliseconds have a unit',
    edits: { [file]: [['timeout_ms: 5000', 'timeout_ms: 5s']] },
    run: 'validate',
    fix: written(file, '5s', '5000'),
  },
  {
    title: 'a word of a JSON Schema is misspelt',
    edits: { [file]: [['        type: object', '        type: objct']] },
    run: 'validate',
    fix: suggested('objct'),
  },
  {
    title: 'tools are a list',
    edits: {
      [file]: [
        ['    lookup:\n      description', '    - name: lookup\n      description'],
        ['    refund:\n      description', '    - name: refund\n      description'],
      ],
    },
    at: [file, 'name: lookup'],
    run: 'validate',
    fix: edited(
      {
        [file]: [
          ['- name: lookup', 'lookup:'],
          ['- name: refund', 'refund:'],
        ],
      },
      'name',
    ),
  },
  {
    title: 'env is a mapping',
    edits: { [file]: [['command: ./lookup.sh', 'command: ./lookup.sh\n        env: {SHOP: north}']] },
    at: [file, 'env:'],
    run: 'validate',
    fix: written(file, '{SHOP: north}', '[SHOP=north]', 'NAME=value'),
  },
  {
    title: 'args are a text',
    edits: { [file]: [['[--action, mask]', '--action mask']] },
    run: 'validate',
    fix: written(file, '--action mask', '[--action, mask]'),
  },
  {
    title: 'phases are one word',
    edits: { [file]: [['[before_execution]', 'before_execution']] },
    run: 'validate',
    fix: written(file, 'before_execution', '[before_execution]'),
  },
  {
    title: 'concurrency is 0',
    edits: { [file]: [['spec:\n', 'spec:\n  concurrency: 0\n']] },
    at: [file, 'concurrency: 0'],
    run: 'validate',
    fix: written(file, 'concurrency: 0', 'concurrency: 1', 'at least 1'),
  },
  {
    title: 'a number stands in quotation marks',
    edits: { [file]: [['timeout_ms: 5000', 'timeout_ms: "5000"']] },
    run: 'validate',
    fix: written(file, '"5000"', '5000', 'without quotes'),
  },
  {
    title: 'approval is true',
    edits: { [file]: [['approval: required', 'approval: true']] },
    run: 'validate',
    fix: written(file, 'approval: true', 'approval: required', 'required'),
  },
  {
    title: 'a description is a number',
    edits: { [file]: [['Looks up an order.', '42']] },
    run: 'validate',
    fix: written(file, '42', '"42"'),
  },
  // Names and values with a meaning.
  {
    title: 'a phase of a hook is misspelt',
    edits: { [file]: [['[before_execution]', '[before_exec]']] },
    run: 'validate',
    fix: suggested('before_exec'),
  },
  {
    title: 'a hook has a phase of another kind of hook',
    edits: { [file]: [['[before_execution]', '[before_call]']] },
    run: 'validate',
    fix: written(file, '[before_call]', '[before_execution]', 'before_execution'),
  },
  {
    title: 'the kind of a hook is misspelt',
    edits: { [file]: [['hook: provider', 'hook: providers']] },
    run: 'validate',
    fix: written(file, 'hook: providers', 'hook: provider', 'did you mean `provider`?'),
  },
  {
    title: 'a session hook is a filter',
    edits: {
      [file]: [
        [
          'hook: tool\n      phases: [before_execution]\n      match: {tools: [lookup]}',
          'hook: session\n      mode: filter',
        ],
      ],
    },
    at: [file, 'mode: filter'],
    run: 'validate',
    fix: written(file, 'mode: filter', 'mode: observe', 'observe'),
  },
  {
    title: 'a tool in match.tools is misspelt',
    edits: { [file]: [['tools: [lookup]', 'tools: [lookpu]']] },
    run: 'validate',
    fix: suggested('lookpu'),
  },
  {
    title: 'an argument of a bundled guard has a wrong value',
    edits: { [file]: [['--action, mask', '--action, mask-all']] },
    run: 'validate',
    fix: written(file, 'mask-all', 'mask', 'mask,'),
  },
  {
    title: 'an option of a bundled guard is misspelt',
    edits: { [file]: [['--action, mask', '--acton, mask']] },
    run: 'validate',
    fix: suggested('--acton'),
  },
  {
    title: 'a provider type is misspelt',
    edits: { [file]: [['type: mock', 'type: mok']] },
    run: 'validate',
    fix: suggested('mok'),
  },
  {
    title: 'a fallback names no provider',
    edits: { [file]: [['model: demo', 'model: demo\n      fallback: [spare]']] },
    at: [file, 'fallback'],
    run: 'validate',
    fix: written(file, '\n      fallback: [spare]', '', 'spec.providers'),
  },
  {
    title: 'two providers have one id',
    edits: {
      [file]: [
        [
          '  tools:\n',
          '    - {id: main, type: mock, model: other, additional_config: {responses: [{text: a}]}}\n  tools:\n',
        ],
      ],
    },
    at: [file, 'model: other'],
    run: 'validate',
    fix: written(file, '{id: main,', '{id: spare,', 'id'),
  },
  {
    title: 'a sandbox is not declared',
    edits: { [file]: [['command: ./lookup.sh', 'command: ./lookup.sh\n        sandbox: closed']] },
    at: [file, 'sandbox'],
    run: 'validate',
    fix: written(file, '\n        sandbox: closed', '', 'spec.sandboxes'),
  },
  {
    title: 'a duration has no unit',
    edits: { [file]: [['model: demo', 'model: demo\n      request_timeout: 30']] },
    at: [file, 'request_timeout'],
    run: 'validate',
    fix: written(file, 'request_timeout: 30', 'request_timeout: 30s', '30s'),
  },
  {
    title: 'an environment variable of the config is not set',
    edits: { [file]: [['model: demo', 'model: ${env:MODEL}']] },
    run: 'tool list',
    fix: written(file, '${env:MODEL}', '${env:MODEL:-demo}', 'MODEL'),
  },
  {
    title: 'an expression of match.when is broken',
    edits: { [file]: [['{tools: [lookup]}', '{tools: [lookup], when: "${event.request.args.amount >}"}']] },
    run: 'validate',
    fix: written(file, 'amount >}', 'amount > 1}', '>'),
  },
  {
    title: 'an overlay names an unknown key',
    edits: { 'staging.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  concurency: 2\n' },
    at: ['staging.yaml', 'concurency'],
    run: 'validate --config runtime.yaml --config staging.yaml',
    fix: suggested('concurency', 'staging.yaml'),
  },
];
