import type { Scene } from '../../contract/turn.ts';

/** A member of a payload. */
export interface Field {
  readonly kind: 'string' | 'boolean' | 'number' | 'object' | 'list' | 'value';
  readonly isOptional?: true;
  readonly isNullable?: true;
  /** What stands for it when a host leaves it out. */
  readonly fallback?: unknown;
}

type Table = Readonly<Record<string, Field>>;

const text: Field = { kind: 'string' };
const maybeText: Field = { kind: 'string', isOptional: true };
const maybeList: Field = { kind: 'list', isOptional: true };
const maybeNumber: Field = { kind: 'number', isOptional: true };
const maybeFlag: Field = { kind: 'boolean', isOptional: true };
const or = (fallback: string): Field => ({ kind: 'string', fallback });
const emptyList: Field = { kind: 'list', fallback: [] };

const tool = { tool_name: text, tool_input: { kind: 'object' } } as const satisfies Table;
const called = {
  ...tool,
  tool_use_id: { kind: 'string', fallback: ({ turn_id }: Scene) => `${turn_id}-call` },
} as const satisfies Table;
const stopping = {
  stop_hook_active: { kind: 'boolean', fallback: ({ stops }: Scene) => stops > 0 },
  last_assistant_message: or(''),
  background_tasks: emptyList,
  session_crons: emptyList,
} as const satisfies Table;
const agent = { agent_id: or(''), agent_type: text } as const;
const task = {
  task_id: text,
  task_subject: text,
  task_description: maybeText,
  teammate_name: maybeText,
  team_name: maybeText,
} as const;
const modelSwitch = {
  from_model: text,
  to_model: text,
  requested_model: maybeText,
  source: maybeText,
  context_tokens: maybeNumber,
  prompt_cache_warm: maybeFlag,
} as const;

/** The members of each event beside the common ones. Source: the hooks reference, "Hook events". */
export const fields: Readonly<Record<string, Table>> = {
  SessionStart: {
    source: { kind: 'string', fallback: ({ isResumed }: Scene) => (isResumed ? 'resume' : 'startup') },
    model: maybeText,
    agent_type: maybeText,
    session_title: maybeText,
  },
  Setup: { trigger: or('init') },
  UserPromptSubmit: { prompt: text, session_title: maybeText },
  UserPromptExpansion: {
    expansion_type: or('slash_command'),
    command_name: text,
    command_args: or(''),
    command_source: or(''),
    prompt: or(''),
  },
  PreToolUse: called,
  PermissionRequest: { ...tool, permission_suggestions: maybeList },
  PermissionDenied: { ...called, reason: or('') },
  PostToolUse: { ...called, tool_response: { kind: 'value' }, duration_ms: maybeNumber },
  PostToolUseFailure: { ...called, error: text, is_interrupt: maybeFlag, duration_ms: maybeNumber },
  PostToolBatch: { tool_calls: { kind: 'list' } },
  Notification: { message: text, title: maybeText, notification_type: text },
  MessageDisplay: {
    turn_id: { kind: 'string', fallback: ({ turn_id }: Scene) => turn_id },
    message_id: or(''),
    index: { kind: 'number', fallback: 0 },
    final: { kind: 'boolean', fallback: true },
    delta: text,
  },
  SubagentStart: agent,
  SubagentStop: { ...stopping, ...agent, agent_transcript_path: or('') },
  TaskCreated: task,
  TaskCompleted: task,
  Stop: stopping,
  StopFailure: { error: text, error_details: maybeText, last_assistant_message: maybeText },
  TeammateIdle: { teammate_name: text, team_name: or('') },
  InstructionsLoaded: {
    file_path: text,
    memory_type: or(''),
    load_reason: text,
    globs: maybeList,
    trigger_file_path: maybeText,
    parent_file_path: maybeText,
  },
  ConfigChange: { source: text, file_path: maybeText },
  CwdChanged: { old_cwd: text, new_cwd: text },
  DirectoryAdded: { directory: text, source: text },
  FileChanged: { file_path: text, event: or('change') },
  WorktreeCreate: { name: text },
  WorktreeRemove: { worktree_path: text },
  PreCompact: { trigger: text, custom_instructions: { ...or(''), isNullable: true } },
  PostCompact: { trigger: text, compact_summary: or('') },
  PreModelSwitch: modelSwitch,
  PostModelSwitch: modelSwitch,
  Elicitation: {
    mcp_server_name: text,
    message: text,
    mode: maybeText,
    url: maybeText,
    elicitation_id: maybeText,
    requested_schema: { kind: 'object', isOptional: true },
  },
  ElicitationResult: {
    mcp_server_name: text,
    action: text,
    mode: maybeText,
    elicitation_id: maybeText,
    content: { kind: 'object', isOptional: true },
  },
  SessionEnd: { reason: or('other') },
};
