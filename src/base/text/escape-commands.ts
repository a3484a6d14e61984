import { escapeInvisibleLine } from './escape-invisible.ts';

/**
 * The text without what a log of GitHub Actions would obey: a line that begins as `::command::`, and `##[command]` anywhere.
 * Source: https://github.com/actions/runner, ActionCommand.cs.
 */
export function escapeCommands(text: string): string {
  if (!text.includes('::') && !text.includes('##[')) return text;
  return text.replaceAll(/^([^\S\n]*):(?=:[^\n]*::)/gm, '$1\\u003a').replaceAll('##[', '#\\u0023[');
}

/** A text on one line, of which neither a terminal nor, at the start of a line of a log and before more colons, GitHub Actions obeys anything. */
export function escapeShownLine(text: string): string {
  return escapeInvisibleLine(text)
    .replace(/^:(?=:|$)/, '\\u003a')
    .replaceAll('##[', '#\\u0023[');
}
