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

/** The name that payloads carry: Claude's, of the tool's first alias if it has one. */
export function toldNameOf(name: string, aliases: readonly string[] = []): string {
  const known = aliases[0] ?? name;
  return pairs.find(([agentao]) => agentao === known)?.[1] ?? known;
}

/** Agentao's own name of a tool. */
export function ownNameOf(told: string): string {
  return pairs.find(([, claude]) => claude === told)?.[0] ?? told;
}

/** Every name that a matcher may call the tool by. */
export function namesOf(name: string, aliases: readonly string[] = []): readonly string[] {
  const declared = [name, ...aliases];
  const paired = pairs.filter((pair) => pair.some((each) => declared.includes(each))).flat();
  return [...new Set([...declared, ...paired])];
}
