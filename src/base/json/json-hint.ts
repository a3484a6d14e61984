/** What V8 says of a text that is no JSON, on one line and without a position, which would be taken for one in the file. */
export function wordJsonError(thrown: unknown, text: string): string {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const [, at = ''] = /^Expected ':' after property name in JSON at position (\d+)/.exec(reason) ?? [];
  const [, key] = /("(?:[^"\\]|\\.)*")\s*$/.exec(at === '' ? '' : text.slice(0, Number(at))) ?? [];
  if (key !== undefined && key.length <= 80) return `a \`:\` is missing after the key ${key}`;
  return reason.replace(/ \(line \d+ column \d+\)$/, '').replaceAll(/\s+/g, ' ');
}

/** What to change in a text that is nearly JSON; undefined where nothing is likely. */
export function jsonHint(text: string): string | undefined {
  const [, key] = /[{,]\s*("[^"\\]{1,60}")\s*["{[\d]/.exec(text) ?? [];
  if (key !== undefined) return `Write ${key}: … with a colon behind the key.`;
  if (/,\s*[}\]]/.test(text)) return 'Remove the comma in front of the closing bracket.';
  if (/[{[,:]\s*'/.test(text))
    return 'JSON has double quotes, not single ones; in Python, print(json.dumps(answer)).';
  if (/[{,]\s*[A-Za-z_][\w-]*\s*:/.test(text))
    return 'Put names and texts into double quotes: {"name": "text"}.';
  return undefined;
}
