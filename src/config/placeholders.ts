/** Where a Claude Code handler comes from: what the placeholders of its command stand for. */
export interface HandlerPlace {
  readonly projectDir: string;
  readonly pluginRoot?: string;
  readonly pluginData?: string;
}

/** The variables of a handler’s place, which its placeholders and its environment share. */
export function placeVariables({ projectDir, pluginRoot, pluginData }: HandlerPlace): Record<string, string> {
  return {
    CLAUDE_PROJECT_DIR: projectDir,
    ...(pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: pluginRoot }),
    ...(pluginData === undefined ? {} : { CLAUDE_PLUGIN_DATA: pluginData }),
  };
}

/**
 * Puts a handler’s place into `${CLAUDE_…}`. In a shell’s line a path that the shell would read as more than text stays
 * a placeholder, which the shell itself fills from the environment.
 */
export function fillPlaceholders(text: string, place: HandlerPlace, isLine: boolean): string {
  const variables = placeVariables(place);
  return text.replaceAll(/\$\{(CLAUDE_[A-Z_]+)\}/g, (placeholder, name: string) => {
    const value = variables[name];
    return value === undefined || (isLine && unsafe.test(value)) ? placeholder : value;
  });
}

const unsafe = /[^\w\s./@%+=:,-]/;
