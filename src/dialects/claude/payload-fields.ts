import type { HookContext } from '../../contract/turn.ts';

/** A member of a payload. */
export interface Field {
  readonly kind: 'string' | 'boolean' | 'number' | 'object' | 'list' | 'value';
  readonly isOptional?: true;
  readonly isNullable?: true;
  /** The default, or a function of the hook context that gives it. */
  readonly fallback?: unknown;
}

type Table = Readonly<Record<string, Field>>;

const text: Field = { kind: 'string' };
const maybeText: Field = { kind: 'string', isOptional: true };
const maybeList: Field = { kind: 'list', isOptional: true };
const maybeNumber: Field = { kind: 'number', isOptional: true };
const maybeFlag: Field = { kind: 'boolean', isOptional: true };
const withFallback = (fallback: string): Field => ({ kind: 'string', fallback });
const emptyList: Field = { kind: 'list', fallback: [] };

const tool = { tool_name: text, tool_input: { kind: 'object' } } as const satisfies Table;
const toolCall = {
  ...tool,
  tool_use_id: { kind: 'string', fallback: ({ turn_id }: HookContext) => `${turn_id}-call` },
} as const satisfies Table;
const stopFields = {
  stop_hook_active: { kind: 'boolean', fallback: ({ forcedTurns }: HookContext) => forcedTurns > 0 },
  last_assistant_message: withFallback(''),
  background_tasks: emptyList,
  session_crons: emptyList,
} as const satisfies Table;
const agent = { agent_id: withFallback(''), agent_type: text } as const;
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
    source: { kind: 'string', fallback: ({ isResumed }: HookContext) => (isResumed ? 'resume' : 'startup') },
    model: maybeText,
    agent_type: maybeText,
    session_title: maybeText,
  },
  Setup: { trigger: withFallback('init') },
  UserPromptSubmit: { prompt: text, session_title: maybeText },
  UserPromptExpansion: {
    expansion_type: withFallback('slash_command'),
    command_name: text,
    command_args: withFallback(''),
    command_source: withFallback(''),
    prompt: withFallback(''),
  },
  PreToolUse: toolCall,
  PermissionRequest: { ...tool, permission_suggestions: maybeList },
  PermissionDenied: { ...toolCall, reason: withFallback('') },
  PostToolUse: { ...toolCall, tool_response: { kind: 'value' }, duration_ms: maybeNumber },
  PostToolUseFailure: { ...toolCall, error: text, is_interrupt: maybeFlag, duration_ms: maybeNumber },
  PostToolBatch: { tool_calls: { kind: 'list' } },
  Notification: { message: text, title: maybeText, notification_type: text },
  MessageDisplay: {
    turn_id: { kind: 'string', fallback: ({ turn_id }: HookContext) => turn_id },
    message_id: withFallback(''),
    index: { kind: 'number', fallback: 0 },
    final: { kind: 'boolean', fallback: true },
    delta: text,
  },
  SubagentStart: agent,
  SubagentStop: { ...stopFields, ...agent, agent_transcript_path: withFallback('') },
  TaskCreated: task,
  TaskCompleted: task,
  Stop: stopFields,
  StopFailure: { error: text, error_details: maybeText, last_assistant_message: maybeText },
  TeammateIdle: { teammate_name: text, team_name: withFallback('') },
  InstructionsLoaded: {
    file_path: text,
    memory_type: withFallback(''),
    load_reason: text,
    globs: maybeList,
    trigger_file_path: maybeText,
    parent_file_path: maybeText,
  },
  ConfigChange: { source: text, file_path: maybeText },
  CwdChanged: { old_cwd: text, new_cwd: text },
  DirectoryAdded: { directory: text, source: text },
  FileChanged: { file_path: text, event: withFallback('change') },
  WorktreeCreate: { name: text },
  WorktreeRemove: { worktree_path: text },
  PreCompact: { trigger: text, custom_instructions: { ...withFallback(''), isNullable: true } },
  PostCompact: { trigger: text, compact_summary: withFallback('') },
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
  SessionEnd: { reason: withFallback('other') },
};
