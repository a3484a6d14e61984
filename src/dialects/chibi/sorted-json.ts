import { scanElements, scanMembers } from '../../json/scan.ts';

/**
 * JSON as chibi prints it: compact, the keys of every object in the order of their bytes, of a repeated key the
 * last. Numbers keep their digits; a string is spelled with the fewest escapes.
 */
export function sortJson(text: string): string {
  switch (text[0]) {
    case '{':
      return `{${sortMembers(text)}}`;
    case '[': {
      const elements = scanElements(text);
      return `[${elements.map(({ start, end }) => sortJson(text.slice(start, end))).join(',')}]`;
    }
    case '"':
      return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text;
    default:
      return text;
  }
}

function sortMembers(text: string): string {
  const members = new Map<string, string>();
  for (const { key, start, end } of scanMembers(text)) members.set(key, text.slice(start, end));
  return [...members]
    .map(([key, value]) => ({ key, bytes: Buffer.from(key), value }))
    .sort((one, other) => one.bytes.compare(other.bytes))
    .map(({ key, value }) => `${JSON.stringify(key)}:${sortJson(value)}`)
    .join(',');
}
