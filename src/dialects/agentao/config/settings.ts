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
  description: 'An Agentao rule. The `command` of the entry is a shell line; a `prompt` replaces it.',
  additionalProperties: false,
  required: ['event'],
  properties: {
    event: { type: 'string', enum: agentaoEvents, description: 'The event, by its name in Agentao.' },
    matcher: {
      type: ['object', 'null'],
      description: 'Which events the rule applies to, such as {tool_name: run_shell_command}. Default: all.',
    },
    prompt: {
      type: 'string',
      description: 'A fixed text that is added to the prompt at UserPromptSubmit; no program starts.',
    },
    stop_reentry_cap: {
      type: 'integer',
      minimum: 0,
      description: 'How often Stop rules may continue one user turn before they are overridden. Default: 3.',
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
    args: '`command` is a shell line: write the arguments into it.',
  },
  runtimeHint: 'An Agentao rule starts anew for each event: remove `runtime`.',
  checksCommand: true,
};

/** Forced continuations of one user turn after which Agentao ends the turn. Source: `stop_reentry_cap`. */
export const agentaoStopCap = 3;
