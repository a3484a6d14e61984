import { type EntryRules, modifiesHint, withoutNativeKeys } from '../../dialect-config.ts';

export interface AgentaoSettings {
  readonly event: string;
  /** As written in the file. Absent: the rule matches everything. */
  readonly matcher?: Readonly<Record<string, unknown>>;
  readonly prompt?: string;
  /** The command line as written in the file; records identify the rule by it. Absent for a prompt rule. */
  readonly command?: string;
  readonly stopReentryCap: number;
  readonly projectDir: string;
}

/** Source: Agentao's developer guide, chapter 5.7. */
export const agentaoEvents = [
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  'PreCompact',
] as const;

/** Events at which a failed rule lets something pass that it could have denied. */
export const agentaoGuardEvents: ReadonlySet<string> = new Set([
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
]);

/** Events at which dropping a rule on import is an error under `on_failure: deny`. */
export const agentaoMandatoryEvents: ReadonlySet<string> = new Set(['UserPromptSubmit', 'PreToolUse']);

const block = {
  type: 'object',
  description: 'An Agentao rule. `command` beside it is a shell line; a `prompt` takes its place.',
  additionalProperties: false,
  required: ['event'],
  properties: {
    event: { type: 'string', enum: agentaoEvents, description: 'The event, by Agentao’s name for it.' },
    matcher: {
      type: ['object', 'null'],
      description: 'Which occurrences, as in {tool_name: run_shell_command}. Default: all.',
    },
    prompt: {
      type: 'string',
      description: 'A static text that joins the prompt at UserPromptSubmit; nothing is started.',
    },
    stop_reentry_cap: {
      type: 'integer',
      minimum: 0,
      description:
        'Forced continuations of one user turn, beyond which Stop rules are overridden. Default: 3.',
    },
  },
} as const;

const eventHint = '`agentao.event` says when the rule runs.';

export const agentaoEntry: EntryRules = {
  block,
  required: ['agentao'],
  properties: { ...withoutNativeKeys, args: false },
  hookRemarks: { command: 'A shell line for agentao; not needed for an agentao prompt.' },
  misplacedHints: {
    hook: eventHint,
    phases: eventHint,
    mode: eventHint,
    modifies: modifiesHint,
    args: '`command` is a shell line: write them into it.',
  },
  runtimeHint: 'An Agentao rule is started anew for each event; leave `runtime` out.',
  checksCommand: true,
};

/** Forced continuations of one user turn after which Agentao ends the turn. Source: `stop_reentry_cap`. */
export const agentaoStopCap = 3;
