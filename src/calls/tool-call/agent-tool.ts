import { fitsAnything } from '../../base/yaml/schema-check.ts';
import type { NativeEvent } from '../../contract/hook.ts';
import type { Link } from '../hooks/gate.ts';
import { type ApprovalsOf, combineApprovals } from './approvals.ts';
import type { CallableTool } from './callable-tool.ts';

/**
 * Finds the configuration of a tool that an agent runs itself, by its name, an alias or another name in the agent's
 * system.
 */
export type AgentTools = (name: string, otherNames?: readonly string[]) => CallableTool;

export interface DeclaredTools {
  readonly tools: ReadonlyMap<string, CallableTool>;
  readonly byName: ReadonlyMap<string, readonly CallableTool[]>;
  readonly approvalsOf: ApprovalsOf;
  readonly hasApprovals: boolean;
}

export function indexNames(tools: ReadonlyMap<string, CallableTool>): DeclaredTools['byName'] {
  const byName = new Map<string, CallableTool[]>();
  for (const tool of tools.values()) {
    for (const name of new Set([tool.name, ...(tool.aliases ?? [])])) {
      byName.set(name, [...(byName.get(name) ?? []), tool]);
    }
  }
  return byName;
}

/**
 * Resolves the names of calls, with hooks of the caller. A declared tool keeps its own name, schema and approvals under
 * every alias. A name that several tools share keeps its spelling and needs the approvals of all.
 */
export function agentTools(
  { byName, approvalsOf }: Pick<DeclaredTools, 'byName' | 'approvalsOf'>,
  links: readonly Link[],
): AgentTools {
  return (name, otherNames = []) => {
    const called = [name, ...otherNames];
    const found = [...new Set(called.flatMap((each) => byName.get(each) ?? []))];
    const [tool, ...others] = found;
    const approval = combineApprovals([...found.map((each) => each.approval), approvalsOf(called)]);
    if (tool !== undefined && others.length === 0) {
      const { flow: _, isDirect: __, ...declared } = tool;
      return { ...declared, port: undefined, links, approval, ...withAliases(tool.name, [tool], called) };
    }
    const category = found.find((each) => each.category !== undefined)?.category;
    return {
      ...{ name, port: undefined, checkArgs: fitsAnything, checkResult: fitsAnything, links, approval },
      ...(category !== undefined && { category }),
      ...withAliases(name, found, called),
    };
  };
}

/** Hooks of other systems get the first name: the first declared alias, if there is one. */
function withAliases(name: string, tools: readonly CallableTool[], called: readonly string[]) {
  const declared = tools.flatMap((tool) => [...(tool.aliases ?? []), tool.name]);
  const names = [...new Set([...declared, ...called])];
  return names.length === 1 && names[0] === name ? {} : { aliases: names };
}

/** Returns a tool's event under its configured name, with all others as aliases. Returns any other event unchanged. */
export function resolveToolNames(event: NativeEvent, find: AgentTools): NativeEvent {
  if (event.hook !== 'tool') return event;
  const { name, category, aliases } = find(event.request.name, event.request.aliases);
  const request = {
    ...event.request,
    name,
    ...(category !== undefined && { category }),
    ...(aliases !== undefined && { aliases }),
  };
  return event.phase === 'before_execution'
    ? { ...event, request }
    : { ...event, request, response: { ...event.response, name } };
}
