import type { Payload } from '../../foreign-dialect.ts';
import { valueAt } from '../../payload.ts';

/** The symbol that marks a call whose tool has one of these names as an alias; it is never serialised. */
const mark = Symbol('file tool');
const names: readonly unknown[] = ['Write', 'Edit', 'Read'];

/** The call, marked when one of its aliases is a file tool. */
export function markFileTool(call: Payload, aliases: readonly string[]): Payload {
  return aliases.some((alias) => names.includes(alias)) ? { ...call, [mark]: true } : call;
}

/** Whether a call is one of Claude's file tools, whose `file_path` is absolute. */
export function takesPath(call: Payload): boolean {
  return names.includes(valueAt(call, 'tool_name')) || Reflect.get(call, mark) === true;
}
