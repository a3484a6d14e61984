import { describe, expect, test } from 'vitest';
import { configText, native, promptkit, told } from './told.ts';

const rows = [
  {
    title: 'an infinite timeout [PK-9-29]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: .inf}`,
    loads: false,
    problems: ['error 5:37 evals[rude].timeout_ms: must be a whole number, not the number Infinity'],
  },
  {
    title: 'an undeclared sandbox of a hook [PK-9-28]',
    spec: `
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, sandbox: box}`,
    loads: false,
    problems: [
      'error 5:67 hooks[guard].sandbox: the sandbox "box" is not declared under spec.sandboxes | Declare it, such as `sandboxes: {box: {mode: bubblewrap}}`, or remove `sandbox`.',
    ],
  },
  {
    title: 'an undeclared selector [PK-9-28]',
    spec: `
selectors: {near: }
skills: {selector: nera}
tool_selector: other`,
    loads: false,
    problems: [
      'warning 4:3 selectors: is accepted and not used',
      'warning 5:3 skills: is accepted and not used',
      'error 5:22 skills.selector: references a selector not declared under spec.selectors | did you mean `near`?',
      'warning 6:3 tool_selector: is accepted and not used',
      'error 6:18 tool_selector: references a selector not declared under spec.selectors',
    ],
  },
  {
    title: 'null hook and eval entries [PK-9-24]',
    spec: `
evals:
  rude:
hooks:
  guard: ~`,
    loads: false,
    problems: [
      'error 5:5 evals[rude]: must be a mapping, not nothing',
      'error 7:12 hooks[guard]: must be a mapping, not nothing',
    ],
  },
  {
    title: 'entries that are no mapping [PK-9-24]',
    spec: `
tools: {t: 5}
evals: {rude: sh}
hooks: {guard: [sh]}
sandboxes: {box: direct}`,
    loads: false,
    problems: [
      'error 4:14 tools[t]: must be a mapping, not the number 5',
      'error 5:17 evals[rude]: must be a mapping, not the string "sh"',
      'error 6:18 hooks[guard]: must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
      'error 7:20 sandboxes[box]: must be a mapping, not the string "direct"',
    ],
  },
  {
    title: 'an eval and a hook without a command [PK-9-26 PK-9-05]',
    spec: `
evals:
  rude: {args: [x]}
  empty: {command: ""}
hooks:
  guard: {hook: tool, dialect: promptkit}
  nothing: {command: null, hook: tool, dialect: promptkit}`,
    loads: false,
    problems: [
      'error 5:5 evals[rude].command: eval command is required | Add `command: ./PROGRAM`.',
      'error 6:22 evals[empty].command: eval command is required | Add `command: ./PROGRAM`.',
      'error 8:5 hooks[guard].command: hook command is required | Add `command: ./PROGRAM`.',
      'error 9:24 hooks[nothing].command: hook command is required | Add `command: ./PROGRAM`.',
    ],
  },
  {
    title: 'a hook without a kind, and with another [PK-9-26 PK-9-05]',
    spec: `
hooks:
  guard: {command: sh, dialect: promptkit}
  empty: {command: sh, hook: "", dialect: promptkit}
  y: {command: sh, hook: y, dialect: promptkit}`,
    loads: false,
    problems: [
      'error 5:5 hooks[guard].hook: hook type is required (provider, tool, session, or eval) | Add `hook: …`.',
      'error 6:32 hooks[empty].hook: hook type is required (provider, tool, session, or eval) | Add `hook: …`.',
      'error 7:28 hooks[y].hook: must be one of: provider, tool, session, eval (got: y)',
    ],
  },
  {
    title: 'a provider without type and model [PK-9-27 PK-9-05]',
    spec: `
providers:
  - {id: a}
  - {type: "", model: }
  -`,
    loads: false,
    problems: [
      'error 5:7 providers[0].type: provider type is required | Add `type: …`, such as openai, anthropic or mock.',
      'error 5:7 providers[0].model: provider model is required | Add `model: …`.',
      'error 6:14 providers[1].type: provider type is required | Add `type: …`, such as openai, anthropic or mock.',
      'error 6:18 providers[1].model: provider model is required | Add `model: …`.',
      'error 7:6 providers[2]: must be a mapping, not nothing',
    ],
  },
  {
    title: 'a sandbox without a mode [PK-9-05]',
    spec: `
sandboxes:
  box: {image: alpine}
  empty: {mode: ""}`,
    loads: false,
    problems: [
      'error 5:5 sandboxes[box].mode: sandbox mode is required | Add `mode: …`.',
      'error 6:19 sandboxes[empty].mode: sandbox mode is required | Add `mode: …`.',
    ],
  },
  {
    title: 'a timeout as text [PK-9-29]',
    spec: `
evals:
  rude: {command: sh, timeout_ms: 5s}`,
    loads: false,
    problems: [
      'error 5:37 evals[rude].timeout_ms: must be a whole number, not the string "5s" | The unit is milliseconds: write 5000.',
    ],
  },
  {
    title: 'a scalar where a list belongs [PK-9-29]',
    spec: `
evals:
  rude: {command: sh, args: -v, env: HOME}
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, phases: before_execution}
providers: main`,
    loads: false,
    problems: [
      'error 5:31 evals[rude].args: must be a list, not the string "-v" | Write [-v].',
      'error 5:40 evals[rude].env: must be a list, not the string "HOME" | Write [HOME].',
      'error 7:66 hooks[guard].phases: must be a list, not the string "before_execution" | Write [before_execution].',
      'error 8:14 providers: must be a list, not the string "main" | Write [main].',
    ],
  },
  {
    title: 'a mapping for env [PK-9-29]',
    spec: `
evals:
  rude: {command: sh, env: {HOME: /}}`,
    loads: false,
    problems: [
      'error 5:30 evals[rude].env: must be a list, not a mapping | Write a list of NAME or NAME=value, such as [LANG=en].',
    ],
  },
  {
    title: 'a list where a mapping belongs [PK-9-29]',
    spec: `
tools: [t]
hooks: []
logging: []`,
    loads: false,
    problems: [
      'error 4:10 tools: must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
      'error 5:10 hooks: must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
      'error 6:12 logging: must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
    ],
  },
  {
    title: 'null everywhere that it means nothing [PK-9-31]',
    spec: `
tools: {t: }
sandboxes: {box: }
selectors: {near: }
evals:
providers:
logging:
defaults:`,
    loads: true,
    problems: [
      'warning 4:11 tools[t]: has no exec binding: it is listed, but a call of it fails | Add `exec: {command: …}` to make it run.',
      'warning 6:3 selectors: is accepted and not used',
    ],
  },
  {
    title: 'a logging word nobody knows',
    spec: `
logging: {defaultLevel: loud, format: xml}`,
    loads: false,
    problems: [
      'error 4:27 logging.defaultLevel: must be one of: trace, debug, info, warn, error (got: loud)',
      'error 4:41 logging.format: must be one of: json, text (got: xml)',
    ],
  },
  {
    title: 'keys of servers on a one-shot entry',
    spec: `
evals:
  rude: {command: sh, instances: 2, warm: true}
  polite: {command: sh, runtime: server, instances: 2, warm: true}`,
    loads: false,
    problems: [
      'error 5:36 evals[rude].instances: needs `runtime: server` | A one-shot process does not stay: add `runtime: server` or remove the key.',
      'error 5:45 evals[rude].warm: needs `runtime: server` | Add it, or write how many one-shot processes wait for their requests, such as `warm: 2`.',
    ],
  },
  {
    title: '`modifies` in a word, of an observer, and of a hook of another system',
    spec: `
hooks:
  guard: {command: sh, dialect: promptkit, hook: tool, modifies: never}
  fine: {command: sh, dialect: promptkit, hook: tool, mode: shadow, modifies: false}
  told: {command: sh, dialect: promptkit, hook: session, modifies: false}
  seen: {command: sh, dialect: promptkit, hook: tool, mode: observe, modifies: false}
  gate: {command: sh, dialect: claude, claude: {event: PreToolUse}, on_failure: deny, modifies: false}`,
    loads: false,
    problems: [
      'error 5:68 hooks[guard].modifies: must be true or false, not the string "never"',
      'error 7:70 hooks[told].modifies: cannot be set on a hook that only observes | Remove it: the answer of such a hook is not read.',
      'error 8:82 hooks[seen].modifies: cannot be set on a hook that only observes | Remove it: the answer of such a hook is not read.',
      'error 9:99 hooks[gate].modifies: cannot be combined with `dialect: claude` | The rules of its system say which of its hooks run at the same time.',
    ],
  },
  {
    title: 'numbers of waiting processes where there can be none',
    spec: `
evals:
  rude: {command: sh, warm: 3}
  polite: {command: sh, runtime: server, warm: 3}
tools:
  news: {dialect: chibi, exec: {command: sh, warm: 2}}
hooks:
  gate: {command: sh, dialect: claude, claude: {event: PreToolUse}, warm: 2}`,
    loads: false,
    problems: [
      'error 6:50 evals[polite].warm: must be true or false with this `runtime` | true starts the process with the runtime; `instances` sets the number of processes of a server.',
      'error 8:54 tools[news].exec.warm: cannot be a number with dialect chibi | Its programs get their own variables with each event, or are lines for a shell, whose files cannot be watched for changes.',
      'note 10:5 hooks[gate]: lets the event pass when it fails: an exit code other than 0 and 2, an answer that is not valid, a timeout, a failed start | Set `on_failure: deny` to deny the event instead.',
      'error 10:77 hooks[gate].warm: cannot be a number with dialect claude | Its programs get their own variables with each event, or are lines for a shell, whose files cannot be watched for changes.',
    ],
  },
  {
    title: '`batch` of an eval that is no number of cases',
    spec: `
evals:
  rude: {command: sh, batch: 0}
  polite: {command: sh, batch: 2000}
  kind: {command: sh, batch: all}
  fine: {command: sh, batch: 1000}`,
    loads: false,
    problems: [
      'error 5:32 evals[rude].batch: must be at least 1 (got: 0)',
      'error 6:34 evals[polite].batch: must be at most 1000 (got: 2000)',
      'error 7:32 evals[kind].batch: must be a whole number, not the string "all"',
    ],
  },
  {
    title: 'native keys with impossible values [PK-9-08]',
    spec: `
concurrency: 0
defaults: {timeout_ms: 0, max_output_bytes: 1.5, grace_ms: -1, leftovers: drop}
evals:
  rude: {command: sh, concurrency: 0, max_output_bytes: "10", grace_ms: -1, leftovers: maybe, on_failure: allow, cwd: "", dialect: chinese}`,
    loads: false,
    problems: [
      'error 4:16 concurrency: must be at least 1 (got: 0)',
      'error 5:26 defaults.timeout_ms: must be at least 1 (got: 0)',
      'error 5:47 defaults.max_output_bytes: must be a whole number, not the number 1.5',
      'error 5:62 defaults.grace_ms: must be at least 0 (got: -1)',
      'error 5:77 defaults.leftovers: must be one of: kill, keep (got: drop)',
      'error 7:38 evals[rude].concurrency: must be at least 1 (got: 0)',
      'error 7:59 evals[rude].max_output_bytes: must be a whole number, not the string "10" | Write 10, without quotes.',
      'error 7:75 evals[rude].grace_ms: must be at least 0 (got: -1)',
      'error 7:90 evals[rude].leftovers: must be one of: kill, keep (got: maybe)',
      'error 7:109 evals[rude].on_failure: must be one of: deny (got: allow)',
      'error 7:121 evals[rude].cwd: must not be empty',
      'error 7:134 evals[rude].dialect: must be one of: promptkit, promptkit-go (got: chinese)',
    ],
  },
  {
    title: 'limits that there are not, and dialects where they have no place',
    spec: `
imports: [./hooks.json]
tools:
  t: {exec: {command: sh, limits: {memory: 1}}}
evals:
  rude: {command: sh, dialect: agentao, limits: {}}
hooks:
  guard: {command: sh, hook: tool, dialect: claude}`,
    loads: false,
    problems: [
      'error 4:13 imports[0]: must be a mapping, not the string "./hooks.json"',
      'error 6:38 tools[t].exec.limits.memory: unknown key | did you mean `memory_mb`?',
      'error 8:34 evals[rude].dialect: must be one of: promptkit, promptkit-go (got: agentao)',
      'error 10:5 hooks[guard].claude: is required | Name the event: claude: {event: PreToolUse}.',
      'error 10:32 hooks[guard].hook: cannot be combined with `dialect: claude` | `claude.event` says when the handler runs.',
    ],
  },
  {
    title: 'sections without effect [PK-9-40]',
    spec: `
embedding_providers: [5]
tts_providers: what
stt_providers: {}
inference_providers: []
selectors: {near: 5}
skills: {selector: near}
tool_selector: near`,
    loads: true,
    problems: [
      'warning 4:3 embedding_providers: is accepted and not used',
      'warning 5:3 tts_providers: is accepted and not used',
      'warning 6:3 stt_providers: is accepted and not used',
      'warning 7:3 inference_providers: is accepted and not used',
      'warning 8:3 selectors: is accepted and not used',
      'warning 9:3 skills: is accepted and not used',
      'warning 10:3 tool_selector: is accepted and not used',
    ],
  },
  {
    title: 'keys of a provider without effect [PK-9-34]',
    spec: `
providers:
  - {type: openai, model: m, voice: alloy, rate_limit: {rps: 1}, stream_retry: {}, platform: {type: bedrock}, defaults: {prompt_caching: false}}`,
    loads: true,
    problems: [
      'warning 5:32 providers[0].voice: is accepted and not used',
      'warning 5:86 providers[0].platform: the provider is refused when it is used: its platform bedrock is not supported',
      'warning 5:124 providers[0].defaults.prompt_caching: is accepted and not used',
    ],
  },
  {
    title: 'tools without exec [PK-9-35]',
    spec: `
tools:
  t: {description: x, mode: mock, mock_result: {a: 1}, name: other}
  u: {http: {url: x}, mock_template: x, mock_parts: [], client: {}, name: u}`,
    loads: true,
    problems: [
      'warning 5:5 tools[t]: has no exec binding: it is listed, but a call of it fails | Add `exec: {command: …}` to make it run.',
      'warning 5:37 tools[t].mock_result: is accepted and not used',
      'warning 5:58 tools[t].name: is not used: the tool is called t',
      'warning 6:5 tools[u]: has no exec binding: it is listed, but a call of it fails | Add `exec: {command: …}` to make it run.',
      'warning 6:9 tools[u].http: is accepted and not used',
      'warning 6:25 tools[u].mock_template: is accepted and not used',
      'warning 6:43 tools[u].mock_parts: is accepted and not used',
      'warning 6:59 tools[u].client: is accepted and not used',
    ],
  },
  {
    title: 'logging modules [PK-9-41]',
    spec: `
logging: {defaultLevel: debug, format: json, commonFields: {app: desk, version: 1.10}, modules: [{name: x}]}`,
    loads: true,
    problems: ['warning 4:90 logging.modules: is accepted and not used'],
  },
  {
    title: 'a sandbox of another mode [PK-9-37 PK-9-38]',
    spec: `
sandboxes: {box: {mode: docker_rum, image: 5}, none: {mode: direct}, empty: }
tools:
  t: {exec: {command: sh, sandbox: box}}
evals:
  rude: {command: sh, sandbox: empty}
  fine: {command: sh, sandbox: none}
hooks:
  guard: {command: sh, hook: tool, dialect: promptkit, sandbox: box}`,
    loads: true,
    problems: [
      'warning 6:38 tools[t].exec.sandbox: its sandbox "box" has the unknown mode docker_rum; it never starts: a call of the tool fails',
      'warning 8:34 evals[rude].sandbox: its sandbox "empty" has no mode; it never starts: the eval stays unscored',
      'warning 11:67 hooks[guard].sandbox: its sandbox "box" has the unknown mode docker_rum; it never starts: a filter denies',
    ],
  },
];

describe.each([native, promptkit])('%s', (apiVersion) => {
  test.each(rows)('$title', ({ spec, loads, problems }) => {
    const { config, problems: found } = told(configText(apiVersion, spec));
    expect({ loads: config !== undefined, problems: found }).toEqual({ loads, problems });
  });
});
