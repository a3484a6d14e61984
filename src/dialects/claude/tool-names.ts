/** Former names of Claude Code's tools. Its own matchers accept both. Source: its program, 2.1.332. */
const formerNames: Readonly<Record<string, readonly string[]>> = {
  Agent: ['Task'],
  TaskStop: ['KillShell', 'KillBash'],
  ListAgents: ['ListPeers'],
  SendUserMessage: ['Brief'],
  ListMcpResourcesTool: ['ListMcpResources'],
  ReadMcpResourceTool: ['ReadMcpResource'],
  ReadMcpResourceDirTool: ['ReadMcpResourceDir'],
  SetGoal: ['ProposeGoal'],
};

export function allToolNames(name: string): readonly string[] {
  const families = Object.entries(formerNames).map(([present, former]) => [present, ...former]);
  return [...new Set([name, ...families.filter((family) => family.includes(name)).flat()])];
}
