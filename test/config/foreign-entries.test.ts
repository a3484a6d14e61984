import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { configText, folder, line, native, promptkit, searchPath, told, write } from './told.ts';

write('guard.sh', 'exit 0');
const claudeOpen =
  'lets the event pass when it fails: an exit code other than 0 and 2, an answer that is not valid, a timeout, a failed start | Set `on_failure: deny` to deny the event instead.';
const agentaoOpen =
  'lets the event pass when it fails: an exit code other than 0, an answer that was cut off, a timeout, a failed start | Set `on_failure: deny` to deny the event instead.';

function hooks(spec: string) {
  return told(configText(native, `\nhooks:\n  h: ${spec}`));
}

describe('an entry of spec.hooks', () => {
  test.each([
    {
      title: 'a Claude Code handler in the shell form',
      spec: '{dialect: claude, command: ./guard.sh, env: [T], timeout_ms: 5, on_failure: deny, claude: {event: PreToolUse, matcher: Bash, if: "Bash(rm *)"}}',
      onFailure: 'deny',
      exec: { command: './guard.sh', env: ['T'], dialect: 'claude', timeoutMs: 5 },
      settings: {
        event: 'PreToolUse',
        matcher: 'Bash',
        condition: 'Bash(rm *)',
        isAsync: false,
        shell: 'sh',
        stopCap: 8,
        projectDir: folder,
      },
    },
    {
      title: 'one in the exec form, from a plugin',
      spec: '{dialect: claude, command: sh, args: [], env: [CLAUDE_PROJECT_DIR=p, CLAUDE_PLUGIN_ROOT=p/q], claude: {event: Notification, async: true, stop_cap: 0}}',
      exec: { command: 'sh', env: ['CLAUDE_PROJECT_DIR=p', 'CLAUDE_PLUGIN_ROOT=p/q'], dialect: 'claude' },
      settings: {
        event: 'Notification',
        isAsync: true,
        stopCap: 0,
        projectDir: join(folder, 'p'),
        pluginRoot: join(folder, 'p/q'),
        pluginData: join(folder, '.signalbox/plugins/q'),
      },
    },
    {
      title: 'an Agentao command',
      spec: '{dialect: agentao, command: cat, agentao: {event: SessionEnd, matcher: {tool_name: x}, stop_reentry_cap: 0}}',
      exec: { command: 'cat', env: [], dialect: 'agentao' },
      settings: {
        event: 'SessionEnd',
        matcher: { tool_name: 'x' },
        command: 'cat',
        stopReentryCap: 0,
        projectDir: folder,
      },
    },
    {
      title: 'a PicoClaw process with the limit of the entry',
      spec: '{dialect: picoclaw, command: sh, timeout_ms: 7, picoclaw: {version: head, event_kind: name, lenient: true, intercept: [approve_tool], observe: ["*"], dir: d, interceptor_timeout_ms: 9}}',
      exec: { command: 'sh', env: [], dialect: 'picoclaw', runtime: 'server', timeoutMs: 7, cwd: 'd' },
      settings: {
        version: 'head',
        eventKind: 'name',
        isLenient: true,
        helloTimeoutMs: 5000,
        intercept: ['approve_tool'],
        observe: ['*'],
        interceptorTimeoutMs: 7,
        approvalTimeoutMs: 60_000,
        observerTimeoutMs: 500,
      },
    },
    {
      title: 'a PicoClaw process with an empty method among the others, which is skipped [PC-2-33]',
      spec: '{dialect: picoclaw, command: sh, picoclaw: {intercept: ["", approve_tool]}}',
      exec: { command: 'sh', env: [], dialect: 'picoclaw', runtime: 'server', timeoutMs: 5000 },
      settings: {
        version: '0.2.8-doc',
        eventKind: 'number',
        isLenient: false,
        helloTimeoutMs: 5000,
        intercept: ['approve_tool'],
        observe: [],
        interceptorTimeoutMs: 5000,
        approvalTimeoutMs: 60_000,
        observerTimeoutMs: 500,
      },
    },
    {
      title: 'the short form of a PicoClaw pair',
      spec: '{dialect: picoclaw, command: sh, on_failure: deny, hook: tool, phases: [after_execution]}',
      onFailure: 'deny',
      exec: { command: 'sh', env: [], dialect: 'picoclaw', runtime: 'server', timeoutMs: 5000 },
      settings: {
        version: '0.2.8-doc',
        eventKind: 'number',
        isLenient: false,
        helloTimeoutMs: 5000,
        intercept: ['after_tool'],
        observe: [],
        interceptorTimeoutMs: 5000,
        approvalTimeoutMs: 60_000,
        observerTimeoutMs: 500,
      },
    },
    {
      title: 'a chibi plugin',
      spec: '{dialect: chibi, command: /bin/sh, on_failure: deny}',
      onFailure: 'deny',
      exec: { command: '/bin/sh', env: [], dialect: 'chibi' },
      settings: { tool: '', points: [], chibiHome: folder, projectRoot: folder },
    },
  ])('$title', ({ spec, exec, settings, onFailure }) => {
    const { config } = hooks(spec);
    const position = { file: join(folder, 'runtime.yaml'), line: 5, column: expect.any(Number) };
    expect(config?.foreign).toEqual([
      {
        name: 'h',
        fileIndex: 0,
        ...(onFailure === undefined ? {} : { onFailure }),
        dialect: exec.dialect,
        source: { ...position, column: 5 },
        exec: { args: [], runtime: 'exec', position, ...exec },
        settings,
      },
    ]);
    expect(config?.hooks).toEqual([]);
  });

  test.each([
    {
      title: 'an http handler starts nothing',
      spec: '{dialect: claude, env: [T], claude: {event: Stop, type: http, url: "https://x.y", headers: {A: $T, B: 1.10}, allowedEnvVars: [T]}}',
      settings: {
        event: 'Stop',
        isAsync: false,
        http: {
          url: 'https://x.y',
          headers: { A: '$T', B: '1.10' },
          allowedEnvVars: ['T'],
          env: ['T'],
        },
        stopCap: 8,
        projectDir: folder,
      },
    },
    {
      title: 'nor does a prompt rule',
      spec: '{dialect: agentao, agentao: {event: UserPromptSubmit, prompt: Be brief.}}',
      settings: { event: 'UserPromptSubmit', prompt: 'Be brief.', stopReentryCap: 3, projectDir: folder },
    },
  ])('$title', ({ spec, settings }) => {
    const [hook] = hooks(spec).config?.foreign ?? [];
    expect({ exec: hook?.exec, settings: hook?.settings }).toEqual({ exec: undefined, settings });
  });

  test('places count native and foreign hooks together', () => {
    const { config } = told(
      configText(
        native,
        '\nhooks:\n  a: {command: sh, hook: tool}\n  b: {dialect: chibi, command: sh}\n  c: {command: sh, hook: tool}',
      ),
    );
    const places = [...(config?.hooks ?? []), ...(config?.foreign ?? [])].map(({ name, fileIndex }) => [
      name,
      fileIndex,
    ]);
    expect(places).toEqual([
      ['a', 0],
      ['c', 2],
      ['b', 1],
    ]);
  });

  test('spec.defaults.on_failure closes every hook', () => {
    const { config, problems } = told(
      configText(native, '\ndefaults: {on_failure: deny}\nhooks:\n  b: {dialect: chibi, command: sh}'),
    );
    expect({ onFailure: config?.foreign.map(({ onFailure }) => onFailure), problems }).toEqual({
      onFailure: ['deny'],
      problems: [],
    });
  });
});

