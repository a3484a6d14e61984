import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import {
  fillIn,
  invalidPayload,
  member,
  optional,
  requireMembers,
  type Table,
  valueAt,
  withFallback,
} from '../payload-table.ts';

export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  const own = Object.hasOwn(fields, point) ? fields[point] : undefined;
  if (own === undefined) throw invalidPayload(`claude has no event "${point}"`);
  const name = valueAt(given, 'hook_event_name');
  if (name !== undefined && name !== point) {
    throw invalidPayload(`the \`hook_event_name\` of ${point} is ${JSON.stringify(name)}`);
  }
  const table = { ...common, ...own };
  const payload = fillIn(table, given, hookContext);
  requireMembers(table, payload, (key, kind) =>
    kind === undefined ? `${point} has no \`${key}\`` : `the \`${key}\` of ${point} is not ${kind}`,
  );
  return payload;
}

const text = member('text', 'a string');
const flag = member('flag', 'a boolean');
const number = member('number', 'a number');
const object = member('object', 'an object');
const list = member('list', 'a list');
const optionalText = optional(text);

const common: Table = {
  session_id: optionalText,
  prompt_id: optionalText,
  transcript_path: optionalText,
  cwd: optionalText,
  permission_mode: optionalText,
};
const tool = { tool_name: text, tool_input: object } as const;
const toolCall = {
  ...tool,
  tool_use_id: withFallback(text, ({ turn_id }) => `${turn_id}-call`),
} as const;
const stopFields = {
  stop_hook_active: withFallback(flag, ({ forcedTurns }) => forcedTurns > 0),
  last_assistant_message: withFallback(text, ''),
  background_tasks: withFallback(list, []),
  session_crons: withFallback(list, []),
} as const;
const agent = { agent_id: withFallback(text, ''), agent_type: text } as const;
const task = {
  task_id: text,
  task_subject: text,
  task_description: optionalText,
  teammate_name: optionalText,
  team_name: optionalText,
} as const;
const modelSwitch = {
  from_model: text,
  to_model: text,
  requested_model: optionalText,
  source: optionalText,
  context_tokens: optional(number),
  prompt_cache_warm: optional(flag),
} as const;

/** The members of each event, in addition to the common ones. Source: the hooks reference, "Hook events". */
export const fields: Readonly<Record<string, Table>> = {
  SessionStart: {
    source: withFallback(text, ({ isResumed }) => (isResumed ? 'resume' : 'startup')),
    model: optionalText,
    agent_type: optionalText,
    session_title: optionalText,
  },
  Setup: { trigger: withFallback(text, 'init') },
  UserPromptSubmit: { prompt: text, session_title: optionalText },
  UserPromptExpansion: {
    expansion_type: withFallback(text, 'slash_command'),
    command_name: text,
    command_args: withFallback(text, ''),
    command_source: withFallback(text, ''),
    prompt: withFallback(text, ''),
  },
  PreToolUse: toolCall,
  PreSkillShellCommand: {
    ...toolCall,
    command_name: withFallback(text, ''),
    command_source: optionalText,
    invoked_by: withFallback(text, 'other'),
  },
  PermissionRequest: { ...tool, permission_suggestions: optional(list) },
  PermissionDenied: { ...toolCall, reason: withFallback(text, '') },
  PostToolUse: { ...toolCall, tool_response: member('any', 'a value'), duration_ms: optional(number) },
  PostToolUseFailure: {
    ...toolCall,
    error: text,
    is_interrupt: optional(flag),
    duration_ms: optional(number),
  },
  PostToolBatch: { tool_calls: list },
  Notification: { message: text, title: optionalText, notification_type: text },
  MessageDisplay: {
    turn_id: withFallback(text, ({ turn_id }) => turn_id),
    message_id: withFallback(text, ''),
    index: withFallback(number, 0),
    final: withFallback(flag, true),
    delta: text,
  },
  SubagentStart: agent,
  SubagentStop: { ...stopFields, ...agent, agent_transcript_path: withFallback(text, '') },
  TaskCreated: task,
  TaskCompleted: task,
  Stop: stopFields,
  StopFailure: { error: text, error_details: optionalText, last_assistant_message: optionalText },
  TeammateIdle: { teammate_name: text, team_name: withFallback(text, '') },
  InstructionsLoaded: {
    file_path: text,
    memory_type: withFallback(text, ''),
    load_reason: text,
    globs: optional(list),
    trigger_file_path: optionalText,
    parent_file_path: optionalText,
  },
  ConfigChange: { source: text, file_path: optionalText },
  CwdChanged: { old_cwd: text, new_cwd: text },
  DirectoryAdded: { directory: text, source: text },
  FileChanged: { file_path: text, event: withFallback(text, 'change') },
  WorktreeCreate: { name: text },
  WorktreeRemove: { worktree_path: text },
  PreCompact: { trigger: text, custom_instructions: withFallback(member('text or null', 'a string'), '') },
  PostCompact: { trigger: text, compact_summary: withFallback(text, '') },
  PreModelSwitch: modelSwitch,
  PostModelSwitch: modelSwitch,
  Elicitation: {
    mcp_server_name: text,
    message: text,
    mode: optionalText,
    url: optionalText,
    elicitation_id: optionalText,
    requested_schema: optional(object),
  },
  ElicitationResult: {
    mcp_server_name: text,
    action: text,
    mode: optionalText,
    elicitation_id: optionalText,
    content: optional(object),
  },
  SessionEnd: { reason: withFallback(text, 'other') },
};
