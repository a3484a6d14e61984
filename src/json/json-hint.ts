/** What to change in a text that is nearly JSON; undefined where nothing is likely. */
export function jsonHint(text: string): string | undefined {
  if (/,\s*[}\]]/.test(text)) return 'Remove the comma in front of the closing bracket.';
  if (/[{[,:]\s*'/.test(text))
    return 'JSON has double quotes, not single ones; in Python json.dumps writes it.';
  if (/[{,]\s*[A-Za-z_][\w-]*\s*:/.test(text))
    return 'Put names and texts into double quotes: {"name": "text"}.';
  return undefined;
}
