import type { Link } from '../../hooks/gate.ts';
import type { CallableTool } from '../../tool-call/callable-tool.ts';
import { fitsAnything } from '../../yaml/schema-check.ts';

/** The tools of clients: what the config says of one of that name, without anything to run. */
export type AgentTools = (name: string) => CallableTool;

/** A tool that the config declares has its schema and its approval rule, any other neither; the hooks are the caller's. */
export function agentTools(declared: ReadonlyMap<string, CallableTool>, links: readonly Link[]): AgentTools {
  return (name) => {
    const tool = declared.get(name);
    if (tool === undefined)
      return { name, port: undefined, checkArgs: fitsAnything, checkResult: fitsAnything, links };
    const { flow: _, isDirect: __, ...others } = tool;
    return { ...others, port: undefined, links };
  };
}
