import type { Link } from '../hooks/gate.ts';
import { fitsAnything } from '../yaml/schema-check.ts';
import type { ApprovalsOf } from './approvals.ts';
import type { CallableTool } from './callable-tool.ts';

/** The tools of those who run them themselves: what the config says of one of that name, without anything to run. */
export type AgentTools = (name: string) => CallableTool;

/** What the config says of tools. */
export interface DeclaredTools {
  readonly tools: ReadonlyMap<string, CallableTool>;
  readonly approvalsOf: ApprovalsOf;
  /** Whether there are approvals for patterns of tools. */
  readonly hasApprovals: boolean;
}

/** A tool that the config declares has its schema and its approvals, any other the approvals alone; the hooks are the caller's. */
export function agentTools(
  { tools, approvalsOf }: Omit<DeclaredTools, 'hasApprovals'>,
  links: readonly Link[],
): AgentTools {
  return (name) => {
    const tool = tools.get(name);
    if (tool === undefined) {
      const approval = approvalsOf([name]);
      return { name, port: undefined, checkArgs: fitsAnything, checkResult: fitsAnything, links, approval };
    }
    const { flow: _, isDirect: __, ...others } = tool;
    return { ...others, port: undefined, links };
  };
}
