import { basename, join } from 'node:path';

/** The folders of a Claude Code handler, for which the placeholders of its command stand. */
export interface HandlerFolders {
  readonly projectDir: string;
  readonly pluginRoot?: string;
  readonly pluginData?: string;
}

/** The environment variables for the folders of a handler; its placeholders have the same names. */
export function claudeVariables({
  projectDir,
  pluginRoot,
  pluginData,
}: HandlerFolders): Record<string, string> {
  return {
    CLAUDE_PROJECT_DIR: projectDir,
    ...(pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: pluginRoot }),
    ...(pluginData === undefined ? {} : { CLAUDE_PLUGIN_DATA: pluginData }),
  };
}

/**
 * Replaces each `${CLAUDE_…}` by its folder. In a shell line a path with shell syntax in it is not inserted:
 * the shell expands the placeholder from the environment.
 */
export function fillPlaceholders(text: string, folders: HandlerFolders, isLine: boolean): string {
  const variables = claudeVariables(folders);
  return text.replaceAll(/\$\{(CLAUDE_[A-Z_]+)\}/g, (placeholder, name: string) => {
    const value = variables[name];
    return value === undefined || (isLine && shellSyntax.test(value)) ? placeholder : value;
  });
}

const shellSyntax = /[^\w\s./@%+=:,-]/;

/** The folder in which a plugin may keep what is its own, beside the state store. */
export function pluginDataOf(stateFolder: string, pluginRoot: string): string {
  return join(stateFolder, 'plugins', basename(pluginRoot));
}