describe('errors of an entry', () => {
  const picoclawHint =
    'intercept takes before_llm, after_llm, before_tool, after_tool and approve_tool; observe kinds of events.';
  const refused = 'asks a model to judge, which Signalbox does not do; use a command or http handler';
  test.each([
    {
      spec: '{dialect: claude, command: sh, claude: {event: PreToolUSe}}',
      errors: [
        'hooks[h].claude.event: is not an event of Claude Code (got: PreToolUSe) | did you mean `PreToolUse`?',
      ],
    },
    {
      spec: '{dialect: claude, command: sh, claude: {event: Stop}, mode: filter}',
      errors: [
        'hooks[h].mode: cannot be combined with `dialect: claude` | `claude.event` says when the handler runs.',
      ],
    },
    {
      spec: '{dialect: claude, command: sh, claude: {event: Stop, type: prompt}}',
      errors: [`hooks[h].claude.type: hook type 'prompt' ${refused} | `],
    },
    {
      spec: '{dialect: claude, command: sh, runtime: server, claude: {event: Stop}}',
      errors: [
        'hooks[h].runtime: must be exec (got: server) | A Claude Code handler starts anew for each event: remove `runtime`.',
      ],
    },
    { spec: '{dialect: claude, claude: {event: Stop}}', errors: ['hooks[h].command: is required'] },
    {
      spec: '{dialect: claude, claude: {event: Stop, type: http}}',
      errors: ['hooks[h].claude.url: is required'],
    },
    {
      spec: '{dialect: claude, command: sh, claude: {event: Stop, type: http, url: "http://x"}}',
      errors: ['hooks[h].command: is not allowed in an http handler'],
    },
    {
      spec: '{dialect: claude, command: sh, args: [], claude: {event: Stop, shell: bash}}',
      errors: ['hooks[h].claude.shell: cannot be combined with `args`, which need no shell'],
    },
    {
      spec: '{dialect: claude, command: "x ${user_config.KEY}", claude: {event: Stop}}',
      errors: [
        'hooks[h].command: ${user_config.…} is not replaced in a shell line | Write $CLAUDE_PLUGIN_OPTION_<KEY>, or use the exec form with `args`.',
      ],
    },
    {
      spec: '{dialect: claude, command: sh, claude: {event: Stop, matchr: x}}',
      errors: ['hooks[h].claude.matchr: unknown key | did you mean `matcher`?'],
    },
    {
      spec: '{dialect: chibi, command: sh, hook: tool, phases: [after_execution]}',
      errors: [
        'hooks[h].hook: cannot be combined with `dialect: chibi` | The plugin’s own --schema says at which points it runs.',
        'hooks[h].phases: cannot be combined with `dialect: chibi` | The plugin’s own --schema says at which points it runs.',
      ],
    },
    {
      spec: '{dialect: chibi, command: sh, claude: {event: Stop}}',
      errors: ['hooks[h].claude: needs `dialect: claude`'],
    },
    {
      spec: '{command: sh, hook: tool, agentao: {event: Stop}}',
      errors: ['hooks[h].agentao: needs `dialect: agentao`'],
    },
    {
      spec: '{dialect: agentao, agentao: {event: Stop}}',
      errors: [
        'hooks[h].command: is required | A rule has a `command`, or `agentao.prompt` at UserPromptSubmit.',
      ],
    },
    {
      spec: '{dialect: agentao, agentao: {event: Stop, prompt: x}}',
      errors: [
        'hooks[h].agentao.prompt: is only for UserPromptSubmit (event: Stop) | Use a `command` instead.',
      ],
    },
    {
      spec: '{dialect: agentao, command: cat, agentao: {event: UserPromptSubmit, prompt: x}}',
      errors: ['hooks[h].command: cannot be combined with agentao.prompt'],
    },
    {
      spec: '{dialect: agentao, command: cat, args: [x], agentao: {event: Stop}}',
      errors: [
        'hooks[h].args: cannot be combined with `dialect: agentao` | `command` is a shell line: write the arguments into it.',
      ],
    },
    {
      spec: '{dialect: picoclaw, command: sh, runtime: exec, hook: tool}',
      errors: [
        'hooks[h].runtime: must be server (got: exec) | A PicoClaw process always keeps running: remove `runtime`.',
      ],
    },
    {
      spec: '{dialect: picoclaw, command: sh}',
      errors: [`hooks[h]: needs picoclaw.intercept or picoclaw.observe | ${picoclawHint}`],
    },
    {
      spec: '{dialect: picoclaw, command: sh, picoclaw: {intercept: []}}',
      errors: [`hooks[h]: needs picoclaw.intercept or picoclaw.observe | ${picoclawHint}`],
    },
    {
      spec: '{dialect: picoclaw, command: sh, picoclaw: {intercept: [""]}}',
      errors: [`hooks[h]: needs picoclaw.intercept or picoclaw.observe | ${picoclawHint}`],
    },
    {
      spec: '{dialect: picoclaw, command: sh, hook: tool, picoclaw: {intercept: [before_llm]}}',
      errors: ['hooks[h].hook: cannot be combined with picoclaw.intercept | Keep one of the two forms.'],
    },
    {
      spec: '{dialect: picoclaw, command: sh, picoclaw: {intercept: [before_lm]}}',
      errors: [
        'hooks[h].picoclaw.intercept[0]: must be one of: before_llm, after_llm, before_tool, after_tool, approve_tool (got: before_lm) | did you mean `before_llm`?',
      ],
    },
    {
      spec: '{dialect: picoclaw, command: sh, picoclaw: {observe: [turn_ends]}}',
      errors: [
        'hooks[h].picoclaw.observe[0]: is not a kind of event of PicoClaw (got: turn_ends) | did you mean `turn_end`?',
      ],
    },
    {
      spec: '{dialect: picoclaw, command: sh, mode: filter, hook: tool}',
      errors: [
        'hooks[h].mode: cannot be combined with `dialect: picoclaw` | `picoclaw.intercept` and `picoclaw.observe` say what it answers and receives.',
      ],
    },
    {
      spec: '{dialect: claude, command: sh gone.sh, claude: {event: Notification}}',
      errors: [
        `hooks[h].command: ${join(folder, 'gone.sh')} does not exist | Without it the hook would block everything, or let everything pass. Relative paths start at \`cwd\`.`,
      ],
    },
  ])('$spec', ({ spec, errors }) => {
    const { config, problems } = hooks(spec);
    const found = problems.filter((each) => each.startsWith('error'));
    expect({ config, found: found.map((each) => each.replace(/^error \d+:\d+ /, '')).toSorted() }).toEqual({
      config: undefined,
      found: errors.map((each) => each.replace(/ \| $/, '')).toSorted(),
    });
  });

  test.each([
    '{dialect: claude, command: sh, claude: {event: Stop}, mode: filter}',
    '{dialect: claude, command: sh, claude: {event: Stop, matchr: x}}',
    '{dialect: picoclaw, command: sh, runtime: exec, hook: tool}',
    '{dialect: agentao, command: cat, on_failure: allow, agentao: {event: Stop}}',
  ])('apply to a file of PromptKit too: %s', (spec) => {
    const { config } = told(configText(promptkit, `\nhooks:\n  h: ${spec}`));
    expect(config).toBeUndefined();
  });
});

