import { asText } from '../../../json/as-text.ts';
import type { Payload } from '../../foreign-dialect.ts';
import { valueAt } from '../../payload.ts';
import { matchesCommand } from './command.ts';
import { matchesGlob } from './glob.ts';
import { matchesPath } from './path.ts';
import { parseRule } from './rule.ts';

/** The call that a permission rule is matched with. */
export interface CallContext {
  readonly payload: Payload;
  readonly cwd: string;
  readonly projectDir: string;
}

/** Whether a handler with this `if` runs for the call; true when that cannot be determined. */
export function conditionHolds(condition: string, callContext: CallContext): boolean {
  const rule = parseRule(condition);
  if (rule === undefined) return true;
  const name = asText(valueAt(callContext.payload, 'tool_name') ?? '');
  if (!isTool(rule.tool, name)) return false;
  const { pattern } = rule;
  return (
    pattern === undefined || pattern === '' || pattern === '*' || matchesInput(pattern, name, callContext)
  );
}

/** A server's name stands for all of its tools. */
function isTool(tool: string, name: string): boolean {
  if (tool.includes('*')) return matchesGlob(tool, name);
  return tool === name || (tool.startsWith('mcp__') && name.startsWith(`${tool}__`));
}

function matchesInput(pattern: string, name: string, { payload, cwd, projectDir }: CallContext): boolean {
  const input = payload['tool_input'];
  if (name === 'Bash') {
    const command = valueAt(input, 'command');
    return typeof command !== 'string' || matchesCommand(pattern, command);
  }
  const key = Object.hasOwn(pathMembers, name) ? pathMembers[name] : undefined;
  if (key !== undefined) {
    const path = valueAt(input, key);
    return typeof path !== 'string' || matchesPath(pattern, path, { cwd, projectDir });
  }
  if (name === 'WebFetch') return matchesUrl(pattern, valueAt(input, 'url'));
  return true;
}

const pathMembers: Readonly<Record<string, string>> = {
  Edit: 'file_path',
  Write: 'file_path',
  Read: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

/** Whether the host matches `domain:<glob>`; true for any other pattern. */
function matchesUrl(pattern: string, url: unknown): boolean {
  const isDomain = pattern.startsWith('domain:');
  if (!isDomain || typeof url !== 'string' || !URL.canParse(url)) return true;
  return matchesGlob(pattern.slice('domain:'.length).toLowerCase(), new URL(url).hostname);
}
