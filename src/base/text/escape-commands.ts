import { escapeInvisibleLine } from './escape-invisible.ts';

/**
 * Escapes workflow commands of GitHub Actions: a line that begins with `::command::`, and `##[command]` anywhere.
 * Source: https://github.com/actions/runner, ActionCommand.cs.
 */
export function escapeCommands(text: string): string {
  if (!text.includes('::') && !text.includes('##[')) return text;
  return text.replaceAll(/^([^\S\n]*):(?=:[^\n]*::)/gm, '$1\\u003a').replaceAll('##[', '#\\u0023[');
}

/**
 * Escapes a text to one line that neither a terminal nor GitHub Actions interprets. The line may begin a log line and
 * may be followed by colons.
 */
export function escapeShownLine(text: string): string {
  return escapeInvisibleLine(text)
    .replace(/^:(?=:|$)/, '\\u003a')
    .replaceAll('##[', '#\\u0023[');
}