describe('a tool', () => {
  test.each(['exec: {command: sh, dialect: chibi}', 'exec: {command: sh}, dialect: chibi'])(
    'speaks chibi: %s',
    (keys) => {
      const { config } = told(
        configText(native, `\ntools:\n  t: {${keys}, category: shell, aliases: [Bash]}`),
      );
      const [tool] = config?.tools ?? [];
      expect([tool?.exec?.dialect, tool?.category, tool?.aliases]).toEqual(['chibi', 'shell', ['Bash']]);
    },
  );

  test.each([
    {
      keys: 'exec: {command: sh, dialect: claude}',
      error: 'tools[t].exec.dialect: must be one of: promptkit, promptkit-go, chibi (got: claude)',
    },
    {
      keys: 'exec: {command: sh, runtime: server}, dialect: chibi',
      error: 'tools[t].exec.runtime: must be exec: a chibi plugin starts anew for each call',
    },
    {
      keys: 'exec: {command: sh, dialect: promptkit}, dialect: chibi',
      error:
        'tools[t].dialect: must be the same as exec.dialect (got: chibi, and promptkit there) | Remove one of the two.',
    },
    {
      keys: 'exec: {command: sh}, category: shel',
      error: /^tools\[t\].category: must be one of: .* did you mean `shell`\?$/,
    },
  ])('is refused with $keys', ({ keys, error }) => {
    const { problems } = told(configText(native, `\ntools:\n  t: {${keys}}`));
    const found = problems.map((each) => each.replace(/^error 5:\d+ /, ''));
    expect(found).toEqual([typeof error === 'string' ? error : expect.stringMatching(error)]);
  });
});

