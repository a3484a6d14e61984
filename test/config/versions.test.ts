import { describe, expect, test } from 'vitest';
import { configText, native, promptkit, told } from './told.ts';

/** What `signalbox/v1` refuses and a PromptKit file may say: an error there, at most a warning here. */
const rows = [
  {
    title: 'an unknown key of an entry [PK-9-06 PK-9-07]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, timout_ms: 5, zebra: 1}`,
    native: [
      'error 5:58 hooks[guard].timout_ms: unknown key | did you mean `timeout_ms`?',
      'error 5:72 hooks[guard].zebra: unknown key | known keys: command, args, runtime, env, dialect, timeout_ms, max_output_bytes, grace_ms, leftovers, limits, nice, sandbox, cwd, concurrency, instances, warm, on_failure, url, headers, ca, hook, phases, mode, modifies, match, external, picoclaw, claude, agentao',
    ],
    promptkit: [
      'warning 5:58 hooks[guard].timout_ms: unknown key; it is ignored | did you mean `timeout_ms`?',
      'warning 5:72 hooks[guard].zebra: unknown key; it is ignored | known keys: command, args, runtime, env, dialect, timeout_ms, max_output_bytes, grace_ms, leftovers, limits, nice, sandbox, cwd, concurrency, instances, warm, on_failure, url, headers, ca, hook, phases, mode, modifies, match, external, picoclaw, claude, agentao',
    ],
  },
  {
    title: 'an unknown key at the top of spec [PK-9-06 PK-9-07]',
    spec: `
hook: {}`,
    native: ['error 4:3 hook: unknown key | did you mean `hooks`?'],
    promptkit: ['warning 4:3 hook: unknown key; it is ignored | did you mean `hooks`?'],
  },
  {
    title: 'an unknown key deep in a provider [PK-9-06 PK-9-07]',
    spec: `
providers:
  - {type: openai, model: m, credential: {credentials_env: KEY}}`,
    native: [
      'error 5:45 providers[0].credential.credentials_env: unknown key | did you mean `credential_env`?',
    ],
    promptkit: [
      'warning 5:45 providers[0].credential.credentials_env: unknown key; it is ignored | did you mean `credential_env`?',
    ],
  },
  {
    title: 'empty phases [PK-9-09 PK-9-10]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: []}`,
    native: ['error 5:66 hooks[guard].phases: must not be empty'],
    promptkit: [
      'warning 5:66 hooks[guard].phases: must not be empty; the hook runs at every phase of its type',
    ],
  },
  {
    title: 'an unknown phase [PK-9-09 PK-9-10]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: [before_execution, before_exec]}`,
    native: [
      'error 5:85 hooks[guard].phases[1]: must be one of: before_execution, after_execution (got: before_exec) | did you mean `before_execution`?',
    ],
    promptkit: [
      'warning 5:85 hooks[guard].phases[1]: must be one of: before_execution, after_execution (got: before_exec); the hook runs at every phase of its type | did you mean `before_execution`?',
    ],
  },
  {
    title: 'a phase of another hook [PK-9-09 PK-9-10]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: [before_call]}`,
    native: [
      'error 5:67 hooks[guard].phases[0]: must be one of: before_execution, after_execution (got: before_call)',
    ],
    promptkit: [
      'warning 5:67 hooks[guard].phases[0]: must be one of: before_execution, after_execution (got: before_call); the hook runs at every phase of its type',
    ],
  },
  {
    title: 'a phase of an eval hook [PK-9-09 PK-9-10]',
    spec: `
hooks:
  told: {command: sh, hook: eval, phases: [before_call]}`,
    native: ['error 5:46 hooks[told].phases[0]: must be one of: scored (got: before_call)'],
    promptkit: [
      'warning 5:46 hooks[told].phases[0]: must be one of: scored (got: before_call); the hook runs at every phase of its type',
    ],
  },
  {
    title: 'an unknown mode [PK-9-11 PK-9-12]',
    spec: `
hooks:
  guard: {command: sh, hook: provider, dialect: promptkit, mode: fliter}`,
    native: [
      'error 5:68 hooks[guard].mode: must be one of: filter, observe, shadow (got: fliter) | did you mean `filter`?',
    ],
    promptkit: [
      'warning 5:68 hooks[guard].mode: must be one of: filter, observe, shadow (got: fliter); it is read as filter | did you mean `filter`?',
    ],
  },
  {
    title: 'an unknown mode of an observer [PK-9-11 PK-9-12]',
    spec: `
hooks:
  told: {command: sh, hook: session, dialect: promptkit, mode: async}`,
    native: ['error 5:66 hooks[told].mode: must be one of: observe (got: async)'],
    promptkit: ['warning 5:66 hooks[told].mode: must be one of: observe (got: async); it is read as observe'],
  },
  {
    title: 'a session hook that filters [PK-9-13 PK-9-14]',
    spec: `
hooks:
  told: {command: sh, hook: session, dialect: promptkit, mode: filter}`,
    native: [
      'error 5:66 hooks[told].mode: session hooks only observe: they are told what has happened, and no answer is waited for (got: filter) | Use `mode: observe`, or leave `mode` out.',
    ],
    promptkit: [
      'warning 5:66 hooks[told].mode: session hooks only observe: they are told what has happened, and no answer is waited for (got: filter); it is read as observe | Use `mode: observe`, or leave `mode` out.',
    ],
  },
  {
    title: 'an eval hook in the shadow [PK-9-13 PK-9-14]',
    spec: `
hooks:
  told: {command: sh, hook: eval, mode: shadow}`,
    native: [
      'error 5:43 hooks[told].mode: eval hooks only observe: they are told what has happened, and no answer is waited for (got: shadow) | Use `mode: observe`, or leave `mode` out.',
    ],
    promptkit: [
      'warning 5:43 hooks[told].mode: eval hooks only observe: they are told what has happened, and no answer is waited for (got: shadow); it is read as observe | Use `mode: observe`, or leave `mode` out.',
    ],
  },
  {
    title: 'an unknown runtime [PK-9-15]',
    spec: `
evals:
  rude: {command: sh, runtime: daemon}`,
    native: ['error 5:34 evals[rude].runtime: must be one of: exec, server, fork (got: daemon)'],
    promptkit: [
      'warning 5:34 evals[rude].runtime: must be one of: exec, server, fork (got: daemon); it is read as exec',
    ],
  },
  {
    title: 'a timeout of 0 [PK-9-16 PK-9-17]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 0}`,
    native: ['error 5:37 evals[rude].timeout_ms: must be at least 1 (got: 0)'],
    promptkit: ['warning 5:37 evals[rude].timeout_ms: must be at least 1 (got: 0); the default applies'],
  },
  {
    title: 'a negative timeout of a tool [PK-9-16 PK-9-17]',
    spec: `
tools:
  t: {timeout_ms: -1, exec: {command: sh}}`,
    native: ['error 5:21 tools[t].timeout_ms: must be at least 1 (got: -1)'],
    promptkit: ['warning 5:21 tools[t].timeout_ms: must be at least 1 (got: -1); the default applies'],
  },
  {
    title: 'a fractional timeout [PK-9-16 PK-9-17]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 1500.9}`,
    native: ['error 5:37 evals[rude].timeout_ms: must be a whole number, not the number 1500.9'],
    promptkit: [
      'warning 5:37 evals[rude].timeout_ms: must be a whole number, not the number 1500.9; it is read as 1500',
    ],
  },
  {
    title: 'a timeout between 0 and 1 [PK-9-16 PK-9-17]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 0.5}`,
    native: ['error 5:37 evals[rude].timeout_ms: must be a whole number, not the number 0.5'],
    promptkit: [
      'warning 5:37 evals[rude].timeout_ms: must be a whole number, not the number 0.5; the default applies',
    ],
  },
  {
    title: 'a timeout longer than a timer can wait [PK-9-16]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 9999999999}`,
    native: ['error 5:37 evals[rude].timeout_ms: must be at most 2147483647 (got: 9999999999)'],
    promptkit: [
      'warning 5:37 evals[rude].timeout_ms: must be at most 2147483647 (got: 9999999999); it is read as 2147483647',
    ],
  },
  {
    title: 'an empty command of a tool [PK-9-18]',
    spec: `
tools:
  t: {exec: {command: ""}}`,
    native: ['error 5:25 tools[t].exec.command: exec command is required'],
    promptkit: ['warning 5:25 tools[t].exec.command: exec command is required; a call of the tool fails'],
  },
  {
    title: 'a tool whose exec lacks a command [PK-9-18]',
    spec: `
tools:
  t: {exec: {args: [x]}}`,
    native: ['error 5:9 tools[t].exec.command: exec command is required'],
    promptkit: ['warning 5:9 tools[t].exec.command: exec command is required; a call of the tool fails'],
  },
  {
    title: 'a tool whose command is null [PK-9-18]',
    spec: `
tools:
  t:
    exec:
      command:`,
    native: ['error 7:9 tools[t].exec.command: exec command is required'],
    promptkit: ['warning 7:9 tools[t].exec.command: exec command is required; a call of the tool fails'],
  },
  {
    title: 'two providers with one id [PK-9-20]',
    spec: `
providers:
  - {id: main, type: openai, model: a}
  - {id: main, type: openai, model: b}
  - {type: openai, model: b}
  - {type: openai, model: b}`,
    native: [
      'error 6:12 providers[1].id: another provider already has the id main | Give each provider an id of its own.',
      'error 8:14 providers[3].type: another provider already has the id openai | A provider without `id` is called by its type: give each an id of its own.',
    ],
    promptkit: [
      'warning 6:12 providers[1].id: another provider already has the id main; the first one counts | Give each provider an id of its own.',
      'warning 8:14 providers[3].type: another provider already has the id openai; the first one counts | A provider without `id` is called by its type: give each an id of its own.',
    ],
  },
  {
    title: 'a request timeout that is no duration',
    spec: `
providers:
  - {id: a, type: openai, model: m, request_timeout: 90}
  - {id: b, type: openai, model: m, request_timeout: soon}
  - {id: c, type: openai, model: m, request_timeout: 0s}
  - {id: d, type: openai, model: m, defaults: {max_tokens: 0}}`,
    native: [
      'error 5:56 providers[0].request_timeout: must be a string, not the number 90 | Name the unit: 90s, 90m or 90h.',
      'error 6:56 providers[1].request_timeout: must be a duration such as 90s, 1m30s or 24h (got: soon)',
      'error 7:56 providers[2].request_timeout: must be a duration such as 90s, 1m30s or 24h (got: 0s)',
      'error 8:62 providers[3].defaults.max_tokens: must be at least 1 (got: 0)',
    ],
    promptkit: [
      'warning 5:56 providers[0].request_timeout: must be a string, not the number 90; the default applies | Name the unit: 90s, 90m or 90h.',
      'warning 6:56 providers[1].request_timeout: must be a duration such as 90s, 1m30s or 24h (got: soon); the default applies',
      'warning 7:56 providers[2].request_timeout: must be a duration such as 90s, 1m30s or 24h (got: 0s); the default applies',
      'warning 8:62 providers[3].defaults.max_tokens: must be at least 1 (got: 0); the default applies',
    ],
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
    native: [
      'error 5:7 providers[0].additional_config.responses: is required',
      'error 11:45 providers[1].additional_config.responses[0].txt: unknown key | did you mean `text`?',
      'error 17:20 providers[2].additional_config.responses[0].when: `${nobody == 1}` is no expression: Unknown variable: nobody',
    ],
    promptkit: [
      'warning 5:7 providers[0].additional_config.responses: is required; a call of the provider fails',
      'warning 11:45 providers[1].additional_config.responses[0].txt: unknown key; a call of the provider fails | did you mean `text`?',
      'warning 17:20 providers[2].additional_config.responses[0].when: `${nobody == 1}` is no expression: Unknown variable: nobody; a call of the provider fails',
    ],
  },
  {
    title: 'a store that is not supported',
    spec: `
state_store: {type: redis, redis: {address: localhost:6379}}`,
    native: [
      'error 4:23 state_store.type: redis is not supported | Use `type: sqlite`, which several processes on one machine may share.',
    ],
    promptkit: [
      'warning 4:23 state_store.type: redis is not supported; whatever needs the store fails | Use `type: sqlite`, which several processes on one machine may share.',
    ],
  },
  {
    title: 'a store that nobody knows',
    spec: `
state_store: {type: etcd}`,
    native: ['error 4:23 state_store.type: must be one of: sqlite, postgres, memory, file (got: etcd)'],
    promptkit: [
      'warning 4:23 state_store.type: must be one of: sqlite, postgres, memory, file (got: etcd); whatever needs the store fails',
    ],
  },
  {
    title: 'an undeclared sandbox of a tool [PK-9-21 PK-9-22]',
    spec: `
sandboxes: {docker: {mode: direct}}
tools:
  t: {exec: {command: sh, sandbox: dokcer}}`,
    native: [
      'error 6:38 tools[t].exec.sandbox: the sandbox "dokcer" is not declared under spec.sandboxes | did you mean `docker`?',
    ],
    promptkit: [
      'warning 6:38 tools[t].exec.sandbox: the sandbox "dokcer" is not declared under spec.sandboxes; it never starts: a call of the tool fails | did you mean `docker`?',
    ],
  },
  {
    title: 'an undeclared sandbox of an eval [PK-9-21 PK-9-22]',
    spec: `
evals:
  rude: {command: sh, sandbox: box}`,
    native: [
      'error 5:34 evals[rude].sandbox: the sandbox "box" is not declared under spec.sandboxes | Declare it, such as `sandboxes: {box: {mode: bubblewrap}}`, or remove `sandbox`.',
    ],
    promptkit: [
      'warning 5:34 evals[rude].sandbox: the sandbox "box" is not declared under spec.sandboxes; it never starts: the eval stays unscored | Declare it, such as `sandboxes: {box: {mode: bubblewrap}}`, or remove `sandbox`.',
    ],
  },
  {
    title: 'an env entry that is no name',
    spec: `
evals:
  rude: {command: sh, env: ["A B", "1A=x", OK, "X=a b=c"]}`,
    native: [
      'error 5:31 evals[rude].env[0]: must be a name or NAME=value (got: A B)',
      'error 5:38 evals[rude].env[1]: must be a name or NAME=value (got: 1A=x)',
    ],
    promptkit: [
      'warning 5:31 evals[rude].env[0]: must be a name or NAME=value (got: A B); it is left out',
      'warning 5:38 evals[rude].env[1]: must be a name or NAME=value (got: 1A=x); it is left out',
    ],
  },
  {
    title: 'null keys of an entry',
    spec: `
evals:
  rude: {command: sh, args: , env: , timeout_ms: , runtime: , sandbox: }`,
    native: [
      'error 5:25 evals[rude].args: must be a list, not nothing',
      'error 5:33 evals[rude].env: must be a list, not nothing',
      'error 5:40 evals[rude].timeout_ms: must be a whole number, not nothing',
      'error 5:54 evals[rude].runtime: must be one of: exec, server, fork (got: nothing)',
      'error 5:65 evals[rude].sandbox: must be a string, not nothing',
    ],
    promptkit: [],
  },
  {
    title: 'empty texts',
    spec: `
evals:
  rude: {command: sh, sandbox: ""}
logging: {defaultLevel: "", format: ""}
providers: [{id: "", type: ollama, model: b}]`,
    native: [
      'error 5:34 evals[rude].sandbox: must not be empty',
      'error 6:27 logging.defaultLevel: must be one of: trace, debug, info, warn, error (got: an empty string)',
      'error 6:39 logging.format: must be one of: json, text (got: an empty string)',
      'error 7:20 providers[0].id: must not be empty',
    ],
    promptkit: [],
  },
  {
    title: 'numbers where texts belong',
    spec: `
tools:
  t: {description: 5}
providers: [{id: 7, type: 1, model: 4.10}]`,
    native: [
      'warning 5:5 tools[t]: has no exec binding: it is listed, and a call of it fails | Add `exec: {command: …}` to make it run.',
      'error 5:22 tools[t].description: must be a string, not the number 5 | Write "5", with quotes.',
      'error 6:20 providers[0].id: must be a string, not the number 7 | Write "7", with quotes.',
      'error 6:29 providers[0].type: must be a string, not the number 1 | Write "1", with quotes.',
      'error 6:39 providers[0].model: must be a string, not the number 4.1 | Write "4.1", with quotes.',
    ],
    promptkit: [
      'warning 5:5 tools[t]: has no exec binding: it is listed, and a call of it fails | Add `exec: {command: …}` to make it run.',
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
    native: [
      'error 5:23 tools[t].input_schema: must be a mapping or true or false, not the string "text"',
      'error 6:23 tools[u].input_schema: is no JSON Schema that can be used: `type` must be one of: array, boolean, integer, null, number, object, string (got: strng), did you mean `string`?',
      "error 6:53 tools[u].output_schema: is no JSON Schema that can be used: can't resolve reference #/nowhere from id #",
      'error 7:24 tools[v].output_schema: is no JSON Schema that can be used: its $schema https://example.com/own is neither 2020-12, 2019-09 nor draft-07',
      'error 8:24 tools[w].output_schema: is no JSON Schema that can be used: it is asynchronous ($async)',
    ],
    promptkit: [
      'warning 5:23 tools[t].input_schema: must be a mapping or true or false, not the string "text"; a call of the tool fails',
      'warning 6:23 tools[u].input_schema: is no JSON Schema that can be used: `type` must be one of: array, boolean, integer, null, number, object, string (got: strng), did you mean `string`?; a call of the tool fails',
      "warning 6:53 tools[u].output_schema: is no JSON Schema that can be used: can't resolve reference #/nowhere from id #; a call of the tool fails",
      'warning 7:24 tools[v].output_schema: is no JSON Schema that can be used: its $schema https://example.com/own is neither 2020-12, 2019-09 nor draft-07; a call of the tool fails',
      'warning 8:24 tools[w].output_schema: is no JSON Schema that can be used: it is asynchronous ($async); a call of the tool fails',
    ],
  },
  {
    title: 'a tool whose mode is not exec',
    spec: `
tools:
  t: {mode: mock, exec: {command: sh}}
  u: {mode: exec, exec: {command: sh}}`,
    native: ['error 5:15 tools[t].mode: must be exec where the tool has an exec binding (got: mock)'],
    promptkit: [
      'warning 5:15 tools[t].mode: must be exec where the tool has an exec binding (got: mock); a call of the tool fails',
    ],
  },
  {
    title: 'a NUL character',
    spec: `
evals:
  rude: {command: sh, args: ["a\\0b"]}`,
    native: ['error 5:32 evals[rude].args[0]: must not contain a NUL character'],
    promptkit: [
      'warning 5:32 evals[rude].args[0]: must not contain a NUL character; it never starts: the eval stays unscored',
    ],
  },
];

describe('refused in signalbox/v1, taken with its closed reading in v1alpha1', () => {
  test.each(rows)('$title', ({ spec, native: errors, promptkit: warnings }) => {
    const strict = told(configText(native, spec));
    const tolerant = told(configText(promptkit, spec));
    expect(strict).toEqual({ config: undefined, problems: errors });
    expect({ loads: tolerant.config !== undefined, problems: tolerant.problems }).toEqual({
      loads: true,
      problems: warnings,
    });
  });
});
