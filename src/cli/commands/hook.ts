import { relative } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { DecisionDocument } from '../../contract/document.ts';
import { type HookKind, phasesOf } from '../../contract/hook.ts';
import { command, type Flags, group } from '../command.ts';
import { exitCodeOfDecision } from '../exit-code.ts';
import { exactText } from '../show/exact-text.ts';
import { codeText, type Terminal } from '../terminal.ts';
import { agentCommands, exportCommand } from './hook-agent.ts';

const list = command('list', {
  about: 'show the declared hooks, in the order in which they run',
  examples: `
Examples:
  signalbox hook list
  signalbox hook list --json | jq '.hooks[] | select(.mode == "filter")'`,
  run: async ({ invocation, open }) => {
    const hooks = (await open()).hooks.list();
    const rows = hooks.map(({ name, dialect, hook, phases, mode, points, on_failure, source }) => {
      const place = `${relative(invocation.cwd, source.file)}:${source.line}`;
      if (hook !== null) return [name, dialect, `${hook}, ${mode}`, phases.join(', '), place];
      const kind = on_failure === 'deny' ? 'on_failure: deny' : 'its own rules';
      return [name, dialect, kind, points.join(', '), place];
    });
    return { document: { hooks }, table: { names: ['hook', 'dialect', 'kind', 'events', 'declared'], rows } };
  },
});

const kinds: readonly HookKind[] = ['provider', 'tool', 'session', 'eval'];

const fireOptions = {
  '--hook <type>': ['the type of hook', { choices: kinds }],
  '--phase <phase>': 'the phase (an eval hook has none)',
  '--dialect <name>': 'a dialect of another system: picoclaw, chibi, claude or agentao',
  '--point <point>': 'the name of the event in that dialect, such as PreToolUse or before_tool',
  '--event <json>': [
    'the native payload without hook and phase, or the payload of the point: a JSON object, @FILE, or - for stdin',
    { isRequired: true },
  ],
} as const;
type FireFlags = Flags<typeof fireOptions>;

const fire = command('fire', {
  about: 'run the hooks of a phase on an event, and show which one decides',
  options: fireOptions,
  examples: `
Examples:
  signalbox hook fire --hook provider --phase before_call \\
    --event '{"request": {"messages": [{"role": "user", "content": "My card is 4111 1111 1111 1111"}]}}'
  signalbox hook fire --hook tool --phase before_execution --event '{"request": {"name": "refund", "args": {"amount": 900}}}'
  signalbox hook fire --hook session --phase session_start --event '{"event": {"session_id": "s-1"}}' --json
  signalbox hook fire --dialect claude --point PreToolUse \\
    --event '{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}'
  signalbox hook fire --dialect chibi --point pre_tool --event '{"tool_name": "shell", "arguments": {"command": "ls"}}'

More: docs/guides/write-hooks.md

Exit codes: 0 allow, modify or respond, 1 deny or abort, 2 wrong call or config, 3 ask: a person would decide.`,
  run: async ({ options, terminal, input, signal, open }, flags) => {
    const event = toEvent(flags, await input.object('--event', flags.event));
    const runtime = await open();
    const asked: string[] = [];
    const onHear = (hook: string) => void asked.push(hook);
    const decision = await runtime.hooks.fire(event, { signal, onHear, wholeFaults: true });
    if (options.json) terminal.printJson({ ...decision, asked });
    else {
      printDecision(decision, terminal);
      terminal.print(describeAsked(asked, flags));
    }
    return exitCodeOfDecision[decision.verdict];
  },
});

const importCommand = command('import <file>', {
  about: 'convert hooks of another system to entries of the config',
  options: {
    '--dialect <name>': [
      'the dialect of the hooks (default: detected from the form of each rule)',
      { choices: ['picoclaw', 'chibi', 'claude', 'agentao'] },
    ],
    '--write': 'add them to the config; keep its comments, and skip entries that it already has',
  },
  examples: `
Examples:
  signalbox hook import .claude/settings.json
  signalbox hook import .claude/settings.json --write
  signalbox hook import ~/.picoclaw/config.json --config agents/runtime.yaml --write
  signalbox hook import ./plugins --dialect chibi
  signalbox hook import ./guard-plugin --json | jq '.entries[].name'

FILE is a settings file or hooks.json of Claude Code or Agentao, a plugin’s folder, PicoClaw’s config.json, or a
folder of chibi plugins. The YAML goes to stdout, and problems of the file to stderr.

Exit codes: 0 everything was imported (warnings are shown), 1 something was left out, 2 wrong call or config.`,
  run: async ({ options, terminal }, { dialect, write }, file) => {
    const { loadImporter, formatProblem } = await import('../../runtime/runtime.ts');
    const { readHooks, writeHooks } = await loadImporter();
    const { config } = options;
    const found = readHooks(file, { config, dialect });
    const { entries, yaml, problems } = found;
    const written = write ? writeHooks(file, found, config) : undefined;
    const exitCode = problems.some(({ severity }) => severity === 'error') ? 1 : 0;
    const document = { config, entries, added: written?.added ?? [], problems };
    if (options.json) return { document, exitCode };
    for (const problem of problems) terminal.printStderr(escapeInvisible(formatProblem(problem)));
    if (entries.length === 0 && exitCode !== 0)
      terminal.printStderr(`error: [CONFIG_INVALID] no hook of ${file} can be imported`);
    if (written === undefined) {
      if (yaml !== '') terminal.printValue(yaml.trimEnd());
      return exitCode;
    }
    if (written.isNew) terminal.print(`wrote ${config}`);
    for (const name of written.added) terminal.print(`added ${escapeInvisibleLine(name)}`);
    const known = entries.length - written.added.length;
    if (known > 0) terminal.print(`${known} of ${entries.length} already in ${config}`);
    return exitCode;
  },
});

