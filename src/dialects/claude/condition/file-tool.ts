import type { Payload } from '../../foreign.ts';
import { valueAt } from '../tree.ts';

/** Marks a call of a tool that some alias says is one of these; no member of any payload. */
const mark = Symbol('file tool');
const names: readonly unknown[] = ['Write', 'Edit', 'Read'];

/** The payload of a call, which may be that of a file tool under a name of its own. */
export function markFileTool(call: Payload, aliases: readonly string[]): Payload {
  return aliases.some((alias) => names.includes(alias)) ? { ...call, [mark]: true } : call;
}

/** Whether a call is one of Claude's file tools, whose `file_path` is absolute. */
export function takesPath(call: Payload): boolean {
  return names.includes(valueAt(call, 'tool_name')) || Reflect.get(call, mark) === true;
}
