/** Tools that Agentao and Claude Code have under two names. */
const pairs: readonly (readonly [agentao: string, claude: string])[] = [
  ['read_file', 'Read'],
  ['write_file', 'Write'],
  ['replace', 'Edit'],
  ['run_shell_command', 'Bash'],
  ['glob', 'Glob'],
  ['search_file_content', 'Grep'],
  ['web_fetch', 'WebFetch'],
  ['web_search', 'WebSearch'],
  ['list_directory', 'LS'],
  ['save_memory', 'SaveMemory'],
  ['ask_user', 'AskUser'],
  ['todo_write', 'TodoWrite'],
  ['plan_save', 'PlanSave'],
  ['plan_finalize', 'PlanFinalize'],
  ['activate_skill', 'ActivateSkill'],
];

/**
 * The tool name in payloads: Claude's name for the first alias, or for the tool's own name without aliases.
 */
export function toolNameForHooks(name: string, aliases: readonly string[] = []): string {
  const known = aliases[0] ?? name;
  return pairs.find(([agentao]) => agentao === known)?.[1] ?? known;
}

/** Agentao's own name of a tool. */
export function agentaoToolName(name: string): string {
  return pairs.find(([, claude]) => claude === name)?.[0] ?? name;
}

/** Every name that a matcher may use for the tool: its own, its aliases and their pairs. */
export function allToolNames(name: string, aliases: readonly string[] = []): readonly string[] {
  const declared = [name, ...aliases];
  const paired = pairs.filter((pair) => pair.some((each) => declared.includes(each))).flat();
  return [...new Set([...declared, ...paired])];
}