describe('what fails open is reported', () => {
  test.each([
    {
      spec: '{dialect: claude, command: sh, claude: {event: PreToolUse}}',
      note: `note 5:5 hooks[h]: ${claudeOpen}`,
    },
    {
      spec: '{dialect: agentao, command: cat, agentao: {event: Stop}}',
      note: `note 5:5 hooks[h]: ${agentaoOpen}`,
    },
    {
      spec: '{dialect: picoclaw, command: sh, hook: provider}',
      note: 'note 5:5 hooks[h]: lets the event pass when it fails: a timeout, an error, its death, an answer without a known action | Set `on_failure: deny` to deny the event instead.',
    },
    {
      spec: '{dialect: chibi, command: sh}',
      note: 'note 5:5 hooks[h]: lets the event pass when it fails: an exit code other than 0, an empty answer, one that is not a JSON object, a wrong type | Set `on_failure: deny` to deny the event instead.',
    },
  ])('$spec', ({ spec, note }) => {
    expect(hooks(spec).problems).toEqual([note]);
    expect(hooks(spec.replace('{', '{on_failure: deny, ')).problems).toEqual([]);
  });

  test.each([
    '{dialect: claude, command: sh, claude: {event: PreToolUse, async: true}}',
    '{dialect: claude, command: sh, claude: {event: SessionEnd}}',
    '{dialect: agentao, command: cat, agentao: {event: PreCompact}}',
    '{dialect: agentao, agentao: {event: UserPromptSubmit, prompt: x}}',
    '{dialect: picoclaw, command: sh, picoclaw: {intercept: [approve_tool], observe: [all]}}',
  ])('a hook that cannot block, or always blocks, causes no report: %s', (spec) => {
    expect(hooks(spec).problems).toEqual([]);
  });
});