export const hookCommands = group('hook', {
  alias: 'hooks',
  about: 'list, try, import and export hooks, and run the hooks of the config for an agent',
  examples: `
Examples:
  signalbox hook list
  signalbox hook fire --hook provider --phase before_call --event @event.json
  signalbox hook import .claude/settings.json --write
  signalbox hook export --dialect claude`,
  commands: [list, fire, importCommand, exportCommand, ...agentCommands],
});

function toEvent({ hook, phase, dialect, point }: FireFlags, payload: Readonly<Record<string, unknown>>) {
  if (hook !== undefined && dialect === undefined && point === undefined)
    return { ...toHookAndPhase(hook, phase), ...readParts(payload, hook) };
  if (hook === undefined && phase === undefined && dialect !== undefined && point !== undefined)
    return { dialect, point, payload };
  throw new RuntimeError('USAGE', '--hook with --phase, or --dialect with --point, is required', {
    hint: 'Run `signalbox hook fire --help` for examples.',
  });
}

/** An eval hook has one phase, which may be omitted. Throws EVENT_INVALID. */
function toHookAndPhase(hook: HookKind, phase: string | undefined) {
  if (hook === 'eval' && (phase === undefined || phase === 'scored')) return { hook };
  if (phase !== undefined && hook !== 'eval') return { hook, phase };
  const message =
    phase === undefined ? `a ${hook} hook needs its --phase` : `an eval hook has no phase "${phase}"`;
  throw new RuntimeError('EVENT_INVALID', message, { hint: `Its phases are: ${phasesOf[hook].join(', ')}.` });
}

function describeAsked(asked: readonly string[], { hook, phase, dialect, point }: FireFlags): string {
  if (asked.length > 0) return `asked: ${asked.map(escapeInvisibleLine).join(', ')}`;
  const moment = [hook ?? dialect, phase ?? point].filter((word) => word !== undefined).join(' ');
  return `asked: none; no hook receives ${moment}\nhint: \`signalbox hook list\` shows the events of each hook.`;
}

/** Throws EVENT_INVALID for unknown members, since a misspelt one would be missing from the event. */
function readParts(payload: Readonly<Record<string, unknown>>, hook: HookKind) {
  const { request, response, event, ...others } = payload;
  const [other] = Object.keys(others);
  if (other === undefined) return { request, response, event };
  const part = hook === 'session' || hook === 'eval' ? 'event' : 'request';
  const guess = suggest(other, ['request', 'response', 'event']);
  const example = { request: '{"name": "lookup", "args": {…}}', event: '{…}' }[part];
  const wrapped = hook === 'provider' ? '{"messages": […]}' : example;
  const isMissing = payload[part] === undefined;
  throw new RuntimeError(
    'EVENT_INVALID',
    `--event: unknown key "${other}"${isMissing ? `, and \`${part}\` is missing` : ` beside \`${part}\``}`,
    {
      hint: guess.hint ?? `Put it into the ${part}: --event '{"${part}": ${wrapped}}'.`,
    },
  );
}

function printDecision(decision: DecisionDocument, terminal: Terminal): void {
  const { verdict, hook, reason, replace, result, enforced, context, abort } = decision;
  const by = hook === null || reason.startsWith(`hook "${hook}"`) ? '' : ` by hook "${hook}"`;
  terminal.print(
    `${terminal.styleStdout(colours[verdict], verdict)}${enforced ? ' (enforced)' : ''}${by}${reason === '' ? '' : `: ${codeText(decision.error)}${escapeInvisible(reason)}`}`,
  );
  if (replace !== null) terminal.print(`replace: ${escapeInvisible(exactText(decision, 'replace'))}`);
  if (result !== null)
    terminal.print(
      `result: ${escapeInvisible(typeof result === 'string' ? result : exactText(decision, 'result'))}`,
    );
  if (abort !== null) terminal.print(`ends the ${abort}`);
  for (const text of context) terminal.print(`context: ${escapeInvisible(text)}`);
  if (Object.keys(decision.metadata).length > 0)
    terminal.print(`metadata: ${escapeInvisible(exactText(decision, 'metadata'))}`);
  terminal.printHint(decision.error);
}

const colours = {
  ...({ allow: 'green', modify: 'yellow', respond: 'yellow' } as const),
  ...({ ask: 'yellow', deny: 'red', abort: 'red' } as const),
};
