/** Why a handler of that type cannot run here; undefined for command and http. */
export function describeRefusedType(type: string): string | undefined {
  if (type === 'command' || type === 'http') return undefined;
  if (type === 'prompt' || type === 'agent' || type === 'mcp_tool') {
    return `hook type '${type}' asks a model to judge, which Signalbox does not do; use a command or http handler`;
  }
  return `hook type '${type}' is not known; use a command or http handler`;
}
