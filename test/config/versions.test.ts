import { describe, expect, test } from 'vitest';
import { configText, native, promptkit, told } from './told.ts';

interface Row {
  readonly title: string;
  readonly spec: string;
  /** Errors of `signalbox/v1`, each with the messages for a PromptKit file; '' if there are none. */
  readonly refused: Readonly<Record<string, readonly string[]>>;
  readonly both?: readonly string[];
}

/** An error in `signalbox/v1`, and at most a warning in a PromptKit file. */
const rows: readonly Row[] = [
  {
    title: 'an unknown key of an entry [PK-9-06 PK-9-07]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, timout_ms: 5, zebra: 1}`,
    refused: {
      'it is ignored': [
        '5:58 hooks[guard].timout_ms: unknown key | did you mean `timeout_ms`?',
        '5:72 hooks[guard].zebra: unknown key | known keys: command, args, runtime, env, dialect, timeout_ms, max_output_bytes, grace_ms, leftovers, limits, nice, sandbox, cwd, concurrency, instances, warm, on_failure, url, headers, ca, hook, phases, mode, modifies, match, external, picoclaw, claude, agentao',
      ],
    },
  },
  {
    title: 'an unknown key at the top of spec [PK-9-06 PK-9-07]',
    spec: `
hook: {}`,
    refused: { 'it is ignored': ['4:3 hook: unknown key | did you mean `hooks`?'] },
  },
  {
    title: 'an unknown key deep in a provider [PK-9-06 PK-9-07]',
    spec: `
providers:
  - {type: openai, model: m, credential: {credentials_env: KEY}}`,
    refused: {
      'it is ignored': [
        '5:45 providers[0].credential.credentials_env: unknown key | did you mean `credential_env`?',
      ],
    },
  },
  {
    title: 'empty phases [PK-9-09 PK-9-10]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: []}`,
    refused: { 'the hook runs at every phase of its type': ['5:66 hooks[guard].phases: must not be empty'] },
  },
  {
    title: 'an unknown phase [PK-9-09 PK-9-10]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: [before_execution, before_exec]}`,
    refused: {
      'the hook runs at every phase of its type': [
        '5:85 hooks[guard].phases[1]: must be one of: before_execution, after_execution (got: before_exec) | did you mean `before_execution`?',
      ],
    },
  },
  {
    title: 'a phase of another hook [PK-9-09 PK-9-10]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: [before_call]}`,
    refused: {
      'the hook runs at every phase of its type': [
        '5:67 hooks[guard].phases[0]: must be one of: before_execution, after_execution (got: before_call)',
      ],
    },
  },
  {
    title: 'a phase of an eval hook [PK-9-09 PK-9-10]',
    spec: `
hooks:
  told: {command: sh, hook: eval, phases: [before_call]}`,
    refused: {
      'the hook runs at every phase of its type': [
        '5:46 hooks[told].phases[0]: must be one of: scored (got: before_call)',
      ],
    },
  },
  {
    title: 'an unknown mode [PK-9-11 PK-9-12]',
    spec: `
hooks:
  guard: {command: sh, hook: provider, dialect: promptkit, mode: fliter}`,
    refused: {
      'it is read as filter': [
        '5:68 hooks[guard].mode: must be one of: filter, observe, shadow (got: fliter) | did you mean `filter`?',
      ],
    },
  },
  {
    title: 'an unknown mode of an observer [PK-9-11 PK-9-12]',
    spec: `
hooks:
  told: {command: sh, hook: session, dialect: promptkit, mode: async}`,
    refused: { 'it is read as observe': ['5:66 hooks[told].mode: must be one of: observe (got: async)'] },
  },
  {
    title: 'a session hook that filters [PK-9-13 PK-9-14]',
    spec: `
hooks:
  told: {command: sh, hook: session, dialect: promptkit, mode: filter}`,
    refused: {
      'it is read as observe': [
        '5:66 hooks[told].mode: session hooks only observe: they receive events, and their answers are not read (got: filter) | Use `mode: observe`, or leave `mode` out.',
      ],
    },
  },
  {
    title: 'an eval hook in the shadow [PK-9-13 PK-9-14]',
    spec: `
hooks:
  told: {command: sh, hook: eval, mode: shadow}`,
    refused: {
      'it is read as observe': [
        '5:43 hooks[told].mode: eval hooks only observe: they receive events, and their answers are not read (got: shadow) | Use `mode: observe`, or leave `mode` out.',
      ],
    },
  },
  {
    title: 'an unknown runtime [PK-9-15]',
    spec: `
evals:
  rude: {command: sh, runtime: daemon}`,
    refused: {
      'it is read as exec': ['5:34 evals[rude].runtime: must be one of: exec, server, fork (got: daemon)'],
    },
  },
  {
    title: 'a timeout of 0 [PK-9-16 PK-9-17]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 0}`,
    refused: { 'the default applies': ['5:37 evals[rude].timeout_ms: must be at least 1 (got: 0)'] },
  },
  {
    title: 'a negative timeout of a tool [PK-9-16 PK-9-17]',
    spec: `
tools:
  t: {timeout_ms: -1, exec: {command: sh}}`,
    refused: { 'the default applies': ['5:21 tools[t].timeout_ms: must be at least 1 (got: -1)'] },
  },
  {
    title: 'a fractional timeout [PK-9-16 PK-9-17]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 1500.9}`,
    refused: {
      'it is read as 1500': ['5:37 evals[rude].timeout_ms: must be a whole number, not the number 1500.9'],
    },
  },
  {
    title: 'a timeout between 0 and 1 [PK-9-16 PK-9-17]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 0.5}`,
    refused: {
      'the default applies': ['5:37 evals[rude].timeout_ms: must be a whole number, not the number 0.5'],
    },
  },
  {
    title: 'a timeout longer than a timer can wait [PK-9-16]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 9999999999}`,
    refused: {
      'it is read as 2147483647': [
        '5:37 evals[rude].timeout_ms: must be at most 2147483647 (got: 9999999999)',
      ],
    },
  },
  {
    title: 'an empty command of a tool [PK-9-18]',
    spec: `
tools:
  t: {exec: {command: ""}}`,
    refused: { 'a call of the tool fails': ['5:25 tools[t].exec.command: exec command is required'] },
  },
  {
    title: 'a tool whose exec lacks a command [PK-9-18]',
    spec: `
tools:
  t: {exec: {args: [x]}}`,
    refused: { 'a call of the tool fails': ['5:9 tools[t].exec.command: exec command is required'] },
  },
  {
    title: 'a tool whose command is null [PK-9-18]',
    spec: `
tools:
  t:
    exec:
      command:`,
    refused: { 'a call of the tool fails': ['7:9 tools[t].exec.command: exec command is required'] },
  },
  {
    title: 'two providers with one id [PK-9-20]',
    spec: `
providers:
  - {id: main, type: openai, model: a}
  - {id: main, type: openai, model: b}
  - {type: openai, model: b}
  - {type: openai, model: b}`,
    refused: {
      'the first one is used': [
        '6:12 providers[1].id: another provider already has the id main | Give each provider a unique id.',
        '8:14 providers[3].type: another provider already has the id openai | A provider without `id` takes its type as id: give each a unique one.',
      ],
    },
  },
  {
    title: 'a request timeout that is no duration',
    spec: `
providers:
  - {id: a, type: openai, model: m, request_timeout: 90}
  - {id: b, type: openai, model: m, request_timeout: soon}
  - {id: c, type: openai, model: m, request_timeout: 0s}
  - {id: d, type: openai, model: m, defaults: {max_tokens: 0}}`,
    refused: {
      'the default applies': [
        '5:56 providers[0].request_timeout: must be a string, not the number 90 | Name the unit: 90s, 90m or 90h.',
        '6:56 providers[1].request_timeout: must be a duration such as 90s, 1m30s or 24h (got: soon)',
        '7:56 providers[2].request_timeout: must be a duration such as 90s, 1m30s or 24h (got: 0s)',
        '8:62 providers[3].defaults.max_tokens: must be at least 1 (got: 0)',
      ],
    },
  },
  {
    title: 'a mock that cannot answer',
    spec: `
providers:
  - {id: a, type: mock, model: m}
  - id: b
    type: mock
    model: m
    additional_config:
      responses:
        - {when: messages.size( > 1, txt: hi}
  - id: c
    type: mock
    model: m
    additional_config:
      responses:
        - {when: nobody == 1, text: hi}`,
    refused: {
      'a call of the provider fails': [
        '5:7 providers[0].additional_config.responses: is required',
        '11:45 providers[1].additional_config.responses[0].txt: unknown key | did you mean `text`?',
        '17:20 providers[2].additional_config.responses[0].when: `${nobody == 1}` is not a valid expression: Unknown variable: nobody',
      ],
    },
  },
  {
    title: 'a store that is not supported',
    spec: `
state_store: {type: redis, redis: {address: localhost:6379}}`,
    refused: {
      'whatever needs the store fails': [
        '4:23 state_store.type: redis is not supported | Use `type: sqlite`, which several processes on one machine may share.',
      ],
    },
  },
  {
    title: 'a store that nobody knows',
    spec: `
state_store: {type: etcd}`,
    refused: {
      'whatever needs the store fails': [
        '4:23 state_store.type: must be one of: sqlite, postgres, memory, file (got: etcd)',
      ],
    },
  },
  {
    title: 'an undeclared sandbox of a tool [PK-9-21 PK-9-22]',
    spec: `
sandboxes: {docker: {mode: direct}}
tools:
  t: {exec: {command: sh, sandbox: dokcer}}`,
    refused: {
      'it never starts: a call of the tool fails': [
        '6:38 tools[t].exec.sandbox: the sandbox "dokcer" is not declared under spec.sandboxes | did you mean `docker`?',
      ],
    },
  },
  {
    title: 'an undeclared sandbox of an eval [PK-9-21 PK-9-22]',
    spec: `
evals:
  rude: {command: sh, sandbox: box}`,
    refused: {
      'it never starts: the eval stays unscored': [
        '5:34 evals[rude].sandbox: the sandbox "box" is not declared under spec.sandboxes | Declare it, such as `sandboxes: {box: {mode: bubblewrap}}`, or remove `sandbox`.',
      ],
    },
  },
  {
    title: 'an env entry that is no name',
    spec: `
evals:
  rude: {command: sh, env: ["A B", "1A=x", OK, "X=a b=c"]}`,
    refused: {
      'it is left out': [
        '5:31 evals[rude].env[0]: must be a name or NAME=value (got: A B)',
        '5:38 evals[rude].env[1]: must be a name or NAME=value (got: 1A=x)',
      ],
    },
  },
  {
    title: 'null keys of an entry',
    spec: `
evals:
  rude: {command: sh, args: , env: , timeout_ms: , runtime: , sandbox: }`,
    refused: {
      '': [
        '5:25 evals[rude].args: must be a list, not nothing',
        '5:33 evals[rude].env: must be a list, not nothing',
        '5:40 evals[rude].timeout_ms: must be a whole number, not nothing',
        '5:54 evals[rude].runtime: must be one of: exec, server, fork (got: nothing)',
        '5:65 evals[rude].sandbox: must be a string, not nothing',
      ],
    },
  },
  {
    title: 'empty texts',
    spec: `
evals:
  rude: {command: sh, sandbox: ""}
logging: {defaultLevel: "", format: ""}
providers: [{id: "", type: ollama, model: b}]`,
    refused: {
      '': [
        '5:34 evals[rude].sandbox: must not be empty',
        '6:27 logging.defaultLevel: must be one of: trace, debug, info, warn, error (got: an empty string)',
        '6:39 logging.format: must be one of: json, text (got: an empty string)',
        '7:20 providers[0].id: must not be empty',
      ],
    },
  },
  {
    title: 'numbers where texts belong',
    spec: `
tools:
  t: {description: 5}
providers: [{id: 7, type: 1, model: 4.10}]`,
    refused: {
      '': [
        '5:22 tools[t].description: must be a string, not the number 5 | Write "5", with quotes.',
        '6:20 providers[0].id: must be a string, not the number 7 | Write "7", with quotes.',
        '6:29 providers[0].type: must be a string, not the number 1 | Write "1", with quotes.',
        '6:39 providers[0].model: must be a string, not the number 4.1 | Write "4.1", with quotes.',
      ],
    },
    both: [
      'warning 5:5 tools[t]: has no exec binding: it is listed, but a call of it fails | Add `exec: {command: …}` to make it run.',
    ],
  },
  {
    title: 'a schema that is none',
    spec: `
tools:
  t: {input_schema: text, exec: {command: sh}}
  u: {input_schema: {type: strng}, output_schema: {$ref: '#/nowhere'}, exec: {command: sh}}
  v: {output_schema: {$schema: 'https://example.com/own'}, exec: {command: sh}}
  w: {output_schema: {$async: true}, exec: {command: sh}}`,
    refused: {
      'a call of the tool fails': [
        '5:23 tools[t].input_schema: must be a mapping or true or false, not the string "text"',
        '6:23 tools[u].input_schema: is not a usable JSON Schema: `type` must be one of: array, boolean, integer, null, number, object, string (got: strng), did you mean `string`?',
        "6:53 tools[u].output_schema: is not a usable JSON Schema: can't resolve reference #/nowhere from id #",
        '7:24 tools[v].output_schema: is not a usable JSON Schema: its $schema https://example.com/own is neither 2020-12, 2019-09 nor draft-07',
        '8:24 tools[w].output_schema: is not a usable JSON Schema: it is asynchronous ($async)',
      ],
    },
  },
  {
    title: 'a tool whose mode is not exec',
    spec: `
tools:
  t: {mode: mock, exec: {command: sh}}
  u: {mode: exec, exec: {command: sh}}`,
    refused: {
      'a call of the tool fails': [
        '5:15 tools[t].mode: must be exec if the tool has an exec binding (got: mock)',
      ],
    },
  },
  {
    title: 'a NUL character',
    spec: `
evals:
  rude: {command: sh, args: ["a\\0b"]}`,
    refused: {
      'it never starts: the eval stays unscored': [
        '5:32 evals[rude].args[0]: must not contain a NUL character',
      ],
    },
  },
];

/** Expected lines of a row. The interpretation is between a warning's message and its hint. */
function linesOf({ refused, both = [] }: Row, version: 'native' | 'promptkit'): string[] {
  const own = Object.entries(refused).flatMap(([reading, errors]) => {
    if (version === 'native') return errors.map((error) => `error ${error}`);
    if (reading === '') return [];
    return errors.map((error) => `warning ${error.replace(/(?= \| |$)/, `; ${reading}`)}`);
  });
  return [...own, ...both].sort((one, other) => placeOf(one) - placeOf(other));
}

function placeOf(line: string): number {
  const [, row = '', column = ''] = /(\d+):(\d+)/.exec(line) ?? [];
  return Number(row) * 1000 + Number(column);
}

describe('refused in signalbox/v1, accepted with its closed reading in v1alpha1', () => {
  test.each(rows)('$title', (row) => {
    const strict = told(configText(native, row.spec));
    const tolerant = told(configText(promptkit, row.spec));
    expect(strict).toEqual({ config: undefined, problems: linesOf(row, 'native') });
    expect({ loads: tolerant.config !== undefined, problems: tolerant.problems }).toEqual({
      loads: true,
      problems: linesOf(row, 'promptkit'),
    });
  });
});
