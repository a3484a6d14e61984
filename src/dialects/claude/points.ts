import type { HookEvent } from '../../contract/hook.ts';
import type { Point } from '../foreign-dialect.ts';
import type { Kind } from '../payload-table.ts';

/**
 * The effect of a block. beside: its text joins the result, which stays. follow_up: the work continues with its text.
 * ask: a person decides. decline: the answer becomes a refusal. none: nothing is stopped.
 */
type BlockEffect = 'deny' | 'abort' | 'beside' | 'follow_up' | 'decline' | 'ask' | 'none';

export type MemberKind = Extract<Kind, 'text' | 'flag' | 'object' | 'names' | 'list' | 'any'>;
export type MemberKinds = Readonly<Record<string, MemberKind>>;

/** One event, and the parts of an answer that count there. Source: Claude Code's hooks reference. */
export interface EventRule {
  /** The payload member for matchers. Absent: they are ignored. */
  readonly matcher?: string;
  readonly isObserveOnly?: true;
  /** The effect of exit code 2, and of `decision: "block"` where it counts. */
  readonly block: BlockEffect;
  readonly takesDecision?: true;
  readonly ignoresContinue?: true;
  readonly takesText?: true;
  readonly takesContext?: true;
  readonly takesSystemMessageAsContext?: true;
  /** The member of `hookSpecificOutput` that is a verdict. `decision` is PermissionRequest's object. */
  readonly verdict?: 'permissionDecision' | 'decision' | 'action';
  readonly replaces?: MemberKinds;
  /** Members of `hookSpecificOutput` that are recorded in the metadata and not applied. */
  readonly records?: MemberKinds;
}

const stopRule = { block: 'follow_up', takesDecision: true, takesContext: true } as const;

export const outputFields = ['updatedToolOutput', 'updatedMCPToolOutput'] as const;
const outputKinds = { updatedToolOutput: 'any', updatedMCPToolOutput: 'any' } as const;

export const eventRules: Readonly<Record<string, EventRule>> = {
  SessionStart: {
    matcher: 'source',
    block: 'none',
    takesText: true,
    takesContext: true,
    records: { initialUserMessage: 'text', sessionTitle: 'text', watchPaths: 'names', reloadSkills: 'flag' },
  },
  Setup: { matcher: 'trigger', block: 'none', takesContext: true },
  UserPromptSubmit: {
    block: 'deny',
    takesDecision: true,
    takesText: true,
    takesContext: true,
    records: { sessionTitle: 'text', suppressOriginalPrompt: 'flag' },
  },
  UserPromptExpansion: {
    matcher: 'command_name',
    block: 'deny',
    takesDecision: true,
    takesText: true,
    takesContext: true,
  },
  PreToolUse: {
    matcher: 'tool_name',
    block: 'deny',
    takesDecision: true,
    takesContext: true,
    verdict: 'permissionDecision',
  },
  PreSkillShellCommand: {
    matcher: 'tool_name',
    block: 'deny',
    takesDecision: true,
    verdict: 'permissionDecision',
  },
  PermissionRequest: { matcher: 'tool_name', block: 'ask', verdict: 'decision' },
  PermissionDenied: { matcher: 'tool_name', block: 'none', replaces: { retry: 'flag' } },
  PostToolUse: {
    matcher: 'tool_name',
    block: 'beside',
    takesDecision: true,
    takesContext: true,
    replaces: outputKinds,
    records: { classifierContext: 'text' },
  },
  PostToolUseFailure: {
    matcher: 'tool_name',
    block: 'beside',
    takesDecision: true,
    takesContext: true,
    replaces: outputKinds,
  },
  PostToolBatch: { block: 'abort', takesDecision: true, takesContext: true },
  Notification: { matcher: 'notification_type', isObserveOnly: true, block: 'none' },
  MessageDisplay: { block: 'none', replaces: { displayContent: 'text' } },
  SubagentStart: { matcher: 'agent_type', block: 'none', takesContext: true },
  SubagentStop: { matcher: 'agent_type', ...stopRule },
  TaskCreated: { block: 'deny', takesDecision: true, ignoresContinue: true },
  TaskCompleted: { block: 'deny' },
  Stop: stopRule,
  StopFailure: { matcher: 'error', isObserveOnly: true, block: 'none' },
  TeammateIdle: { block: 'follow_up' },
  InstructionsLoaded: { matcher: 'load_reason', isObserveOnly: true, block: 'none' },
  ConfigChange: { matcher: 'source', block: 'deny', takesDecision: true, ignoresContinue: true },
  CwdChanged: { block: 'none', replaces: { watchPaths: 'names' } },
  DirectoryAdded: {
    matcher: 'source',
    isObserveOnly: true,
    block: 'none',
    takesSystemMessageAsContext: true,
  },
  FileChanged: { matcher: 'file_path', block: 'none', replaces: { watchPaths: 'names' } },
  WorktreeCreate: { block: 'deny' },
  WorktreeRemove: { isObserveOnly: true, block: 'none' },
  PreCompact: { matcher: 'trigger', block: 'deny', takesDecision: true, ignoresContinue: true },
  PostCompact: { matcher: 'trigger', isObserveOnly: true, block: 'none' },
  PreModelSwitch: {
    matcher: 'to_model',
    block: 'deny',
    takesDecision: true,
    verdict: 'permissionDecision',
  },
  PostModelSwitch: { matcher: 'to_model', block: 'none', takesText: true, takesContext: true },
  Elicitation: { matcher: 'mcp_server_name', block: 'deny', verdict: 'action' },
  ElicitationResult: { matcher: 'mcp_server_name', block: 'decline', verdict: 'action' },
  SessionEnd: { matcher: 'reason', isObserveOnly: true, block: 'none' },
};

/** Returns whether `on_failure: deny` can deny this event. A failed WorktreeCreate denies anyway. */
export function isClosable({ block }: EventRule): boolean {
  return block !== 'none' && block !== 'ask';
}

export const points: Readonly<Record<string, Point>> = Object.fromEntries(
  Object.entries(eventRules).map(([name, { isObserveOnly }]) => [
    name,
    {
      order: 'parallel',
      isFilter: isObserveOnly !== true,
      composition: { verdict: 'strictest', members: { follow_up: 'paragraphs', watchPaths: 'union' } },
    },
  ]),
);

export function pointsAt(event: HookEvent): readonly string[] {
  switch (event.phase) {
    case 'approval':
      return event.asked === null ? [] : ['PermissionRequest'];
    case 'after_execution':
      return [event.response.error === '' ? 'PostToolUse' : 'PostToolUseFailure'];
    case 'stop':
      return event.end === 'final_response' ? ['Stop'] : [];
    default: {
      const point = pointOf[event.phase];
      return point === undefined ? [] : [point];
    }
  }
}

const pointOf: Partial<Record<HookEvent['phase'], string>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'UserPromptSubmit',
  before_execution: 'PreToolUse',
  batch: 'PostToolBatch',
  error: 'StopFailure',
  pending: 'Notification',
};
