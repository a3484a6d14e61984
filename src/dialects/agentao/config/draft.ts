import { variablesOf } from '../../../files/shell-line.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { DraftHook, HookDraft } from '../../foreign-files.ts';
import { shortPath } from '../../import-context.ts';
import { agentaoStopCap } from './entry.ts';

/** A rule as read from its file. */
export interface Rule {
  readonly event: string;
  readonly matcher?: Readonly<Record<string, unknown>>;
  /** Exactly one of the two. */
  readonly command?: string;
  readonly prompt?: string;
  readonly timeoutMs?: number;
  readonly projectDir: string;
  readonly source: SourceLocation;
  readonly commandPosition: SourceLocation;
}

/** The rule as a hook that may become an entry of the config. */
export function toDraft(rule: Rule): HookDraft {
  const { event, timeoutMs, source, commandPosition } = rule;
  return {
    dialect: 'agentao',
    event,
    source,
    commandPosition,
    ...omitUndefined({ timeoutMs }),
    toHook: () => toHook(rule),
    toEntry: (folder) => toEntry(rule, folder),
  };
}

function toHook({ event, matcher, command, prompt, projectDir }: Rule): DraftHook {
  const settings = {
    event,
    ...omitUndefined({ matcher, prompt, command }),
    stopReentryCap: agentaoStopCap,
    projectDir,
  };
  return command === undefined ? { settings } : { exec: { command, cwd: projectDir }, settings };
}

/** What a line that was written for Claude Code as well reads, and the host does not have. */
const otherSystemsVariables = [
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_ENV_FILE',
];

function toEntry(rule: Rule, folder: string): Record<string, unknown> {
  const { event, matcher, command, prompt, timeoutMs, projectDir } = rule;
  const block = { event, ...omitUndefined({ matcher, prompt }) };
  if (command === undefined) return { dialect: 'agentao', agentao: block };
  const variables = variablesOf(command, otherSystemsVariables);
  const cwd = shortPath(projectDir, folder);
  return {
    dialect: 'agentao',
    command,
    ...(cwd === '.' ? {} : { cwd }),
    ...(variables.length === 0 ? {} : { env: variables }),
    ...omitUndefined({ timeout_ms: timeoutMs }),
    agentao: block,
  };
}