describe('the dialect’s own checks', () => {
  test.each([
    {
      spec: '{dialect: claude, command: sh, claude: {event: PreToolUse, matcher: "("}}',
      key: 'claude.matcher',
      fault: 'the matcher "(" is not a regular expression',
    },
    {
      spec: '{dialect: claude, command: sh, claude: {event: PreToolUse, if: a && b}}',
      key: 'claude.if',
      fault: '"a && b" is not a permission rule',
    },
    {
      spec: '{dialect: agentao, command: cat, agentao: {event: PreToolUse, matcher: {tool_name: "^($"}}}',
      key: 'agentao.matcher',
      fault: 'the matcher\'s "tool_name" is not a regular expression: ^($',
    },
  ])('apply to $key', ({ spec, key, fault }) => {
    const file = write('checked.yaml', configText(native, `\nhooks:\n  h: ${spec}`));
    const { config, problems } = loadConfig(file, searchPath);
    expect({ config, problems: problems.map(line).filter((each) => each.startsWith('error')) }).toEqual({
      config: undefined,
      problems: [
        expect.stringMatching(
          new RegExp(`^error 5:\\d+ hooks\\[h\\]\\.${RegExp.escape(`${key}: ${fault}`)}`),
        ),
      ],
    });
  });

  test('`if` where the handler never runs is a warning', () => {
    const { problems } = hooks('{dialect: claude, command: sh, claude: {event: Notification, if: Bash}}');
    expect(problems).toEqual([
      'warning 5:73 hooks[h].claude.if: a handler with `if` never runs at Notification',
    ]);
  });
});
